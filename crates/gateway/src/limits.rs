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

/// Readers of a session in all views at once.
pub const THEATRE_SEATS_MAX: usize = 64;

/// Pictures of one message, and bytes of each.
pub const ATTACHMENTS_MAX: usize = 8;
pub const ATTACHMENT_BYTES_MAX: usize = 8 << 20;

/// Bytes of a blob.
pub const BLOB_BYTES_MAX: usize = 32 << 20;

/// Sessions of one page of a list.
pub const LIST_MAX: usize = 200;

/// How long a deleted session can be brought back.
pub const UNDO_WINDOW: Duration = Duration::from_secs(30);

/// What comes within this time after something was sent goes out together.
pub const MERGE_WINDOW: Duration = Duration::from_millis(33);

/// A stream says that it is alive, and where the log ends, when nothing has happened for so long.
pub const HEARTBEAT_EVERY: Duration = Duration::from_secs(15);

/// Pieces that a reader may be behind before it has to read the log again.
pub const PIECES_WAITING_MAX: usize = 64;

/// Changes of sessions that whoever lists them may be behind before it has to list again.
pub const NEWS_WAITING_MAX: usize = 256;

/// Changes of one session within this time are told once.
pub const NEWS_WINDOW: Duration = Duration::from_millis(100);

/// Bytes of the body of a command.
pub const BODY_BYTES_MAX: usize = 1 << 20;

/// Bytes of one stream that is taken in.
pub const INGEST_BYTES_MAX: usize = 1 << 30;

/// A stream that is taken in has stalled when nothing came for so long.
pub const INGEST_IDLE_MAX: Duration = Duration::from_mins(5);

/// How long a caller whose stream was refused may go on sending while it reads why.
pub const LINGER_MAX: Duration = Duration::from_secs(2);

/// Records that a reader which was up to date may fall behind before it is closed.
pub const LAG_RECORDS_MAX: u64 = 50_000;

/// Connections at one time.
pub const CONNECTIONS_MAX: usize = 16_384;

/// Bytes of the headers of a request.
pub const HEADER_BYTES_MAX: usize = 32 << 10;

/// The same for HTTP/2, which counts them unpacked.
pub const HEADER_LIST_BYTES_MAX: u32 = 32 << 10;

/// How long a caller may take to send the headers of a request.
pub const HEADERS_WITHIN: Duration = Duration::from_secs(10);

/// How long a caller may take to send the body of a command after its headers.
pub const BODY_WITHIN: Duration = Duration::from_secs(30);

/// A connection that takes nothing for so long is closed.
pub const WRITE_STALLED_MAX: Duration = Duration::from_secs(30);

/// How long a gateway that stops waits for runs and readers to end.
pub const DRAIN_MAX: Duration = Duration::from_secs(10);

/// Bytes of what a client may send over a WebSocket.
pub const SOCKET_BYTES_MAX: usize = 16 << 10;

/// Bytes of frames that are sent as one message over a WebSocket; one frame alone may be longer.
pub const SOCKET_MESSAGE_BYTES: usize = 4 << 10;

/// Connections that read at the same time; whoever is one too many waits for the next free one.
pub const READERS_MAX: usize = 8;

/// Bytes the write-ahead log may reach before the writer waits until it was carried over.
pub const WAL_BYTES_MAX: u64 = 64 << 20;

/// How long the store waits for a lock that another program holds on its file.
pub const BUSY_WAIT: Duration = Duration::from_secs(5);

/// How long after a failed write to the disk the store tries to open its file anew.
pub const REOPEN_EVERY: Duration = Duration::from_secs(1);

/// Words of one search; the rest is ignored.
pub const SEARCH_WORDS_MAX: usize = 16;

/// Bytes of records that one transaction of the background work rewrites.
pub const COMPACT_BYTES_MAX: usize = 4 << 20;

/// Lost records in a row that a repair makes up for; a log that claims to be longer is cut.
pub const REPAIR_RECORDS_MAX: u64 = 1 << 20;

/// Damages that one report names; the rest is counted.
pub const DAMAGES_MAX: usize = 1000;
