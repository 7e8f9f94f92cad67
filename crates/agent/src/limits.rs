//! Every bound of the agents, with its unit.

use std::time::Duration;

/// Model calls of one run, unless its profile says otherwise.
pub const ROUNDS_MAX: u32 = 30;
/// Wall time of one run, waiting for people aside.
pub const RUN_TIME_MAX: Duration = Duration::from_hours(1);
/// How long an agent that a person has may say nothing: its tools may take long.
pub const AGENT_IDLE: Duration = Duration::from_mins(30);
/// Bytes of one reply.
pub const REPLY_BYTES_MAX: usize = 64 << 20;
/// Bytes of an error's body that are looked at.
pub const ERROR_BYTES_MAX: usize = 64 << 10;
/// Calls of one model before a failure counts.
pub const ATTEMPTS_MAX: u32 = 4;
/// Longest pause before another attempt, whatever the provider asks for.
pub const RETRY_DELAY_MAX: Duration = Duration::from_mins(1);
/// Bytes of a tool's output that the model and the log are given.
pub const OUTPUT_BYTES_MAX: usize = 64 << 10;
/// Bytes of a tool's output that are kept beside the log.
pub const OUTPUT_KEPT_MAX: usize = 16 << 20;
/// Bytes of a file that is read, written or edited.
pub const FILE_BYTES_MAX: u64 = 4 << 20;
/// Files that a listing names.
pub const LISTED_MAX: usize = 1_000;
/// Lines that a search finds.
pub const FOUND_MAX: usize = 200;
/// Bytes of a page that is fetched.
pub const PAGE_BYTES_MAX: usize = 4 << 20;
/// How long a command runs, unless it is called with another limit.
pub const COMMAND_TIME: Duration = Duration::from_mins(2);
/// How long a command may ask to run.
pub const COMMAND_TIME_MAX: Duration = Duration::from_mins(30);
/// How long a process group has between being asked to end and being ended.
pub const KILL_AFTER: Duration = Duration::from_millis(700);
/// How long an ask waits for an answer, unless its profile says less.
pub const ASK_EXPIRES_AFTER: Duration = Duration::from_hours(24);
/// Bytes of a call's arguments that an ask of somebody else's agent shows.
pub const ASK_ARGUMENTS_MAX: usize = 64 << 10;
/// Characters of an answer that a person writes.
pub const ANSWER_MAX: usize = 16 << 10;
/// Tools that one round may call.
pub const CALLS_MAX: usize = 64;
/// Tokens that a model can take in, unless its profile says otherwise.
pub const CONTEXT_TOKENS: u64 = 128_000;
/// How full that is when the conversation is summed up.
pub const COMPACT_AT_PERCENT: u64 = 80;
/// Bytes of a summary.
pub const SUMMARY_BYTES_MAX: usize = 256 << 10;
/// Bytes of an old tool's output that a summary is made from.
pub const OLD_OUTPUT_BYTES_MAX: usize = 2 << 10;
