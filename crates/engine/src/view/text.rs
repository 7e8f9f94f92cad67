//! All visible messages as they come, a blank line between them, and nothing else.

use crate::event::{Event, MessageId};
use crate::limits::FRAME_BYTES_MAX;

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
    message: Option<MessageId>,
    /// The text of the message being written: its source may change it.
    kept: Kept,
}

#[derive(Clone, Debug)]
enum Kept {
    All(String),
    /// It grew too long: of a change only what is new can be said.
    TooLong,
}

impl Default for Kept {
    fn default() -> Kept {
        Kept::All(String::new())
    }
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
            Event::TextAppended { message, text } => self.append(*message, text, out),
            Event::TextRewritten { message, kept_bytes, text } => {
                out(Patch::Rewritten);
                let mut whole = match std::mem::take(&mut self.kept) {
                    Kept::All(said) => said,
                    Kept::TooLong => String::new(),
                };
                super::rewrite(&mut whole, *kept_bytes, text);
                self.message = None;
                self.append(*message, &whole, out);
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

    fn append(&mut self, message: MessageId, text: &str, out: &mut impl FnMut(Patch<'_>)) {
        if self.message.replace(message) != Some(message) {
            self.kept = Kept::default();
            self.separate(text, out);
        }
        match &mut self.kept {
            Kept::All(said) if said.len() + text.len() <= FRAME_BYTES_MAX => said.push_str(text),
            _ => self.kept = Kept::TooLong,
        }
        out(Patch::Append(text));
        for byte in text.bytes() {
            self.page = match (byte, self.page) {
                (b'\r', page) => page,
                (b'\n', Page::Empty | Page::LineEnd | Page::BlankLine) => Page::BlankLine,
                (b'\n', Page::MidLine) => Page::LineEnd,
                _ => Page::MidLine,
            };
        }
    }

    /// Makes a blank line before a new message, as far as its own first bytes do not.
    fn separate(&mut self, text: &str, out: &mut impl FnMut(Patch<'_>)) {
        let missing = match self.page {
            Page::Empty | Page::BlankLine => 0,
            Page::LineEnd => 1,
            Page::MidLine => 2,
        };
        let own = text.bytes().take_while(u8::is_ascii_whitespace).filter(|&byte| byte == b'\n');
        for _ in own.count()..missing {
            out(Patch::Append("\n"));
            self.page = Page::BlankLine;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Ending, Outcome, Reply};

    fn page(messages: &[&[&str]]) -> String {
        let mut view = TextView::default();
        let mut page = String::new();
        for (id, texts) in (0..).zip(messages) {
            for text in *texts {
                let event = Event::TextAppended { message: MessageId(id), text: (*text).into() };
                view.apply(&event, &mut |patch| match patch {
                    Patch::Append(text) => page.push_str(text),
                    other => panic!("{other:?}"),
                });
            }
        }
        page
    }

    #[test]
    fn one_blank_line_stands_between_messages() {
        assert_eq!(page(&[&["A"], &["B"]]), "A\n\nB");
        assert_eq!(page(&[&["A\n"], &["B"]]), "A\n\nB");
        assert_eq!(page(&[&["A\r\n\r\n"], &["B"]]), "A\r\n\r\nB");
        assert_eq!(page(&[&["A"], &["\n\nB"]]), "A\n\nB");
        assert_eq!(page(&[&["A", "a"], &["\n", "B", "b"], &["C"]]), "Aa\n\nBb\n\nC");
    }

    #[test]
    fn a_message_that_changes_is_said_again_whole() {
        let mut view = TextView::default();
        let mut page = String::new();
        let message = MessageId(0);
        for event in [
            Event::TextAppended { message, text: "The oak.".into() },
            Event::TextRewritten { message, kept_bytes: 4, text: "ash.".into() },
        ] {
            view.apply(&event, &mut |patch| match patch {
                Patch::Append(text) => page.push_str(text),
                Patch::Rewritten => page.push_str("<changed>"),
                Patch::Withdrawn { .. } => panic!("{patch:?}"),
            });
        }
        assert_eq!(page, "The oak.<changed>\n\nThe ash.");
    }

    fn patches(events: &[Event<'_>]) -> Vec<String> {
        let mut view = TextView::default();
        let mut patches = Vec::new();
        for event in events {
            view.apply(event, &mut |patch| {
                patches.push(match patch {
                    Patch::Append(text) => text.to_owned(),
                    Patch::Rewritten => "<changed>".to_owned(),
                    Patch::Withdrawn { messages } => format!("<{messages} withdrawn>"),
                });
            });
        }
        patches
    }

    #[test]
    fn only_a_line_that_is_open_is_ended_and_only_messages_are_withdrawn() {
        let said =
            |text: &'static str| Event::TextAppended { message: MessageId(0), text: text.into() };
        let ended = || Event::RunEnded {
            ending: Ending {
                outcome: Outcome::Completed,
                stop: None,
                reason: None,
                detail: None,
                reply: Reply::None,
                message: None,
                incomplete: false,
            },
        };
        assert_eq!(patches(&[said("a"), ended()]), ["a", "\n"]);
        assert_eq!(patches(&[said("a\n"), ended()]), ["a\n"]);
        assert_eq!(patches(&[ended()]), [""; 0]);
        let withdrawn = |messages| Event::Withdrawn { messages, steps: Vec::new() };
        assert_eq!(patches(&[withdrawn(vec![MessageId(0)])]), ["<1 withdrawn>"]);
        assert_eq!(patches(&[withdrawn(Vec::new())]), [""; 0]);
    }

    #[test]
    fn of_a_message_that_is_too_long_only_what_is_new_is_said_again() {
        let message = MessageId(0);
        let rewritten = || Event::TextRewritten { message, kept_bytes: 2, text: "z".into() };
        for texts in [vec![FRAME_BYTES_MAX + 1], vec![FRAME_BYTES_MAX, 1], vec![1, FRAME_BYTES_MAX]]
        {
            let said = texts
                .iter()
                .map(|len| Event::TextAppended { message, text: "y".repeat(*len).into() });
            let events: Vec<Event<'_>> = said.chain([rewritten()]).collect();
            let told = patches(&events);
            assert_eq!(told.last().map(String::as_str), Some("z"), "{texts:?}");
        }
        let fits = Event::TextAppended { message, text: "y".repeat(FRAME_BYTES_MAX).into() };
        assert_eq!(patches(&[fits, rewritten()]).last().map(String::as_str), Some("yyz"));
    }
}
