//! The AG-UI 1.0 events that are sent. Empty members are left out: the client rejects `null`.

#![allow(clippy::ref_option_ref, reason = "derived code passes members on as it finds them")]

use millpond_engine::event::{AskKind, AskOption, Millis, NoticeLevel, StopReason};
use serde::Serialize;

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase")]
pub(super) enum Event<'a> {
    RunStarted {
        thread_id: &'a str,
        run_id: &'a str,
        protocol_version: &'static str,
    },
    RunFinished {
        thread_id: &'a str,
        run_id: &'a str,
        result: RunResult<'a>,
        outcome: Outcome<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        usage: Option<[Usage<'a>; 1]>,
    },
    RunError {
        message: &'a str,
        code: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        usage: Option<[Usage<'a>; 1]>,
    },
    StepStarted {
        step_name: &'a str,
    },
    StepFinished {
        step_name: &'a str,
    },
    TextMessageStart {
        message_id: &'a str,
        role: &'static str,
    },
    TextMessageContent {
        message_id: &'a str,
        delta: &'a str,
    },
    TextMessageEnd {
        message_id: &'a str,
    },
    ReasoningStart {
        message_id: &'a str,
    },
    ReasoningMessageStart {
        message_id: &'a str,
        role: &'static str,
    },
    ReasoningMessageContent {
        message_id: &'a str,
        delta: &'a str,
    },
    ReasoningMessageEnd {
        message_id: &'a str,
    },
    ReasoningEnd {
        message_id: &'a str,
    },
    ToolCallStart {
        tool_call_id: &'a str,
        tool_call_name: &'a str,
    },
    ToolCallArgs {
        tool_call_id: &'a str,
        delta: &'a str,
    },
    ToolCallEnd {
        tool_call_id: &'a str,
    },
    ToolCallResult {
        message_id: &'a str,
        tool_call_id: &'a str,
        content: &'a str,
        role: &'static str,
    },
    Custom {
        #[serde(flatten)]
        custom: Custom<'a>,
    },
}

/// Payloads of `CUSTOM` events.
#[derive(Debug, Serialize)]
#[serde(
    tag = "name",
    content = "value",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub(super) enum Custom<'a> {
    #[serde(rename = "millpond.notice")]
    Notice { level: NoticeLevel, text: &'a str },
    #[serde(rename = "millpond.progress")]
    Progress { tool_call_id: &'a str, text: &'a str },
    #[serde(rename = "millpond.source")]
    Source {
        message_id: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        url: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        quote: Option<&'a str>,
    },
    #[serde(rename = "millpond.image")]
    Image { id: &'a str, url: &'a str, media_type: &'a str },
    #[serde(rename = "millpond.withdrawn")]
    Withdrawn { ids: &'a [String] },
    #[serde(rename = "millpond.ask")]
    Ask {
        id: &'a str,
        kind: AskKind,
        text: &'a str,
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        options: &'a [AskOption<'a>],
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        digest: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        expires_at: Option<Millis>,
    },
    #[serde(rename = "millpond.ask-resolved")]
    AskResolved { id: &'a str, answer: &'a str },
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunResult<'a> {
    /// The final message, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stop: Option<StopReason>,
    pub(super) incomplete: bool,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum Outcome<'a> {
    Success { pending_tool_call_ids: &'a [String] },
    Cancelled,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Usage<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cached_input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_write_input_tokens: Option<u64>,
}

/// Largest integer that a JavaScript client reads exactly.
const SAFE_INTEGER_MAX: u64 = (1 << 53) - 1;

impl<'a> Usage<'a> {
    pub(super) fn new(usage: millpond_engine::event::Usage, model: Option<&'a str>) -> Usage<'a> {
        let safe_integer =
            |tokens: Option<u64>| tokens.filter(|&tokens| tokens <= SAFE_INTEGER_MAX);
        Usage {
            model,
            input_tokens: safe_integer(usage.input_tokens),
            output_tokens: safe_integer(usage.output_tokens),
            reasoning_tokens: safe_integer(usage.reasoning_tokens),
            cached_input_tokens: safe_integer(usage.cache_read_tokens),
            cache_write_input_tokens: safe_integer(usage.cache_write_tokens),
        }
    }
}
