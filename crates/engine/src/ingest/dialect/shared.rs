//! Parsers and state that several dialects share. None of these modules is a dialect.

pub(crate) mod bounded;
pub(crate) mod call_ids;
pub(crate) mod calls_without_id;
pub(crate) mod cli_agent;
pub(crate) mod cline_messages;
pub(crate) mod codex_results;
pub(crate) mod dedup;
pub(crate) mod message_drafts;
pub(crate) mod shown_items;
pub(crate) mod stream_json;
pub(crate) mod thought_drafts;
pub(crate) mod usage;
