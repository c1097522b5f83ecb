-- The ledger's schema, version 3.  A newer version adds a numbered file under migrations/ and
-- changes this one; a test holds the two equal.

-- One row a task: what is queried in columns, the whole task in `state`.
CREATE TABLE tasks (
    pk INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    source TEXT UNIQUE,                -- its name in the program it was imported from
    version INTEGER NOT NULL,
    status TEXT NOT NULL,
    priority INTEGER NOT NULL,
    updated INTEGER NOT NULL,          -- milliseconds since 1970, UTC
    owner TEXT NOT NULL,
    parent TEXT,                       -- an id, as all who show it want it
    unmet INTEGER NOT NULL,            -- how many of its dependencies are not done
    claim_holder TEXT,
    claim_mark TEXT,                   -- the digest of the token
    claim_until INTEGER,
    claim_length INTEGER,
    claim_check TEXT,                  -- the digest of the four above: they are in no change
    goal TEXT NOT NULL,                -- the start of each text, as summaries show it
    next TEXT NOT NULL,
    blocker TEXT NOT NULL,
    cut TEXT NOT NULL,                 -- which of them are only a start, by comma
    head TEXT NOT NULL,                -- the digest of the newest change
    digest TEXT NOT NULL,              -- the digest of `state`
    state BLOB NOT NULL                -- the canonical bytes of the task
) STRICT;

CREATE INDEX tasks_by_status ON tasks (status, updated, pk);
CREATE INDEX tasks_by_parent ON tasks (parent, pk) WHERE parent IS NOT NULL;
CREATE INDEX tasks_by_owner ON tasks (owner, pk) WHERE owner <> '';
CREATE INDEX tasks_ready ON tasks (priority, pk, claim_until)
    WHERE status IN ('open', 'active') AND unmet = 0 AND blocker = '';

-- Every version step of every task, in the order in which they were committed.
CREATE TABLE changes (
    seq INTEGER PRIMARY KEY,
    task INTEGER NOT NULL REFERENCES tasks (pk),
    version INTEGER NOT NULL,
    digest TEXT NOT NULL,
    body BLOB NOT NULL,                -- the canonical bytes of the change
    UNIQUE (task, version)
) STRICT;

CREATE TABLE dependencies (
    task INTEGER NOT NULL REFERENCES tasks (pk),
    needs INTEGER NOT NULL REFERENCES tasks (pk),
    PRIMARY KEY (task, needs)
) STRICT, WITHOUT ROWID;

CREATE INDEX dependencies_by_needs ON dependencies (needs, task);

CREATE TABLE labels (
    label TEXT NOT NULL,
    task INTEGER NOT NULL REFERENCES tasks (pk),
    PRIMARY KEY (label, task)
) STRICT, WITHOUT ROWID;

-- What is searched of each task, by its row number; see core/search.py.
CREATE VIRTUAL TABLE search USING fts5 (name, goal, next, criteria, log);

-- Every word that can be found, for those that begin so; twice, so that an altered one shows.
CREATE TABLE words (
    word TEXT PRIMARY KEY,
    again TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Which request made which task under an idempotency key.
CREATE TABLE creations (
    key TEXT PRIMARY KEY,
    request TEXT NOT NULL,
    task INTEGER NOT NULL REFERENCES tasks (pk)
) STRICT, WITHOUT ROWID;

-- What was taken out of the history of which task, and its digests before; see core/purge.py.
CREATE TABLE purges (
    task INTEGER NOT NULL REFERENCES tasks (pk),
    number INTEGER NOT NULL,
    digest TEXT NOT NULL,              -- the digest of `body`
    body BLOB NOT NULL,                -- the canonical bytes of the record
    PRIMARY KEY (task, number)
) STRICT, WITHOUT ROWID;

-- How many tasks have each status: a count over a million rows would not be instant.
CREATE TABLE totals (
    status TEXT PRIMARY KEY,
    count INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO totals (status, count)
VALUES ('active', 0), ('blocked', 0), ('cancelled', 0), ('done', 0), ('open', 0);
