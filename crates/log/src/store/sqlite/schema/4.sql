-- Epoch of the writer of a chunk; 0 in chunks from before this version, which all have the epoch in
-- `meta`. A random number says that no copy of this store was migrated to the same one.
ALTER TABLE chunks ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE damaged ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE meta RENAME COLUMN epoch TO old_rows_epoch;
UPDATE meta SET old_rows_epoch = 1 + (random() & 34359738367);
ALTER TABLE meta DROP COLUMN boot;
ALTER TABLE meta DROP COLUMN clean;
