-- Epoch of the writer of a chunk; 0 in chunks from before this version, which all have the epoch in
-- `meta`. A random number says that no copy of this store was migrated to the same one.
ALTER TABLE chunks ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE damaged ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE meta RENAME COLUMN epoch TO old_rows_epoch;
UPDATE meta SET old_rows_epoch = 1 + (random() & 34359738367);
ALTER TABLE meta DROP COLUMN boot;
ALTER TABLE meta DROP COLUMN clean;
-- How `bytes` is stored: 0 as it is, 1 compressed with zstd. `crc` is over the uncompressed lines, and
-- the epoch unless it is 0.
ALTER TABLE chunks ADD COLUMN codec INTEGER NOT NULL DEFAULT 0;
ALTER TABLE damaged ADD COLUMN codec INTEGER NOT NULL DEFAULT 0;
-- The rows of runs that ended before are compressed in the background.
UPDATE runs SET compacted = 0;
