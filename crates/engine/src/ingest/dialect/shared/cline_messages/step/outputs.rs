//! Output of one step, which is that of one or more messages. Each may grow or change while its
//! source writes it.

use crate::event::StepId;
use crate::limits::DEDUP_ITEMS_MAX;
use crate::run::{Fingerprint, Writer};

/// Outputs of a step, in the order of their beginnings.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct StepOutputs(Vec<MessageOutput>);

/// Output of one message.
#[derive(Clone, Debug, PartialEq)]
struct MessageOutput {
    message: Fingerprint,
    text: String,
    progress: OutputProgress,
}

/// Progress of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputProgress {
    Partial,
    Complete,
}

impl StepOutputs {
    /// True if the message has output here that is not complete.
    pub(super) fn has_partial_of(&self, message: Fingerprint) -> bool {
        self.0
            .iter()
            .any(|output| output.message == message && output.progress == OutputProgress::Partial)
    }

    /// True if no output is partial.
    pub(super) fn are_complete(&self) -> bool {
        self.0.iter().all(|output| output.progress == OutputProgress::Complete)
    }

    /// Writes what is new of a message's output; replaces all output if more than its end changed.
    /// An older, shorter version changes nothing. Messages without a key have no later version.
    pub(super) fn write_version(
        &mut self,
        step: StepId,
        message: Fingerprint,
        text: &str,
        progress: OutputProgress,
        out: &mut Writer<'_>,
    ) {
        let known = self.0.iter().rposition(|output| output.message == message);
        let Some(at) = known.filter(|_| !message.is_blank()) else {
            return self.append_new(
                step,
                MessageOutput { message, text: text.to_owned(), progress },
                out,
            );
        };
        let is_last = at + 1 == self.0.len();
        let Some(output) = self.0.get_mut(at) else { return };
        if progress == OutputProgress::Partial && output.text.starts_with(text) {
            return;
        }
        output.progress = progress;
        match text.strip_prefix(&*output.text) {
            Some(rest) if is_last => {
                output.text.push_str(rest);
                out.append_output_if_open(step, rest);
            }
            Some("") => {}
            _ => {
                text.clone_into(&mut output.text);
                out.replace_output_if_changed(step, &self.joined());
            }
        }
    }

    /// Writes a new output, on a line of its own.
    fn append_new(&mut self, step: StepId, output: MessageOutput, out: &mut Writer<'_>) {
        if self.0.last().is_some_and(needs_newline) {
            out.append_output_if_open(step, "\n");
        }
        out.append_output_if_open(step, &output.text);
        self.0.push(output);
        if DEDUP_ITEMS_MAX < self.0.len() {
            self.join_first_two();
        }
    }

    /// Makes one complete output of the two oldest.
    fn join_first_two(&mut self) {
        let first = self.0.remove(0);
        if let Some(second) = self.0.first_mut() {
            let newline = if needs_newline(&first) { "\n" } else { "" };
            second.text = [&*first.text, newline, &*second.text].concat();
            second.message = Fingerprint::default();
            second.progress = OutputProgress::Complete;
        }
    }

    fn joined(&self) -> String {
        let mut all = String::new();
        for (at, output) in self.0.iter().enumerate() {
            if at.checked_sub(1).is_some_and(|before| needs_newline(&self.0[before])) {
                all.push('\n');
            }
            all.push_str(&output.text);
        }
        all
    }
}

fn needs_newline(output: &MessageOutput) -> bool {
    !output.text.is_empty() && !output.text.ends_with('\n')
}
