-- A memory: see docs/reference/formats.md.
CREATE TABLE state (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    data BLOB NOT NULL,
    mark INTEGER NOT NULL
);
CREATE TABLE items (
    seq INTEGER PRIMARY KEY,
    by_items INTEGER,
    by_bytes INTEGER,
    data BLOB NOT NULL,
    mark INTEGER NOT NULL,
    entry BLOB NOT NULL,
    entry_mark INTEGER NOT NULL
);
CREATE INDEX cheapest_item ON items (by_items, seq) WHERE by_items IS NOT NULL;
CREATE INDEX cheapest_bytes ON items (by_bytes, seq) WHERE by_bytes IS NOT NULL;
CREATE TABLE pages (
    key INTEGER PRIMARY KEY,
    data BLOB NOT NULL,
    mark INTEGER NOT NULL
);
CREATE TABLE taken (
    mark INTEGER PRIMARY KEY
);
