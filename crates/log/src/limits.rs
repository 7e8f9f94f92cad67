//! Limits of the log. Everything that can grow is bounded here.

use std::time::Duration;

/// Bytes of records in one row of the store, once its run has ended.
pub const CHUNK_BYTES_MAX: usize = 64 << 10;

/// Records of one commit; the rest goes into the next.
pub const COMMIT_RECORDS_MAX: usize = 4096;

/// Append requests queued for the writer; further appends wait.
pub const APPENDS_QUEUED_MAX: usize = 1024;

/// Longest time between a commit and its sync to disk, unless durability is full.
pub const SYNC_WINDOW: Duration = Duration::from_millis(10);

/// Interval of checkpoints of the write-ahead log.
pub const CHECKPOINT_EVERY: Duration = Duration::from_millis(250);

/// Free bytes on the disk below which the store counts as full.
pub const FREE_BYTES_MIN: u64 = 256 << 10;

/// Bytes of one read of the log.
pub const READ_BYTES_MAX: usize = 1 << 20;

/// Bytes of recent records cached per session for its readers.
pub const TAIL_BYTES_MAX: usize = 8 << 20;

/// Bytes of recent records cached for all sessions.
pub const TAILS_BYTES_MAX: usize = 64 << 20;

/// Messages queued in one session.
pub const QUEUED_MESSAGES_MAX: usize = 100;

/// Bytes of one blob.
pub const BLOB_BYTES_MAX: usize = 32 << 20;

/// Sessions in one page of a list.
pub const LISTED_SESSIONS_MAX: usize = 200;

/// How long a deleted session can be restored.
pub const UNDO_WINDOW: Duration = Duration::from_secs(30);

/// Session changes buffered per subscriber; one that falls further behind must list again.
pub const SESSION_CHANGES_QUEUED_MAX: usize = 256;

/// Connections that read at the same time; further readers wait.
pub const READ_CONNECTIONS_MAX: usize = 8;

/// Size of the write-ahead log above which the writer waits for a checkpoint.
pub const WAL_BYTES_MAX: u64 = 64 << 20;

/// How long to wait for a lock that another program holds on the database file.
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Interval of attempts to reopen the database file after a disk failure.
pub const REOPEN_EVERY: Duration = Duration::from_secs(1);

/// Words of one search; the rest is ignored.
pub const SEARCH_WORDS_MAX: usize = 16;

/// Bytes of records that one compaction transaction rewrites.
pub const COMPACT_BATCH_BYTES_MAX: usize = 4 << 20;

/// Length of a gap that a repair fills; beyond it the log is truncated.
pub const REPAIRED_GAP_RECORDS_MAX: u64 = 1 << 20;

/// Damages that one report lists; the rest is counted.
pub const REPORTED_DAMAGES_MAX: usize = 1000;
