//! Inline Markdown as it arrives: emphasis, code, links, breaks.
//!
//! Emphasis follows the delimiter stack of `CommonMark`, which reads from left to right. What cannot be
//! decided yet (a `**` without its end) is held, but only for so many bytes: then it is text, for
//! good. That depends on the text and the size of the screen alone, so chunk boundaries and time
//! never show.

mod emphasis;
mod link;
mod token;

use std::collections::VecDeque;

use crate::inline::link::Drop;
use crate::limits::held_bytes_max;
use crate::links::{Link, Links};
use crate::size::Size;
use crate::style::{Attributes, Colour, Style};

const CODE: Style = Style::coloured(Colour::Cyan);

/// What can still come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// More text.
    Open,
    /// More text, but this is how it looks now: what is open looks as if it were closed here.
    Shown,
    /// Nothing.
    Ended,
}

/// A piece that is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    Text(&'a str, Style, Option<&'a Link>),
    Break,
}

#[derive(Clone, Debug)]
enum Kind {
    Text,
    Break,
    Delimiter(Delimiter),
    /// `[` or `![`, as long as it may begin a link.
    Bracket(Bracket),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bracket {
    Link,
    Image,
}

/// A run of `*`, `_` or `~`.
#[derive(Clone, Copy, Debug)]
struct Delimiter {
    mark: char,
    /// What of it is not used up.
    len: usize,
    whole: usize,
    opens: bool,
    closes: bool,
    /// It could have done either when it was read.
    both: bool,
}

#[derive(Clone, Debug)]
struct Node {
    kind: Kind,
    text: String,
    style: Style,
    link: Option<Link>,
    /// What had been read before it.
    at: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Inline {
    /// From the first thing on that is not decided.
    held: VecDeque<Node>,
    /// What cannot be read before more of it is there.
    unread: String,
    before: char,
    read: usize,
    limit: usize,
    /// What a line break counts as: it takes a row.
    cols: usize,
    links: Links,
}

impl Inline {
    pub(crate) fn new(size: Size, links: Links) -> Inline {
        Inline {
            held: VecDeque::new(),
            unread: String::new(),
            before: '\n',
            read: 0,
            limit: held_bytes_max(size),
            cols: size.width(),
            links,
        }
    }

    /// Appends text; a line end in it is one inside the paragraph.
    pub(crate) fn push(&mut self, text: &str, sink: &mut impl FnMut(Piece<'_>)) {
        self.unread.push_str(text);
        self.read_all(Ending::Open);
        self.drop_brackets(Drop::OutOfReach);
        self.flush(sink);
    }

    /// Decides everything that is held.
    pub(crate) fn finish(&mut self, ending: Ending, sink: &mut impl FnMut(Piece<'_>)) {
        self.read_all(ending);
        self.drop_brackets(Drop::All);
        if ending == Ending::Shown {
            self.close_open();
        }
        self.merge();
        for node in self.held.drain(..) {
            emit(&node, sink);
        }
    }

    /// Joins what looks alike: text in a few large pieces is wrapped faster than in many small ones.
    fn merge(&mut self) {
        let mut merged: VecDeque<Node> = VecDeque::new();
        for mut node in self.held.drain(..) {
            match node.kind {
                Kind::Delimiter(delimiter) => {
                    node.text.truncate(delimiter.len * delimiter.mark.len_utf8());
                    node.kind = Kind::Text;
                }
                Kind::Bracket(_) => node.kind = Kind::Text,
                Kind::Text | Kind::Break => {}
            }
            match merged.back_mut() {
                Some(Node { kind: Kind::Text, text, style, link, .. })
                    if matches!(node.kind, Kind::Text)
                        && *style == node.style
                        && *link == node.link =>
                {
                    text.push_str(&node.text);
                }
                _ => merged.push_back(node),
            }
        }
        self.held = merged;
    }

    pub(crate) fn set_size(&mut self, size: Size) {
        self.limit = held_bytes_max(size);
        self.cols = size.width();
    }

    fn read_all(&mut self, ending: Ending) {
        let unread = std::mem::take(&mut self.unread);
        let mut at = 0;
        while at < unread.len() {
            let Some(bytes) = self.token(&unread[at..], ending) else { break };
            let last = unread[at..at + bytes].chars().next_back();
            self.before = last.unwrap_or(self.before);
            self.read += bytes;
            at += bytes;
        }
        self.unread = if at == 0 { unread } else { unread[at..].to_owned() };
    }

    /// Hands out everything before the first thing that is undecided.
    fn flush(&mut self, sink: &mut impl FnMut(Piece<'_>)) {
        while let Some(node) = self.held.front() {
            if self.is_undecided(node) {
                return;
            }
            emit(node, sink);
            self.held.pop_front();
        }
    }

    fn is_undecided(&self, node: &Node) -> bool {
        let may_open = match &node.kind {
            Kind::Delimiter(delimiter) => delimiter.opens && delimiter.len > 0,
            Kind::Bracket(_) => true,
            Kind::Text | Kind::Break => false,
        };
        may_open && (self.is_in_reach(node) || self.has_bracket_near(node))
    }

    /// What stands inside a bracket may end it, but is not looked at before the bracket is decided.
    fn has_bracket_near(&self, opener: &Node) -> bool {
        let near = |node: &Node| node.at.saturating_sub(opener.at) <= self.limit;
        self.held.iter().any(|node| matches!(node.kind, Kind::Bracket(_)) && near(node))
    }

    /// Whether what is read now may still end what began there.
    fn is_in_reach(&self, node: &Node) -> bool {
        self.read - node.at <= self.limit
    }

    fn text(&mut self, text: &str, style: Style, link: Option<Link>) {
        if let Some(Node { kind: Kind::Text, text: before, style: same, link: None, .. }) =
            self.held.back_mut()
            && link.is_none()
            && *same == style
        {
            before.push_str(text);
            return;
        }
        self.node(Kind::Text, text, style, link);
    }

    fn node(&mut self, kind: Kind, text: &str, style: Style, link: Option<Link>) {
        self.held.push_back(Node { kind, text: text.to_owned(), style, link, at: self.read });
    }

    /// What is open looks as if it were closed here.
    fn close_open(&mut self) {
        let mut open = Attributes::NONE;
        for index in 0..self.held.len() {
            let node = &self.held[index];
            let opens = match node.kind {
                Kind::Delimiter(delimiter) if self.is_undecided(node) => {
                    emphasis::attributes(delimiter.mark, delimiter.len)
                }
                _ => Attributes::NONE,
            };
            let node = &mut self.held[index];
            node.style = node.style.with(open);
            if opens != Attributes::NONE {
                node.kind = Kind::Text;
                node.text.clear();
                open = open | opens;
            }
        }
    }
}

fn emit(node: &Node, sink: &mut impl FnMut(Piece<'_>)) {
    match &node.kind {
        Kind::Break => sink(Piece::Break),
        Kind::Text | Kind::Bracket(_) => {
            sink(Piece::Text(&node.text, node.style, node.link.as_ref()));
        }
        Kind::Delimiter(delimiter) => {
            let text = &node.text[..delimiter.len * delimiter.mark.len_utf8()];
            sink(Piece::Text(text, node.style, node.link.as_ref()));
        }
    }
}

const LINK: Attributes = Attributes::UNDERLINE;

#[cfg(test)]
#[path = "inline_tests.rs"]
mod tests;
