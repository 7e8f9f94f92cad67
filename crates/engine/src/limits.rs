//! Every bound of the engine. Compared with `<=`: a value at its limit is accepted.

/// Longest frame of a transport; a longer one is skipped and recorded as unrecognised.
pub const FRAME_BYTES_MAX: usize = 16 << 20;

/// Bytes of an oversized or unreadable frame that the log keeps.
pub const UNREADABLE_BYTES_KEPT: usize = 4 << 10;

/// Frames probed before the dialect of a stream counts as unknown.
pub const PROBE_FRAMES_MAX: usize = 64;

/// Bytes probed before the dialect of a stream counts as unknown.
pub const PROBE_BYTES_MAX: usize = 1 << 20;

/// Text the filter holds because a tag in it may be inside inline code.
pub const FILTER_HELD_BYTES_MAX: usize = 8 << 10;

/// First halves of split surrogate pairs that wait for their second halves.
pub const SURROGATE_HALVES_MAX: usize = 32;

/// Scalars of a frame that are compared to find the string that a half of a surrogate pair
/// continues.
pub const FRAME_SCALARS_COMPARED_MAX: usize = 64;

/// Longest tag, attributes included; anything longer is text.
pub const TAG_BYTES_MAX: usize = 512;

/// Longest name or namespace of a tag.
pub const TAG_NAME_BYTES_MAX: usize = 40;

/// Longest control word.
pub const CONTROL_WORD_BYTES_MAX: usize = 64;

/// Marks and white space held because they may belong to a control word; anything longer is text.
pub const CONTROL_WORD_MARKS_BYTES_MAX: usize = 1 << 10;

/// Back-tick runs remembered while it is undecided which of them delimit inline code.
pub const BACKTICK_RUNS_MAX: usize = 64;

/// Nesting depth of Markdown block quotes and list items; a deeper marker is text.
pub const MARKDOWN_NESTING_MAX: usize = 12;

/// Blank text held at the start of a message, until its first non-blank character.
pub const LEADING_BLANK_BYTES_MAX: usize = 64 << 10;

/// Tools that may be open at once; the oldest is closed when one more starts.
pub const OPEN_TOOLS_MAX: usize = 1 << 10;

/// Asks that may be open at once; the oldest is resolved as unanswered when one more opens.
pub const OPEN_ASKS_MAX: usize = 1 << 10;

/// Listed requests that may be open at once; the oldest is ended when one more starts.
pub const OPEN_REQUESTS_MAX: usize = 1 << 10;

/// Content blocks of a reply that may be open at once.
pub const OPEN_BLOCKS_MAX: usize = 1 << 10;

/// Tool calls of a round that later deltas can refer to.
pub const ROUND_CALLS_MAX: usize = 1 << 10;

/// Names of unrecognised fields remembered, to record each once.
pub const UNKNOWN_FIELDS_MAX: usize = 256;

/// Items of one response remembered, to tell repeated items from new ones.
pub const RESPONSE_ITEMS_MAX: usize = 1 << 10;

/// Leading bytes of an item's id that identify it.
pub const ITEM_ID_BYTES_MAX: usize = 256;

/// Bytes of one tool call's arguments held while they arrive as values at JSON paths.
pub const PARTIAL_ARGUMENTS_BYTES_MAX: usize = 4 << 20;

/// Values in arguments that arrive at JSON paths.
pub const PARTIAL_ARGUMENTS_VALUES_MAX: usize = 1 << 14;

/// Nesting depth of arguments that arrive at JSON paths.
pub const PARTIAL_ARGUMENTS_DEPTH_MAX: usize = 64;

/// Text of a thought without an opening tag, kept to be released if it was none; a longer one stays
/// reasoning.
pub const IMPLIED_THOUGHT_BYTES_MAX: usize = 4 << 20;

/// Citations remembered in a round, to cite each source once.
pub const ROUND_CITATIONS_MAX: usize = 1 << 10;

/// Items remembered by deduplication, to show none twice.
pub const DEDUP_ITEMS_MAX: usize = 1 << 12;

/// Messages open beside the current one because their source may resume them; beyond it the oldest
/// ends.
pub const SUSPENDED_MESSAGES_MAX: usize = 128;

/// Total bytes of text of the suspended messages.
pub const SUSPENDED_MESSAGES_BYTES_MAX: usize = 4 << 20;

