-- What a person shows with a message that waits: pictures as the log has them, as JSON.
ALTER TABLE queue ADD COLUMN images TEXT NOT NULL DEFAULT '[]';
