-- Origin of a queued message: 1 for a heartbeat.
ALTER TABLE queue ADD COLUMN is_heartbeat INTEGER NOT NULL DEFAULT 0;
