//! Events about an item, by subject and verb: `output_text.delta`, `output_item.added`.

use crate::event::{ReasoningOrigin, UnrecognisedReason};
use crate::run::Writer;

use super::delta::DeltaValue;
use super::item::{MESSAGE_TYPE, REASONING_TYPE};
use super::sequence::Sequence;
use super::text::ItemRef;
use super::{FramePayload, OpenAiResponses, PendingAction, ResponseStage};

impl OpenAiResponses {
    /// Applies an event about an item; writes a late or repeated one as unrecognised. Starts a
    /// round if the stream was joined midway.
    pub(super) fn apply_item_event(
        &mut self,
        subject: &str,
        verb: &str,
        line: &FramePayload<'_>,
        raw: &str,
        out: &mut Writer<'_>,
    ) {
        match self.stage {
            ResponseStage::Replying | ResponseStage::JoinedMidway => {}
            ResponseStage::Waiting => {
                self.stage = ResponseStage::JoinedMidway;
                out.start_round_or_end_run(None, None);
            }
            ResponseStage::Finished => {
                return out.append_unrecognised(UnrecognisedReason::Late, raw);
            }
        }
        if self.sequence.record_number_and_detect_repeat(line.sequence) {
            let begins = (subject, verb) == ("output_item", "added");
            if !begins || self.find_newest_item_position(line.item_key()).is_some() {
                return out.append_unrecognised(UnrecognisedReason::Late, raw);
            }
            self.sequence = Sequence::Meaningless;
        }
        match verb {
            "delta" => self.apply_delta(subject, line, raw, out),
            "done" => self.apply_done_event(subject, line, raw, out),
            _ => self.apply_added_or_progress_event(subject, verb, line, raw, out),
        }
    }

    /// Applies a `.delta` event; `subject` is its name without that suffix.
    fn apply_delta(
        &mut self,
        subject: &str,
        line: &FramePayload<'_>,
        raw: &str,
        out: &mut Writer<'_>,
    ) {
        let part = line.content_index.unwrap_or_default();
        if subject == "output_text"
            && self.try_append_to_current_message(line.item_index(), part, line.delta_text(), out)
        {
            return;
        }
        let late = |of_type| self.is_closed_item_of_type(line.item_key(), of_type);
        match subject {
            "output_text" | "audio.transcript" | "refusal" if late(MESSAGE_TYPE) => {
                out.append_unrecognised(UnrecognisedReason::Late, raw);
            }
            "reasoning_text" | "reasoning_summary_text" if late(REASONING_TYPE) => {
                out.append_unrecognised(UnrecognisedReason::Late, raw);
            }
            "output_text" | "audio.transcript" => {
                self.apply_text_delta(line.item_key(), part, line.delta_text(), out);
            }
            "refusal" => {
                self.pending_action = PendingAction::Refusal;
                self.apply_text_delta(line.item_key(), part, line.delta_text(), out);
            }
            "reasoning_text" => {
                let origin = ReasoningOrigin::Native;
                self.apply_reasoning_delta(line.item_key(), origin, part, line.delta_text(), out);
            }
            "reasoning_summary_text" => {
                let (origin, part) =
                    (ReasoningOrigin::Summary, line.summary_index.unwrap_or_default());
                self.apply_reasoning_delta(line.item_key(), origin, part, line.delta_text(), out);
            }
            "function_call_arguments"
            | "custom_tool_call_input"
            | "mcp_call_arguments"
            | "mcp_call.arguments"
            | "code_interpreter_call_code"
            | "code_interpreter_call.code"
            | "apply_patch_call_operation_diff"
            | "shell_call_command" => {
                let element = line.command_index.unwrap_or_default();
                if !self.try_append_arguments(line.item_key(), element, line.delta_text(), out) {
                    out.append_unrecognised(UnrecognisedReason::Late, raw);
                }
            }
            "shell_call_output_content" => {
                if let Some(DeltaValue::Shell(piece)) = &line.delta {
                    out.append_unknown_fields_once(&piece.unknown);
                    self.append_shell_output_if_open(line.item_key(), piece, out);
                }
            }
            "audio" => {}
            _ => out.append_unrecognised(UnrecognisedReason::Frame, raw),
        }
    }

    /// Applies a `.done` event: a part of an item is complete and is repeated as a whole.
    fn apply_done_event(
        &mut self,
        subject: &str,
        line: &FramePayload<'_>,
        raw: &str,
        out: &mut Writer<'_>,
    ) {
        let content = line.content_index.unwrap_or_default();
        let summary = line.summary_index.unwrap_or_default();
        let (key, item_ref) = (line.item_key(), ItemRef::ByKey(line.item_key()));
        match subject {
            "output_item" => {
                if let Some(item) = line.item {
                    self.apply_item_done(line.item_index(), item, out);
                }
            }
            "output_text" => self.apply_whole_text_unless_closed(item_ref, content, line.text, out),
            "refusal" => {
                self.pending_action = PendingAction::Refusal;
                self.apply_whole_text_unless_closed(item_ref, content, line.refusal, out);
            }
            "reasoning_text" => {
                self.apply_whole_reasoning_unless_closed(
                    item_ref,
                    ReasoningOrigin::Native,
                    content,
                    line.text,
                    out,
                );
            }
            "reasoning_summary_text" => {
                self.apply_whole_reasoning_unless_closed(
                    item_ref,
                    ReasoningOrigin::Summary,
                    summary,
                    line.text,
                    out,
                );
            }
            "content_part" => self.apply_whole_part(item_ref, content, line.part, out),
            "reasoning_summary_part" => self.apply_whole_part(item_ref, summary, line.part, out),
            "function_call_arguments"
            | "custom_tool_call_input"
            | "mcp_call_arguments"
            | "mcp_call.arguments" => {
                if !self.try_complete_arguments(key, line.arguments.or(line.input), out) {
                    out.append_unrecognised(UnrecognisedReason::Late, raw);
                }
            }
            "code_interpreter_call_code"
            | "code_interpreter_call.code"
            | "apply_patch_call_operation_diff" => {
                self.try_complete_arguments(key, None, out);
            }
            // The item's `done` event repeats these.
            "shell_call_command" | "shell_call_output_content" | "audio" | "audio.transcript" => {}
            _ => out.append_unrecognised(UnrecognisedReason::Frame, raw),
        }
    }

    /// Applies the other item events: `added`, annotations and progress.
    fn apply_added_or_progress_event(
        &mut self,
        subject: &str,
        verb: &str,
        line: &FramePayload<'_>,
        raw: &str,
        out: &mut Writer<'_>,
    ) {
        match (subject, verb) {
            ("output_item", "added") => {
                if let Some(item) = line.item {
                    self.apply_item_added(line.item_index(), item, out);
                }
            }
            ("output_text.annotation", "added") => {
                if let Some(annotation) = line.annotation {
                    self.write_and_count_citation_if_current_message(
                        line.item_key(),
                        line.content_index.unwrap_or_default(),
                        annotation,
                        out,
                    );
                }
            }
            ("content_part" | "reasoning_summary_part" | "shell_call_command", "added")
            | ("compaction", "compacting")
            | (_, "in_progress" | "completed" | "failed") => {}
            (_, "searching" | "interpreting" | "generating" | "partial_image") => {
                self.append_tool_progress_if_open(line.item_key(), &verb.replace('_', " "), out);
            }
            _ => out.append_unrecognised(UnrecognisedReason::Frame, raw),
        }
    }
}
