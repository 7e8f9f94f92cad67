//! Limits of the gateway. Everything that can grow is bounded here.

use std::time::Duration;

/// Characters of a session's title.
pub const TITLE_CHARS_MAX: usize = 200;

/// Readers of all views at once.
pub const ALL_VIEWS_READERS_MAX: usize = 64;

/// Images attached to one message.
pub const ATTACHMENTS_MAX: usize = 8;
/// Bytes of one attached image.
pub const ATTACHMENT_BYTES_MAX: usize = 8 << 20;

/// Events within this time after a send go out together.
pub const MERGE_WINDOW: Duration = Duration::from_millis(33);

/// Interval of keep-alives on an idle stream.
pub const HEARTBEAT_EVERY: Duration = Duration::from_secs(15);

/// Batches that a reader may be behind before it reads the log again.
pub const FRAME_BATCHES_QUEUED_MAX: usize = 64;

/// Changes of one session within this time are sent once.
pub const SESSION_CHANGES_WINDOW: Duration = Duration::from_millis(100);

/// Bytes of a command's body.
pub const BODY_BYTES_MAX: usize = 1 << 20;

/// Bytes of one ingested stream.
pub const INGEST_BYTES_MAX: usize = 1 << 30;

/// An ingested stream without input for this long has stalled.
pub const INGEST_IDLE_TIMEOUT: Duration = Duration::from_mins(5);

/// How long the rest of a rejected body is read, so that the client gets the response.
pub const LINGER_TIMEOUT: Duration = Duration::from_secs(8);

/// How long a client may send nothing before the rest of its rejected body is given up.
pub const LINGER_QUIET_TIMEOUT: Duration = Duration::from_secs(2);

/// Records that a live reader may fall behind before it is closed.
pub const LAG_RECORDS_MAX: u64 = 50_000;

/// Connections at one time.
pub const CONNECTIONS_MAX: usize = 16_384;

/// Bytes of a request's headers.
pub const HEADER_BYTES_MAX: usize = 32 << 10;

/// The same for HTTP/2, uncompressed.
pub const HEADER_LIST_BYTES_MAX: u32 = 32 << 10;

/// Time to receive a request's headers.
pub const HEADERS_TIMEOUT: Duration = Duration::from_secs(10);

/// Time to receive a command's body after its headers.
pub const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// A connection that accepts no bytes for this long is closed.
pub const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a stopping gateway waits for runs and readers to end.
pub const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

// A rejected body must not keep a stopping gateway from closing in time.
const _: () = assert!(LINGER_TIMEOUT.as_millis() < DRAIN_TIMEOUT.as_millis());

/// Bytes that a client may send over a WebSocket.
pub const SOCKET_INPUT_BYTES_MAX: usize = 16 << 10;

/// Target size of a WebSocket message; one longer frame is sent whole.
pub const SOCKET_MESSAGE_TARGET_BYTES: usize = 4 << 10;
