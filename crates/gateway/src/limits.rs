//! How much is too much. Everything that can grow is bounded here.

use std::time::Duration;

/// Bytes of records that one row of the store holds once its run has ended.
pub const CHUNK_BYTES_MAX: usize = 64 << 10;

/// Records that one commit takes; what is left over goes into the next.
pub const COMMIT_RECORDS_MAX: usize = 4096;

/// Appends that may wait for the writer; whoever appends more waits.
pub const APPENDS_WAITING_MAX: usize = 1024;

/// How long a commit may stay without having reached the disk, unless durability is full.
pub const SYNC_WINDOW: Duration = Duration::from_millis(10);

/// How often the write-ahead log is carried over, off the write path.
pub const CHECKPOINT_EVERY: Duration = Duration::from_millis(250);

/// Bytes of one read of the log.
pub const READ_BYTES_MAX: usize = 1 << 20;

/// Bytes of recent records a session keeps at hand for its readers.
pub const TAIL_BYTES_MAX: usize = 256 << 10;

/// Characters of a session's title.
pub const TITLE_CHARS_MAX: usize = 200;

/// Messages that may wait in one session.
pub const QUEUE_MAX: usize = 100;

/// Bytes of a blob.
pub const BLOB_BYTES_MAX: usize = 32 << 20;

/// Sessions of one page of a list.
pub const LIST_MAX: usize = 200;

/// How long a deleted session can be brought back.
pub const UNDO_WINDOW: Duration = Duration::from_secs(30);
