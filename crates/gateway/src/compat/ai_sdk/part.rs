//! The parts of a UI message stream, as in the client's schema. Empty members are left out: the
//! client rejects `null`.

use millpond_engine::event::{AskKind, AskOption, NoticeLevel, Usage};
use serde::Serialize;
use serde_json::value::RawValue;

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub(super) enum Part<'a> {
    Start {
        message_id: &'a str,
    },
    StartStep,
    FinishStep,
    /// Version 7 only: drops the parts of the open step.
    ResetStep,
    TextStart {
        id: &'a str,
        provider_metadata: ProviderMetadata<'a>,
    },
    TextDelta {
        id: &'a str,
        delta: &'a str,
    },
    TextEnd {
        id: &'a str,
    },
    ReasoningStart {
        id: &'a str,
        provider_metadata: ProviderMetadata<'a>,
    },
    ReasoningDelta {
        id: &'a str,
        delta: &'a str,
    },
    ReasoningEnd {
        id: &'a str,
    },
    ToolInputStart {
        tool_call_id: &'a str,
        tool_name: &'a str,
        provider_executed: bool,
        dynamic: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_metadata: Option<ToolMetadata<'a>>,
    },
    ToolInputDelta {
        tool_call_id: &'a str,
        input_text_delta: &'a str,
    },
    ToolInputAvailable {
        tool_call_id: &'a str,
        tool_name: &'a str,
        input: &'a RawValue,
        provider_executed: bool,
        dynamic: bool,
    },
    ToolInputError {
        tool_call_id: &'a str,
        tool_name: &'a str,
        input: &'a RawValue,
        provider_executed: bool,
        dynamic: bool,
        error_text: &'a str,
    },
    ToolApprovalRequest {
        approval_id: &'a str,
        tool_call_id: &'a str,
        approval_descriptor: Ask<'a>,
    },
    ToolOutputAvailable {
        tool_call_id: &'a str,
        output: &'a RawValue,
        provider_executed: bool,
        dynamic: bool,
    },
    ToolOutputError {
        tool_call_id: &'a str,
        error_text: &'a str,
        provider_executed: bool,
        dynamic: bool,
    },
    ToolOutputDenied {
        tool_call_id: &'a str,
    },
    SourceUrl {
        source_id: &'a str,
        url: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
    },
    SourceDocument {
        source_id: &'a str,
        media_type: &'a str,
        title: &'a str,
    },
    File {
        url: &'a str,
        media_type: &'a str,
    },
    DataNotice {
        data: Notice<'a>,
        transient: bool,
    },
    DataProgress {
        data: Progress<'a>,
        transient: bool,
    },
    DataAsk {
        id: &'a str,
        data: Ask<'a>,
    },
    MessageMetadata {
        message_metadata: Metadata<'a>,
    },
    Error {
        error_text: &'a str,
    },
    Abort {
        reason: &'a str,
    },
    Finish {
        finish_reason: &'static str,
    },
}

/// Metadata with our id: the client's own parts have none.
#[derive(Debug, Serialize)]
pub(super) struct ProviderMetadata<'a> {
    pub(super) millpond: PartId<'a>,
}

#[derive(Debug, Serialize)]
pub(super) struct PartId<'a> {
    pub(super) id: &'a str,
}

impl<'a> ProviderMetadata<'a> {
    pub(super) fn new(id: &'a str) -> ProviderMetadata<'a> {
        ProviderMetadata { millpond: PartId { id } }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct ToolMetadata<'a> {
    pub(super) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) server: Option<&'a str>,
    /// The call whose sub-agent made this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<&'a str>,
}

#[derive(Debug, Serialize)]
pub(super) struct Notice<'a> {
    pub(super) level: NoticeLevel,
    pub(super) text: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Progress<'a> {
    pub(super) tool_call_id: &'a str,
    pub(super) text: &'a str,
}

#[derive(Debug, Serialize)]
pub(super) struct Ask<'a> {
    pub(super) kind: AskKind,
    pub(super) text: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(super) options: &'a [AskOption<'a>],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) digest: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) answer: Option<&'a str>,
}

/// Message metadata under our own key.
#[derive(Debug, Serialize)]
pub(super) struct Metadata<'a> {
    pub(super) millpond: RunMetadata<'a>,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct RunMetadata<'a> {
    /// Ids of withdrawn parts.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(super) withdrawn: &'a [String],
    /// Id of the part that is the final message.
    #[serde(skip_serializing_if = "Option::is_none", rename = "final")]
    pub(super) reply: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) incomplete: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) usage: Option<Usage>,
}
