//! Every bound of the engine, on one page. Compared with `<=`: a value at its limit is accepted.

/// Longest frame of a transport; what is longer is skipped and recorded as unrecognised.
pub const FRAME_BYTES_MAX: usize = 16 << 20;

/// How much of an oversized or unreadable frame the log keeps.
pub const UNREADABLE_BYTES_KEPT: usize = 4 << 10;

/// Frames looked at before a stream counts as of no known dialect.
pub const PROBE_FRAMES_MAX: usize = 64;

/// Bytes looked at before a stream counts as of no known dialect.
pub const PROBE_BYTES_MAX: usize = 1 << 20;

/// Text held because a tag in it may turn out to stand in inline code.
pub const HELD_BYTES_MAX: usize = 8 << 10;

/// Longest tag, attributes included; what is longer is text.
pub const TAG_BYTES_MAX: usize = 512;

/// Longest name or namespace of a tag.
pub const TAG_NAME_BYTES_MAX: usize = 40;

/// Longest control word.
pub const CONTROL_WORD_BYTES_MAX: usize = 64;

/// Back-tick runs remembered while it is open which of them is inline code.
pub const CODE_RUNS_MAX: usize = 64;

/// Blank text held at the start of a message, before it is known to be one.
pub const BLANK_BYTES_MAX: usize = 64 << 10;

/// Tools that may be open at once; the oldest is closed when one more starts.
pub const OPEN_TOOLS_MAX: usize = 1 << 10;

/// Asks that may be open at once; the oldest counts as answered by nobody when one more opens.
pub const OPEN_ASKS_MAX: usize = 1 << 10;

/// Listed requests that may be open at once; the oldest counts as ended when one more starts.
pub const OPEN_REQUESTS_MAX: usize = 1 << 10;

/// Content blocks of a reply that may be open at once.
pub const OPEN_BLOCKS_MAX: usize = 1 << 10;

/// Tool calls of a round that later deltas may still name.
pub const ROUND_CALLS_MAX: usize = 1 << 10;

/// Names of unrecognised fields remembered, so that each is recorded once.
pub const UNKNOWN_FIELDS_MAX: usize = 256;

/// Items of one response remembered, so that what a source repeats is told from what is new.
pub const RESPONSE_ITEMS_MAX: usize = 1 << 10;

/// Bytes of an item's id that tell it from others.
pub const ITEM_ID_BYTES_MAX: usize = 256;

/// Bytes of one tool call's arguments held while they come as values at JSON paths.
pub const PARTIAL_ARGUMENTS_BYTES_MAX: usize = 4 << 20;

/// Values in arguments that come at JSON paths.
pub const PARTIAL_ARGUMENTS_VALUES_MAX: usize = 1 << 14;

/// Depth of arguments that come at JSON paths.
pub const PARTIAL_ARGUMENTS_DEPTH_MAX: usize = 64;

/// Sources remembered in a round, so that each is cited once.
pub const CITED_MAX: usize = 1 << 10;

/// Items of a source that repeats itself remembered, so that none is shown twice.
pub const ITEMS_REMEMBERED_MAX: usize = 1 << 12;

/// Messages remembered that a source has left unfinished and may come back to; one that is older
/// goes on as a message of its own.
pub const LEFT_MESSAGES_MAX: usize = 64;

/// Bytes of text that those may have together.
pub const LEFT_MESSAGES_BYTES_MAX: usize = 4 << 20;

/// Bytes of messages said again because their source came back to them while they grew. Past it
/// what is new stands as a message of its own until its message is over.
pub const SAID_AGAIN_BYTES_MAX: usize = 4 << 20;

/// Longest foreign id kept to recognise an item by; a longer one is known by its fingerprint.
pub const ID_BYTES_MAX: usize = 256;

/// Text of a prompt or a summary held while it comes in pieces; what is more is recorded as
/// unrecognised.
pub const HELD_PIECES_BYTES_MAX: usize = FRAME_BYTES_MAX;

/// Steps of sub-agents shown inside one another; what is deeper stands beside the deepest.
pub const STEP_DEPTH_MAX: usize = 8;

/// Text of a message held because it is open whether a sentence ends before it; past it, none does.
pub const SENTENCE_HELD_BYTES_MAX: usize = 64;

/// How far a quotation or bracket keeps the sentences in it together; one that never closes must
/// not swallow the rest of a paragraph.
pub const SENTENCE_ENCLOSED_BYTES_MAX: usize = 1 << 10;

/// Brackets and quotations that may be open inside each other in a sentence.
pub const SENTENCE_ENCLOSED_DEPTH_MAX: usize = 8;

/// Bytes of a word remembered to tell an abbreviation by; a longer word is none.
pub const SENTENCE_WORD_BYTES_MAX: usize = 48;

/// Bytes of a line that wait for its end; once it is longer, a space settles what is before it.
pub const UNSETTLED_LINE_BYTES: usize = 256;

/// Checkpoints remembered, so that each is shown once.
pub const CHECKPOINTS_REMEMBERED_MAX: usize = 1 << 12;

/// Bytes of what a tool put out that a page holds; what is more is counted, and is in the log.
pub const OUTPUT_BYTES_SHOWN_MAX: usize = 64 << 10;