/// Bytes of messages reissued because their source resumed them while they grew. Past this limit
/// new text is a separate message until its original ends.
pub const REISSUED_BYTES_MAX: usize = 4 << 20;

/// Bytes of the events of a heartbeat's run that a view holds until the run reports something; past
/// this limit the run is shown.
pub const HEARTBEAT_HELD_BYTES_MAX: usize = 4 << 20;

/// Longest foreign id kept verbatim; a longer one is kept as a fingerprint or not at all.
pub const FOREIGN_ID_BYTES_MAX: usize = 256;

/// Text of a prompt or summary that is assembled from pieces; the excess is recorded as
/// unrecognised.
pub const ASSEMBLED_TEXT_BYTES_MAX: usize = FRAME_BYTES_MAX;

/// Nesting depth of sub-agent steps shown; deeper steps are shown at the deepest level.
pub const STEP_DEPTH_MAX: usize = 8;

/// Values of a source's options.
pub const SOURCE_OPTION_VALUES_MAX: usize = 256;

/// Longest tool name, and longest name of its server, that is looked up among known actions.
pub const TOOL_NAME_BYTES_MATCHED_MAX: usize = 128;

/// Text held while it is undecided whether a sentence ends before it; past this limit none does.
pub const SENTENCE_HELD_BYTES_MAX: usize = 64;

/// Bytes for which an open quotation or bracket keeps its sentences together; one that never closes
/// must not swallow the rest of a paragraph.
pub const SENTENCE_ENCLOSED_BYTES_MAX: usize = 256;

/// Bytes for which an open back-tick makes its text code.
pub const SENTENCE_CODE_BYTES_MAX: usize = 1 << 10;

/// Back-ticks and brackets of a paragraph that never close and are read again as text; further ones
/// open nothing.
pub const SENTENCE_UNCLOSED_MAX: usize = 8;

/// Nesting depth of open brackets and quotations in a sentence.
pub const SENTENCE_ENCLOSED_DEPTH_MAX: usize = 8;

/// Longest word that can be an abbreviation.
pub const SENTENCE_WORD_BYTES_MAX: usize = 48;

/// Unsettled bytes of a line; once it is longer, a space settles the text before it.
pub const UNSETTLED_LINE_BYTES_MAX: usize = 256;

/// Checkpoints remembered, to show each once.
pub const CHECKPOINTS_REMEMBERED_MAX: usize = 1 << 12;

/// Bytes of a tool's output that a page holds; the excess is counted, and is in the log.
pub const OUTPUT_BYTES_SHOWN_MAX: usize = 64 << 10;

/// Longest title of a tool call, or name of its server.
pub const TOOL_TITLE_BYTES_MAX: usize = 160;

/// Longest target of a tool call: a path, command, query or address.
pub const TOOL_TARGET_BYTES_MAX: usize = 4 << 10;

/// Longest argument of an unknown tool that counts as its target.
pub const TOOL_WORD_BYTES_MAX: usize = 512;

/// Changed files in a description.
pub const TOOL_DIFF_FILES_MAX: usize = 32;

/// Lines of changes in a description.
pub const TOOL_DIFF_LINES_MAX: usize = 400;

/// Bytes of changes in a description.
pub const TOOL_DIFF_BYTES_MAX: usize = 32 << 10;

/// Longest line of a change.
pub const TOOL_DIFF_LINE_BYTES_MAX: usize = 2 << 10;

/// Pairs of lines compared to find the shortest difference; past it, all lines differ.
pub const TOOL_DIFF_CELLS_MAX: usize = 40_000;

/// Tasks of a to-do list in a description.
pub const TOOL_TODOS_MAX: usize = 100;

/// Longest text of a task.
pub const TOOL_TODO_BYTES_MAX: usize = 500;

/// Sources of a search in a description.
pub const TOOL_SOURCES_MAX: usize = 50;

/// Nesting depth at which a result is searched for sources and opaque state.
pub const TOOL_SOURCE_DEPTH_MAX: usize = 16;

/// Bytes at the start of a command's output in which its exit status is found.
pub const TOOL_STATUS_OUTPUT_BYTES_MAX: usize = 4 << 10;

/// Bytes of appended text in one merged frame; a frame that has the whole text is not bounded by it.
pub const MERGED_TEXT_BYTES_MAX: usize = 64 << 10;
