//! In what two streams of one session can differ, and how a cursor spells it.

use crate::view::{Thinking, ViewName};

/// Format of a stream's frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrameFormat {
    /// Frames as the view's specification defines them.
    #[default]
    Native,
    /// Patches to a page, the same for all views.
    Patch,
}

/// Content of native text frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContentMode {
    /// The message so far.
    #[default]
    Accumulated,
    /// Only new text.
    Delta,
}

/// Everything in which two streams of one session can differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamKind {
    /// The view.
    pub view: ViewName,
    /// Format of the frames.
    pub format: FrameFormat,
    /// Content of native text frames.
    pub content: ContentMode,
    /// Visibility of the thinking.
    pub thinking: Thinking,
}

impl StreamKind {
    /// Native frames of a view, with default options.
    pub fn new(view: ViewName) -> StreamKind {
        StreamKind {
            view,
            format: FrameFormat::default(),
            content: ContentMode::default(),
            thinking: Thinking::default(),
        }
    }

    /// Appends the prefix of a cursor: a letter for view and format, and two more characters for
    /// options that are not the default.
    pub(super) fn write_cursor_prefix(self, out: &mut String) {
        let letter = view_letter(self.view);
        out.push(match self.format {
            FrameFormat::Native => letter,
            FrameFormat::Patch => letter.to_ascii_uppercase(),
        });
        if let Some(letter) = option_letter(self.content, self.thinking) {
            out.push('-');
            out.push(letter);
        }
    }

    /// Parses the prefix of a cursor; returns the rest.
    pub(super) fn parse_cursor_prefix(text: &str) -> Option<(StreamKind, &str)> {
        let letter = text.chars().next()?;
        let lower = letter.to_ascii_lowercase();
        let view = ViewName::ALL.into_iter().find(|view| view_letter(*view) == lower)?;
        let format =
            if letter.is_ascii_lowercase() { FrameFormat::Native } else { FrameFormat::Patch };
        let rest = &text[1..];
        let (options, rest) = match rest.strip_prefix('-') {
            None => (None, rest),
            Some(rest) => (Some(rest.chars().next().filter(char::is_ascii)?), &rest[1..]),
        };
        let (content, thinking) = all_options()
            .find(|(content, thinking)| option_letter(*content, *thinking) == options)?;
        Some((StreamKind { view, format, content, thinking }, rest))
    }
}

/// Letter of a view in cursors; upper case for patch frames.
fn view_letter(view: ViewName) -> char {
    match view {
        ViewName::Latest => 'l',
        ViewName::Steps => 's',
        ViewName::Bubbles => 'b',
        ViewName::Transcript => 't',
        ViewName::Sentences => 'f',
    }
}

/// Letter of a stream's options in cursors; `None` for the default options.
fn option_letter(content: ContentMode, thinking: Thinking) -> Option<char> {
    match (content, thinking) {
        (ContentMode::Accumulated, Thinking::ViewDefault) => None,
        (ContentMode::Accumulated, Thinking::Hide) => Some('a'),
        (ContentMode::Accumulated, Thinking::Latest) => Some('b'),
        (ContentMode::Accumulated, Thinking::Show) => Some('c'),
        (ContentMode::Delta, Thinking::ViewDefault) => Some('d'),
        (ContentMode::Delta, Thinking::Hide) => Some('e'),
        (ContentMode::Delta, Thinking::Latest) => Some('f'),
        (ContentMode::Delta, Thinking::Show) => Some('g'),
    }
}

/// All combinations of the options of a stream.
fn all_options() -> impl Iterator<Item = (ContentMode, Thinking)> {
    let thinking = [Thinking::ViewDefault, Thinking::Hide, Thinking::Latest, Thinking::Show];
    [ContentMode::Accumulated, ContentMode::Delta]
        .into_iter()
        .flat_map(move |content| thinking.map(|thinking| (content, thinking)))
}
