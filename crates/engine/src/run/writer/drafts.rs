//! Drafts: prompts, notices and questions that their source is still writing.

use crate::event::{DraftId, DraftKind, Event};

use super::Writer;

impl Writer<'_> {
    /// Emits the new text of a draft. A prompt first ends the run if the agent requested that.
    pub fn append_draft(&mut self, draft: DraftId, kind: DraftKind, kept_bytes: usize, text: &str) {
        if kind == DraftKind::Prompt {
            self.state.end_requested_run_unless_tools_open(self.filter, &mut self.emitter);
        }
        let text = text.into();
        self.emitter.emit_after_deferred_ends(Event::DraftReceived {
            draft,
            kind,
            kept_bytes,
            text,
        });
    }

    /// Emits the end of a draft. What it became must follow at once.
    pub fn complete_draft(&mut self, draft: DraftId) {
        self.emitter.emit_after_deferred_ends(Event::DraftCompleted { draft });
    }
}
