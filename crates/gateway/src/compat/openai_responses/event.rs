//! The events of the Responses API that are sent.

use serde::Serialize;
use serde_json::value::RawValue;

use super::item::{Annotation, ItemObject, Part};

#[derive(Debug, Serialize)]
pub(super) struct Envelope<'a> {
    #[serde(flatten)]
    pub(super) event: &'a Event<'a>,
    /// Dense, from 0.
    pub(super) sequence_number: u64,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type")]
pub(super) enum Event<'a> {
    #[serde(rename = "response.created")]
    Created { response: &'a RawValue },
    #[serde(rename = "response.in_progress")]
    InProgress { response: &'a RawValue },
    #[serde(rename = "response.completed")]
    Completed { response: &'a RawValue },
    #[serde(rename = "response.incomplete")]
    Incomplete { response: &'a RawValue },
    #[serde(rename = "response.failed")]
    Failed { response: &'a RawValue },
    #[serde(rename = "response.output_item.added")]
    OutputItemAdded { output_index: usize, item: &'a ItemObject<'a> },
    #[serde(rename = "response.output_item.done")]
    OutputItemDone { output_index: usize, item: &'a ItemObject<'a> },
    #[serde(rename = "response.content_part.added")]
    ContentPartAdded {
        item_id: &'a str,
        output_index: usize,
        content_index: usize,
        part: &'a Part<'a>,
    },
    #[serde(rename = "response.content_part.done")]
    ContentPartDone {
        item_id: &'a str,
        output_index: usize,
        content_index: usize,
        part: &'a Part<'a>,
    },
    #[serde(rename = "response.output_text.delta")]
    OutputTextDelta {
        item_id: &'a str,
        output_index: usize,
        content_index: usize,
        delta: &'a str,
        logprobs: [(); 0],
    },
    #[serde(rename = "response.output_text.done")]
    OutputTextDone {
        item_id: &'a str,
        output_index: usize,
        content_index: usize,
        text: &'a str,
        logprobs: [(); 0],
    },
    #[serde(rename = "response.output_text.annotation.added")]
    OutputTextAnnotationAdded {
        item_id: &'a str,
        output_index: usize,
        content_index: usize,
        annotation_index: usize,
        annotation: &'a Annotation,
    },
    #[serde(rename = "response.reasoning_summary_part.added")]
    ReasoningSummaryPartAdded {
        item_id: &'a str,
        output_index: usize,
        summary_index: usize,
        part: &'a Part<'a>,
    },
    #[serde(rename = "response.reasoning_summary_part.done")]
    ReasoningSummaryPartDone {
        item_id: &'a str,
        output_index: usize,
        summary_index: usize,
        part: &'a Part<'a>,
    },
    #[serde(rename = "response.reasoning_summary_text.delta")]
    ReasoningSummaryTextDelta {
        item_id: &'a str,
        output_index: usize,
        summary_index: usize,
        delta: &'a str,
    },
    #[serde(rename = "response.reasoning_summary_text.done")]
    ReasoningSummaryTextDone {
        item_id: &'a str,
        output_index: usize,
        summary_index: usize,
        text: &'a str,
    },
    #[serde(rename = "response.function_call_arguments.delta")]
    FunctionCallArgumentsDelta { item_id: &'a str, output_index: usize, delta: &'a str },
    #[serde(rename = "response.function_call_arguments.done")]
    FunctionCallArgumentsDone {
        item_id: &'a str,
        output_index: usize,
        name: &'a str,
        arguments: &'a str,
    },
}
