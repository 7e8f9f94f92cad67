//! All visible messages as they come, a blank line between them, and nothing else.

use crate::event::{Event, MessageId};

/// What to do to an append-only page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patch<'a> {
    Append(&'a str),
    /// What stands there can no longer be unprinted, but does not count.
    Withdrawn {
        messages: usize,
    },
    /// The text of the message changed before its end; it is appended anew.
    Rewritten,
}

#[derive(Clone, Debug, Default)]
pub struct TextView {
    page: Page,
    /// The message being written and its text, kept in case it is rewritten.
    message: Option<(MessageId, String)>,
}

/// How the page ends, as far as the next message cares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Page {
    #[default]
    Empty,
    MidLine,
    LineEnd,
    BlankLine,
}

impl TextView {
    pub fn apply(&mut self, event: &Event<'_>, out: &mut impl FnMut(Patch<'_>)) {
        match event {
            Event::TextAppended { message, text } => {
                self.turn_to(*message, out);
                self.append(text, out);
            }
            Event::TextRewritten { message, kept_bytes, text } => {
                self.turn_to(*message, out);
                out(Patch::Rewritten);
                let mut whole = self.message.take().map_or(String::new(), |(_, text)| text);
                whole.truncate(*kept_bytes);
                whole.push_str(text);
                self.message = Some((*message, String::new()));
                self.separate(out);
                self.append(&whole, out);
            }
            Event::Withdrawn { messages, .. } if !messages.is_empty() => {
                out(Patch::Withdrawn { messages: messages.len() });
            }
            Event::RunEnded { .. } if self.page == Page::MidLine => {
                out(Patch::Append("\n"));
                self.page = Page::LineEnd;
            }
            _ => {}
        }
    }

    fn turn_to(&mut self, message: MessageId, out: &mut impl FnMut(Patch<'_>)) {
        if self.message.as_ref().is_none_or(|(open, _)| *open != message) {
            self.separate(out);
            self.message = Some((message, String::new()));
        }
    }

    fn append(&mut self, text: &str, out: &mut impl FnMut(Patch<'_>)) {
        out(Patch::Append(text));
        if let Some((_, whole)) = &mut self.message {
            whole.push_str(text);
        }
        for byte in text.bytes() {
            self.page = match (byte, self.page) {
                (b'\n', Page::Empty | Page::LineEnd | Page::BlankLine) => Page::BlankLine,
                (b'\n', Page::MidLine) => Page::LineEnd,
                _ => Page::MidLine,
            };
        }
    }

    fn separate(&mut self, out: &mut impl FnMut(Patch<'_>)) {
        match self.page {
            Page::Empty | Page::BlankLine => {}
            Page::LineEnd => out(Patch::Append("\n")),
            Page::MidLine => out(Patch::Append("\n\n")),
        }
        if self.page != Page::Empty {
            self.page = Page::BlankLine;
        }
    }
}
