-- Schema 2: purges are on record.

-- What was taken out of the history of which task, and its digests before; see core/purge.py.
CREATE TABLE purges (
    task INTEGER NOT NULL REFERENCES tasks (pk),
    number INTEGER NOT NULL,
    digest TEXT NOT NULL,              -- the digest of `body`
    body BLOB NOT NULL,                -- the canonical bytes of the record
    PRIMARY KEY (task, number)
) STRICT, WITHOUT ROWID;
