//! `text`: all visible messages as they arrive, separated by blank lines, and nothing else.

use crate::event::{Event, MessageId};
use crate::event_family;
use crate::limits::FRAME_BYTES_MAX;

use super::message_order::{MessageOrder, OrderedText};

/// One change to an append-only text page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextPatch<'a> {
    /// Appends text.
    Append(&'a str),
    /// Messages that are already printed were withdrawn by their source.
    Withdrawn {
        /// Number of the messages.
        messages: usize,
    },
    /// The open message was rewritten; its whole text follows.
    Rewritten,
}

/// Fold of one session's messages into plain text.
#[derive(Clone, Debug, Default)]
pub struct TextView {
    page_end: PageEnd,
    message: Option<MessageId>,
    message_text: MessageText,
    order: MessageOrder,
}

/// Text of the message being written, kept because its source may rewrite it.
#[derive(Clone, Debug)]
enum MessageText {
    All(String),
    /// Longer than the limit: after a rewrite only the new text is appended.
    TooLong,
}

impl Default for MessageText {
    fn default() -> MessageText {
        MessageText::All(String::new())
    }
}

/// End of the page, as far as the separator before the next message depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PageEnd {
    #[default]
    Empty,
    MidLine,
    LineEnd,
    BlankLine,
}

impl TextView {
    /// Applies one event and emits the text it adds.
    pub fn apply(&mut self, event: &Event<'_>, out: &mut impl FnMut(TextPatch<'_>)) {
        match event {
            Event::MessageStarted { .. }
            | Event::MessageEnded { .. }
            | Event::TextAppended { .. }
            | Event::TextRewritten { .. } => self.apply_in_order(event, out),
            Event::Withdrawn { messages, .. } if !messages.is_empty() => {
                let shown = messages.iter().filter(|id| !self.order.is_waiting(**id)).count();
                if 0 < shown {
                    out(TextPatch::Withdrawn { messages: shown });
                }
                self.apply_in_order(event, out);
            }
            Event::RunEnded { .. } => {
                self.apply_in_order(event, out);
                if self.page_end == PageEnd::MidLine {
                    out(TextPatch::Append("\n"));
                    self.page_end = PageEnd::LineEnd;
                }
            }
            // Not text.
            Event::SourceCited { .. }
            | Event::ImageReceived { .. }
            | Event::FinalDeclared { .. }
            | Event::Withdrawn { .. }
            | Event::RunStarted { .. }
            | event_family!(Prompt)
            | event_family!(Round)
            | event_family!(Reasoning)
            | event_family!(Tool)
            | event_family!(Ask)
            | event_family!(Request)
            | event_family!(Notice)
            | event_family!(Internal) => {}
        }
    }

    /// Applies an event of a message, when its turn has come.
    fn apply_in_order(&mut self, event: &Event<'_>, out: &mut impl FnMut(TextPatch<'_>)) {
        let mut order = std::mem::take(&mut self.order);
        order.apply(event, &mut |ordered| match ordered {
            OrderedText::Appended { message, text } => self.append_text(message, text, out),
            OrderedText::Rewritten { message, kept_bytes, text } => {
                self.rewrite_text(message, kept_bytes, text, out);
            }
        });
        self.order = order;
    }

    /// Says a rewritten message again, whole.
    fn rewrite_text(
        &mut self,
        message: MessageId,
        kept_bytes: usize,
        text: &str,
        out: &mut impl FnMut(TextPatch<'_>),
    ) {
        out(TextPatch::Rewritten);
        let mut whole = match std::mem::take(&mut self.message_text) {
            MessageText::All(said) => said,
            MessageText::TooLong => String::new(),
        };
        super::truncate_and_append(&mut whole, kept_bytes, text);
        self.message = None;
        self.append_text(message, &whole, out);
    }

    /// Appends text of a message, after a separator if the message is new.
    fn append_text(&mut self, message: MessageId, text: &str, out: &mut impl FnMut(TextPatch<'_>)) {
        if self.message.replace(message) != Some(message) {
            self.message_text = MessageText::default();
            self.append_missing_newlines(text, out);
        }
        match &mut self.message_text {
            MessageText::All(said) if said.len() + text.len() <= FRAME_BYTES_MAX => {
                said.push_str(text);
            }
            MessageText::All(_) | MessageText::TooLong => self.message_text = MessageText::TooLong,
        }
        out(TextPatch::Append(text));
        for byte in text.bytes() {
            self.page_end = match (byte, self.page_end) {
                (b'\r', page) => page,
                (b'\n', PageEnd::Empty | PageEnd::LineEnd | PageEnd::BlankLine) => {
                    PageEnd::BlankLine
                }
                (b'\n', PageEnd::MidLine) => PageEnd::LineEnd,
                _ => PageEnd::MidLine,
            };
        }
    }

    /// Appends the newlines that are missing for a blank line before `text`.
    fn append_missing_newlines(&mut self, text: &str, out: &mut impl FnMut(TextPatch<'_>)) {
        let missing = match self.page_end {
            PageEnd::Empty | PageEnd::BlankLine => 0,
            PageEnd::LineEnd => 1,
            PageEnd::MidLine => 2,
        };
        let own = text.bytes().take_while(u8::is_ascii_whitespace).filter(|&byte| byte == b'\n');
        for _ in own.count()..missing {
            out(TextPatch::Append("\n"));
            self.page_end = PageEnd::BlankLine;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Ending, Outcome, Reply};

    fn rendered_text(messages: &[&[&str]]) -> String {
        let mut view = TextView::default();
        let mut page = String::new();
        for (id, texts) in (0..).zip(messages) {
            for text in *texts {
                let event = Event::TextAppended { message: MessageId(id), text: (*text).into() };
                view.apply(&event, &mut |patch| match patch {
                    TextPatch::Append(text) => page.push_str(text),
                    TextPatch::Withdrawn { .. } | TextPatch::Rewritten => panic!("{patch:?}"),
                });
            }
        }
        page
    }

    #[test]
    fn one_blank_line_stands_between_messages() {
        assert_eq!(rendered_text(&[&["A"], &["B"]]), "A\n\nB");
        assert_eq!(rendered_text(&[&["A\n"], &["B"]]), "A\n\nB");
        assert_eq!(rendered_text(&[&["A\r\n\r\n"], &["B"]]), "A\r\n\r\nB");
        assert_eq!(rendered_text(&[&["A"], &["\n\nB"]]), "A\n\nB");
        assert_eq!(rendered_text(&[&["A", "a"], &["\n", "B", "b"], &["C"]]), "Aa\n\nBb\n\nC");
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
                TextPatch::Append(text) => page.push_str(text),
                TextPatch::Rewritten => page.push_str("<changed>"),
                TextPatch::Withdrawn { .. } => panic!("{patch:?}"),
            });
        }
        assert_eq!(page, "The oak.<changed>\n\nThe ash.");
    }

    fn describe_patches(events: &[Event<'_>]) -> Vec<String> {
        let mut view = TextView::default();
        let mut patches = Vec::new();
        for event in events {
            view.apply(event, &mut |patch| {
                patches.push(match patch {
                    TextPatch::Append(text) => text.to_owned(),
                    TextPatch::Rewritten => "<changed>".to_owned(),
                    TextPatch::Withdrawn { messages } => format!("<{messages} withdrawn>"),
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
        assert_eq!(describe_patches(&[said("a"), ended()]), ["a", "\n"]);
        assert_eq!(describe_patches(&[said("a\n"), ended()]), ["a\n"]);
        assert_eq!(describe_patches(&[ended()]), [""; 0]);
        let withdrawn = |messages| Event::Withdrawn { messages, steps: Vec::new() };
        assert_eq!(describe_patches(&[withdrawn(vec![MessageId(0)])]), ["<1 withdrawn>"]);
        assert_eq!(describe_patches(&[withdrawn(Vec::new())]), [""; 0]);
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
            let told = describe_patches(&events);
            assert_eq!(told.last().map(String::as_str), Some("z"), "{texts:?}");
        }
        let fits = Event::TextAppended { message, text: "y".repeat(FRAME_BYTES_MAX).into() };
        assert_eq!(describe_patches(&[fits, rewritten()]).last().map(String::as_str), Some("yyz"));
    }
}
