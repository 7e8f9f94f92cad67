//! Streamed blocks: records their starts and deltas, so that the whole blocks that repeat them are
//! not written again.

use crate::ingest::json::{RawValue, as_string};
use crate::run::Writer;

use super::seen_blocks::ShowDecision;
use super::{BlockFields, StreamEvent, StreamJson};

impl StreamJson {
    /// Records the start of a streamed block and begins the message of a new text; returns how much
    /// of the block to write.
    pub(super) fn record_block_start_ending_previous_message(
        &mut self,
        parent: &str,
        event: &StreamEvent<'_>,
        out: &mut Writer<'_>,
    ) -> ShowDecision {
        let Some(block) = event.block.and_then(BlockFields::from_raw) else {
            return ShowDecision::All;
        };
        let BlockFields { kind, call, text, input, thinking, .. } = block;
        let kind = kind.and_then(as_string).unwrap_or_default();
        let call = call.and_then(as_string).unwrap_or_default();
        let words = match kind.as_ref() {
            "text" => text.and_then(as_string).unwrap_or_default(),
            "thinking" => thinking.and_then(as_string).unwrap_or_default(),
            "tool_use" => match input.map_or("{}", RawValue::get) {
                "{}" => "".into(),
                input => input.into(),
            },
            _ => kind.clone(),
        };
        let index = event.index.unwrap_or(0);
        let show = self
            .seen_blocks
            .ensure_streaming_message(parent)
            .record_streamed_start(index, &kind, &call, &words);
        if show == ShowDecision::All && kind == "text" && parent.is_empty() {
            out.close_message_and_set_next_phase(None);
        }
        show
    }

    /// Records a delta of a streamed block; returns how much of it to write.
    pub(super) fn record_delta_and_decide_if_new(
        &mut self,
        parent: &str,
        event: &StreamEvent<'_>,
    ) -> ShowDecision {
        let Some(delta) = &event.delta else { return ShowDecision::All };
        let kind = delta.kind.as_deref().unwrap_or("");
        let (text, block) = match kind {
            "text_delta" => (&delta.text, "text"),
            "thinking_delta" => (&delta.thinking, "thinking"),
            "input_json_delta" => (&delta.partial_json, "tool_use"),
            _ => return ShowDecision::All,
        };
        let words = text.as_deref().unwrap_or("");
        if words.is_empty() {
            return ShowDecision::Nothing;
        }
        self.seen_blocks.ensure_streaming_message(parent).record_streamed_delta(
            event.index.unwrap_or(0),
            block,
            words,
        )
    }

    /// Writes a delta if it is of a text whose start was missed, so that the whole text can
    /// complete it; returns what remains to be written.
    pub(super) fn write_delta_if_start_missed(
        &mut self,
        event: &StreamEvent<'_>,
        out: &mut Writer<'_>,
    ) -> ShowDecision {
        let text = event.delta.as_ref().and_then(|delta| delta.text.as_deref());
        match text {
            Some(text)
                if self
                    .seen_blocks
                    .ensure_streaming_message("")
                    .is_text_with_missed_start(event.index.unwrap_or(0)) =>
            {
                out.append_and_remember_text(text);
                ShowDecision::Nothing
            }
            _ => ShowDecision::All,
        }
    }
}
