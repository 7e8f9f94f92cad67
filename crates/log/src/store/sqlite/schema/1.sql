-- Ids are the 16 bytes of the id, big end first, so that they sort by age.

-- One row. A stop that was not clean, seen from another boot, may have lost the log's end.
CREATE TABLE meta (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    epoch INTEGER NOT NULL,
    boot TEXT NOT NULL,
    clean INTEGER NOT NULL
);
INSERT INTO meta VALUES (1, 0, '', 1);

CREATE TABLE sessions (
    key INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    owner BLOB NOT NULL,
    title TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    changed_ms INTEGER NOT NULL,
    head INTEGER NOT NULL,
    pinned INTEGER NOT NULL,
    archived INTEGER NOT NULL,
    deleted_ms INTEGER,
    parent BLOB,
    parent_end INTEGER
);
CREATE INDEX sessions_of ON sessions (owner);
CREATE INDEX sessions_listed ON sessions (owner, archived, changed_ms, id)
    WHERE deleted_ms IS NULL;
CREATE INDEX sessions_deleted ON sessions (deleted_ms) WHERE deleted_ms IS NOT NULL;
CREATE INDEX sessions_unpinned ON sessions (changed_ms) WHERE pinned = 0;

-- `crc` is over session, first, len and bytes.
CREATE TABLE chunks (
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    first INTEGER NOT NULL,
    len INTEGER NOT NULL,
    crc INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (session, first)
) WITHOUT ROWID;

-- What a repair took out of `chunks`, as it was found.
CREATE TABLE damaged (
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    first INTEGER NOT NULL,
    len, crc, bytes
);
CREATE INDEX damaged_of ON damaged (session);

CREATE TABLE runs (
    id BLOB PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    first INTEGER NOT NULL,
    ended INTEGER,
    outcome TEXT,
    tokens_in INTEGER NOT NULL DEFAULT 0,
    tokens_out INTEGER NOT NULL DEFAULT 0,
    cost_micro_usd INTEGER NOT NULL DEFAULT 0,
    compacted INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX runs_of ON runs (session, first);
CREATE INDEX runs_open ON runs (session) WHERE ended IS NULL;
CREATE INDEX runs_loose ON runs (session) WHERE ended IS NOT NULL AND compacted = 0;

-- What the runs of erased sessions used.
CREATE TABLE spent (
    owner BLOB PRIMARY KEY,
    tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    cost_micro_usd INTEGER NOT NULL
) WITHOUT ROWID;

-- `seq` is where the text stands, or nothing for the title.
CREATE TABLE texts (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    seq INTEGER,
    text TEXT NOT NULL
);
CREATE INDEX texts_of ON texts (session, seq);
CREATE VIRTUAL TABLE words USING fts5 (
    text, content = 'texts', content_rowid = 'id', columnsize = 0,
    tokenize = 'unicode61 remove_diacritics 2'
);
-- An erased word must not stay behind in the index until some later merge.
INSERT INTO words (words, rank) VALUES ('secure-delete', 1);
CREATE TRIGGER texts_come AFTER INSERT ON texts BEGIN
    INSERT INTO words (rowid, text) VALUES (new.id, new.text);
END;
CREATE TRIGGER texts_go AFTER DELETE ON texts BEGIN
    INSERT INTO words (words, rowid, text) VALUES ('delete', old.id, old.text);
END;

CREATE TABLE queue (
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    id BLOB NOT NULL,
    text TEXT NOT NULL,
    accepted_ms INTEGER NOT NULL,
    PRIMARY KEY (session, place)
) WITHOUT ROWID;

CREATE TABLE blobs (
    digest BLOB PRIMARY KEY,
    bytes BLOB NOT NULL
);
CREATE TABLE blob_refs (
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    digest BLOB NOT NULL REFERENCES blobs (digest),
    kind TEXT NOT NULL,
    PRIMARY KEY (session, digest)
) WITHOUT ROWID;
CREATE INDEX blob_refs_to ON blob_refs (digest);

CREATE TABLE tokens (
    id BLOB PRIMARY KEY,
    owner BLOB NOT NULL,
    digest BLOB NOT NULL UNIQUE,
    label TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    revoked_ms INTEGER
) WITHOUT ROWID;
CREATE INDEX tokens_of ON tokens (owner);

CREATE TABLE shares (
    id BLOB PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    digest BLOB NOT NULL UNIQUE,
    created_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX shares_of ON shares (session);
