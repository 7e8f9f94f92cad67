//! Wire types of chat completions.

use millpond_engine::event::Ending;
use serde::Serialize;

use crate::compat::ending::{ending_code, ending_text};

#[derive(Debug, Serialize)]
pub(super) struct Chunk<'a> {
    pub(super) id: &'a str,
    pub(super) object: &'static str,
    pub(super) created: u64,
    pub(super) model: &'a str,
    pub(super) choices: &'a [Choice<'a>],
    #[serde(skip_serializing_if = "UsageField::is_omitted")]
    pub(super) usage: UsageField,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) millpond: Option<CorrectedContent<'a>>,
}

/// Usage in a chunk.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
pub(super) enum UsageField {
    Omitted,
    /// `null`, in all chunks but the last.
    Null,
    Known(Usage),
}

impl UsageField {
    fn is_omitted(&self) -> bool {
        matches!(self, UsageField::Omitted)
    }
}

/// The correct content, after text was rewritten or withdrawn.
#[derive(Debug, Serialize)]
pub(super) struct CorrectedContent<'a> {
    pub(super) content: &'a str,
}

#[derive(Debug, Serialize)]
pub(super) struct Choice<'a> {
    pub(super) index: u32,
    pub(super) delta: Delta<'a>,
    pub(super) finish_reason: Option<&'static str>,
    /// Always `null`.
    pub(super) logprobs: (),
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Delta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<IndexedCall<'a>>,
}

impl<'a> Delta<'a> {
    pub(super) fn new_opening() -> Delta<'a> {
        Delta { role: Some("assistant"), content: Some(""), ..Delta::default() }
    }

    pub(super) fn from_content(text: &'a str) -> Delta<'a> {
        Delta { content: Some(text), ..Delta::default() }
    }

    pub(super) fn from_reasoning(text: &'a str) -> Delta<'a> {
        Delta { reasoning_content: Some(text), ..Delta::default() }
    }

    pub(super) fn from_refusal(text: &'a str) -> Delta<'a> {
        Delta { refusal: Some(text), ..Delta::default() }
    }

    pub(super) fn from_calls(calls: &'a [Call]) -> Delta<'a> {
        let tool_calls = calls.iter().enumerate().map(|(index, call)| IndexedCall { index, call });
        Delta { tool_calls: tool_calls.collect(), ..Delta::default() }
    }
}

#[derive(Debug, Serialize)]
struct IndexedCall<'a> {
    index: usize,
    #[serde(flatten)]
    call: &'a Call,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Call {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    function: Function,
}

#[derive(Clone, Debug, Serialize)]
struct Function {
    name: String,
    arguments: String,
}

impl Call {
    pub(super) fn new(id: String, name: String, arguments: String) -> Call {
        Call { id, kind: "function", function: Function { name, arguments } }
    }
}

#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Usage {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
    prompt_tokens_details: PromptDetails,
    completion_tokens_details: CompletionDetails,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct PromptDetails {
    cached_tokens: u64,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct CompletionDetails {
    reasoning_tokens: u64,
}

impl Usage {
    /// Unknown numbers become 0: the protocol cannot omit them.
    pub(super) fn new(usage: millpond_engine::event::Usage) -> Usage {
        let prompt_tokens = usage.input_tokens.unwrap_or(0);
        let completion_tokens = usage.output_tokens.unwrap_or(0);
        let cached_tokens = usage.cache_read_tokens.unwrap_or(0);
        let reasoning_tokens = usage.reasoning_tokens.unwrap_or(0);
        Usage {
            prompt_tokens,
            completion_tokens,
            total_tokens: prompt_tokens.saturating_add(completion_tokens),
            prompt_tokens_details: PromptDetails { cached_tokens },
            completion_tokens_details: CompletionDetails { reasoning_tokens },
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Failure<'a> {
    error: FailureDetail<'a>,
}

#[derive(Debug, Serialize)]
struct FailureDetail<'a> {
    message: String,
    #[serde(rename = "type")]
    kind: &'a str,
    code: &'a str,
    /// Always `null`.
    param: (),
}

impl Failure<'_> {
    pub(super) fn from_ending(ending: &Ending<'_>) -> Failure<'static> {
        let message = ending_text(ending).into_owned();
        Failure {
            error: FailureDetail {
                message,
                kind: "server_error",
                code: ending_code(ending),
                param: (),
            },
        }
    }
}
