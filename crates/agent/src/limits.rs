//! All limits of this crate, each with its unit.

use std::time::Duration;

/// Model calls of one run, unless the profile sets another limit.
pub const ROUNDS_MAX: u32 = 30;
/// Wall time of one run, without waiting for people.
pub const RUN_TIME_MAX: Duration = Duration::from_hours(1);
/// Time an external agent may print nothing: its tools may take long.
pub const AGENT_IDLE_TIME_MAX: Duration = Duration::from_mins(30);
/// Bytes of one reply.
pub const REPLY_BYTES_MAX: usize = 64 << 20;
/// Bytes of an error response's body that are read.
pub const ERROR_BODY_BYTES_MAX: usize = 64 << 10;
/// Attempts of one model call, retries included.
pub const ATTEMPTS_MAX: u32 = 4;
/// Longest delay before a retry, even if the provider asks for more.
pub const RETRY_DELAY_MAX: Duration = Duration::from_mins(1);
/// Bytes of a tool's output that go to the log and the model.
pub const OUTPUT_BYTES_MAX: usize = 64 << 10;
/// Bytes of a tool's output that are stored as a blob.
pub const STORED_OUTPUT_BYTES_MAX: usize = 16 << 20;
/// Bytes of a file that a tool reads, writes or edits.
pub const FILE_BYTES_MAX: u64 = 4 << 20;
/// Files in one listing.
pub const LISTED_FILES_MAX: usize = 1_000;
/// Matching lines of one search.
pub const SEARCH_MATCHES_MAX: usize = 200;
/// Bytes of a fetched web page.
pub const FETCHED_BYTES_MAX: usize = 4 << 20;
/// Time limit of a command that sets none.
pub const COMMAND_TIME_DEFAULT: Duration = Duration::from_mins(2);
/// Longest time limit a command may set.
pub const COMMAND_TIME_MAX: Duration = Duration::from_mins(30);
/// Time between SIGTERM and SIGKILL for a process group.
pub const KILL_GRACE_TIME: Duration = Duration::from_millis(700);
/// Time within which a cancelled run ends.
pub const CANCEL_TIME_MAX: Duration = Duration::from_secs(2);
/// Time until an ask expires, unless the profile sets less.
pub const ASK_EXPIRES_AFTER: Duration = Duration::from_hours(24);
/// Bytes of a call's arguments that an external agent's ask shows.
pub const ASK_ARGUMENTS_BYTES_MAX: usize = 64 << 10;
/// Characters of a person's written answer.
pub const ANSWER_CHARS_MAX: usize = 16 << 10;
/// Tool calls of one round.
pub const CALLS_PER_ROUND_MAX: usize = 64;
/// Context window of a model in tokens, unless the profile sets another.
pub const CONTEXT_TOKENS_DEFAULT: u64 = 128_000;
/// Share of the context window at which the conversation is compacted.
pub const COMPACT_AT_PERCENT: u64 = 80;
/// Bytes of a summary.
pub const SUMMARY_BYTES_MAX: usize = 256 << 10;
/// Bytes of each tool output that are sent for a summary.
pub const SUMMARISED_OUTPUT_BYTES_MAX: usize = 2 << 10;
