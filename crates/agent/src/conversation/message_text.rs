//! Texts of messages, as parts of the agent's turn.

use millpond_engine::event::MessageId;

use super::pending_call::PartPosition;
use super::{Conversation, Part, Turn};

impl Conversation {
    /// Appends text to the message's last part, or to a new one if a thought came after that:
    /// providers want thoughts and texts in their order.
    pub(super) fn append_message_text(&mut self, message: MessageId, text: &str) {
        let Some(&last) =
            self.active_run.message_parts.get(&message).and_then(|parts| parts.last())
        else {
            return;
        };
        let mut position = last;
        if self.is_followed_by_thought(last) && !text.trim().is_empty() {
            position = self.append_agent_part(Part::Text(String::new()));
            if let Some(parts) = self.active_run.message_parts.get_mut(&message) {
                parts.push(position);
            }
        }
        if let Some(Part::Text(part)) = self.part_at_mut(Some(position)) {
            part.push_str(text);
        }
    }

    fn is_followed_by_thought(&self, position: PartPosition) -> bool {
        let Some(Turn::Agent(parts)) = self.turns.get(position.turn) else { return false };
        let mut later = parts.iter().skip(position.part + 1);
        later.any(|part| matches!(part, Part::Thought { .. }))
    }

    /// Cuts the message's text after `kept_bytes`.
    pub(super) fn truncate_message_text(&mut self, message: MessageId, kept_bytes: usize) {
        let mut kept = kept_bytes;
        for position in self.active_run.message_parts.get(&message).cloned().unwrap_or_default() {
            if let Some(Part::Text(part)) = self.part_at_mut(Some(position)) {
                part.truncate(part.floor_char_boundary(kept));
                kept -= part.len();
            }
        }
    }
}
