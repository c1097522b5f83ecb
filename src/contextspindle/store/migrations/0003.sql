-- Schema 3: the words of all texts are a list of their own.

-- Every word that can be found, for those that begin so; twice, so that an altered one shows.
CREATE TABLE words (
    word TEXT PRIMARY KEY,
    again TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Those that the search index knows, but for the second half of most ids: see core/search.py.
CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab ('main', 'search', 'row');
INSERT INTO words (word, again)
SELECT term, term FROM temp.vocabulary
WHERE NOT EXISTS (SELECT 1 FROM tasks WHERE id = 't-' || term);
DROP TABLE temp.vocabulary;
