//! The response object.

use millpond_engine::event::{Ending, StopReason};
use serde::Serialize;

use super::item::ItemObject;
use crate::compat::ending::{ending_code, ending_text};

#[derive(Debug, Serialize)]
pub(super) struct Response<'a> {
    pub(super) id: &'a str,
    pub(super) object: &'static str,
    pub(super) created_at: u64,
    pub(super) status: &'static str,
    pub(super) model: &'a str,
    pub(super) output: &'a [ItemObject<'a>],
    pub(super) error: Option<Failure>,
    pub(super) incomplete_details: Option<Incomplete>,
    pub(super) usage: Option<Usage>,
    // Fields that clients expect and a run does not set.
    pub(super) instructions: (),
    pub(super) metadata: Empty,
    pub(super) parallel_tool_calls: bool,
    pub(super) temperature: (),
    pub(super) tool_choice: &'static str,
    pub(super) tools: [(); 0],
    pub(super) top_p: (),
}

impl Default for Response<'_> {
    fn default() -> Self {
        Response {
            id: "",
            object: "response",
            created_at: 0,
            status: "in_progress",
            model: "",
            output: &[],
            error: None,
            incomplete_details: None,
            usage: None,
            instructions: (),
            metadata: Empty {},
            parallel_tool_calls: true,
            temperature: (),
            tool_choice: "auto",
            tools: [],
            top_p: (),
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Empty {}

#[derive(Debug, Serialize)]
pub(super) struct Failure {
    code: &'static str,
    message: String,
}

impl Failure {
    pub(super) fn from_ending(ending: &Ending<'_>) -> Failure {
        Failure { code: ending_code(ending), message: ending_text(ending).into_owned() }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Incomplete {
    reason: &'static str,
}

impl Incomplete {
    pub(super) fn from_ending(ending: &Ending<'_>) -> Incomplete {
        let is_cut = ending.stop == Some(StopReason::Length);
        Incomplete { reason: if is_cut { "max_output_tokens" } else { "content_filter" } }
    }
}

/// Looks like the usage of chat completions, under the names of this protocol.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Usage {
    input_tokens: u64,
    input_tokens_details: InputDetails,
    output_tokens: u64,
    output_tokens_details: OutputDetails,
    total_tokens: u64,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct InputDetails {
    cached_tokens: u64,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct OutputDetails {
    reasoning_tokens: u64,
}

impl Usage {
    /// Unknown numbers become 0: the protocol cannot omit them.
    pub(super) fn new(usage: millpond_engine::event::Usage) -> Usage {
        let input_tokens = usage.input_tokens.unwrap_or(0);
        let output_tokens = usage.output_tokens.unwrap_or(0);
        let cached_tokens = usage.cache_read_tokens.unwrap_or(0);
        let reasoning_tokens = usage.reasoning_tokens.unwrap_or(0);
        Usage {
            input_tokens,
            input_tokens_details: InputDetails { cached_tokens },
            output_tokens,
            output_tokens_details: OutputDetails { reasoning_tokens },
            total_tokens: input_tokens.saturating_add(output_tokens),
        }
    }
}
