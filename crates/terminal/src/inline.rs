//! Incremental parser for inline Markdown: emphasis, code spans, links, line breaks.
//!
//! Emphasis follows the delimiter stack of `CommonMark`. Undecided input (a `**` without its end)
//! is held for a limited number of bytes and then becomes text for good. The limit depends only on
//! the size of the screen, so chunk boundaries and timing never show.

mod emphasis;
mod link;
mod token;

use std::collections::VecDeque;

use crate::hyperlinks::{Hyperlink, HyperlinkMode};
use crate::inline::link::BracketsToDrop;
use crate::limits::held_bytes_max;
use crate::size::Size;
use crate::style::{Attributes, Colour, Style};

/// Bytes that are read before what is decided is emitted.
const PART_BYTES_MAX: usize = 128;

const CODE_STYLE: Style = Style::coloured(Colour::Cyan);

/// End of the text read so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// More text.
    MoreFollows,
    /// More text; rendered as a preview in which open constructs look closed.
    Preview,
    /// Nothing.
    Final,
}

/// Decided output of the parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InlinePiece<'a> {
    Text(&'a str, Style, Option<&'a Hyperlink>),
    Break,
}

#[derive(Clone, Debug)]
enum NodeKind {
    Text,
    Break,
    Delimiter(DelimiterRun),
    /// `[` or `![` that may still start a link.
    Bracket(BracketKind),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BracketKind {
    Link,
    Image,
}

/// A run of `*`, `_` or `~`.
#[derive(Clone, Copy, Debug)]
struct DelimiterRun {
    mark: char,
    /// Characters not yet matched.
    unmatched_len: usize,
    original_len: usize,
    can_open: bool,
    can_close: bool,
    /// It could both open and close when it was read.
    can_both: bool,
}

#[derive(Clone, Debug)]
struct HeldNode {
    kind: NodeKind,
    text: String,
    style: Style,
    link: Option<Hyperlink>,
    /// Bytes read before it.
    bytes_before: usize,
}

/// Incremental parser of one block's inline text.
#[derive(Clone, Debug)]
pub(crate) struct InlineParser {
    /// Nodes from the first undecided one on.
    held: VecDeque<HeldNode>,
    /// The start of an incomplete token.
    unread: String,
    previous_char: char,
    bytes_read: usize,
    held_bytes_max: usize,
    /// Bytes that a line break counts as, because it takes a row.
    cols: usize,
    links: HyperlinkMode,
}

impl InlineParser {
    pub(crate) fn new(size: Size, links: HyperlinkMode) -> InlineParser {
        InlineParser {
            held: VecDeque::new(),
            unread: String::new(),
            previous_char: '\n',
            bytes_read: 0,
            held_bytes_max: held_bytes_max(size),
            cols: size.width(),
            links,
        }
    }

    /// Appends text and emits what is decided; line ends are soft breaks. Long text is read in
    /// parts, because the cost of a token grows with what is held.
    pub(crate) fn push(&mut self, text: &str, sink: &mut impl FnMut(InlinePiece<'_>)) {
        let mut rest = text;
        while !rest.is_empty() {
            let (part, after) = rest.split_at(rest.floor_char_boundary(PART_BYTES_MAX));
            self.unread.push_str(part);
            self.read_tokens_and_match_pairs(Ending::MoreFollows);
            self.turn_brackets_into_text(BracketsToDrop::OutOfReach);
            self.emit_decided(sink);
            rest = after;
        }
    }

    /// Decides and emits everything that is held.
    pub(crate) fn finish(&mut self, ending: Ending, sink: &mut impl FnMut(InlinePiece<'_>)) {
        self.read_tokens_and_match_pairs(ending);
        self.turn_brackets_into_text(BracketsToDrop::All);
        if ending == Ending::Preview {
            self.style_open_emphasis_as_closed();
        }
        self.merge_held_nodes_as_text();
        for node in self.held.drain(..) {
            emit_node(&node, sink);
        }
    }

    /// Joins adjacent text of the same style: a few large pieces wrap faster than many small ones.
    fn merge_held_nodes_as_text(&mut self) {
        let mut merged: VecDeque<HeldNode> = VecDeque::new();
        for mut node in self.held.drain(..) {
            match node.kind {
                NodeKind::Delimiter(delimiter) => {
                    node.text.truncate(delimiter.unmatched_len * delimiter.mark.len_utf8());
                    node.kind = NodeKind::Text;
                }
                NodeKind::Bracket(_) => node.kind = NodeKind::Text,
                NodeKind::Text | NodeKind::Break => {}
            }
            match merged.back_mut() {
                Some(HeldNode { kind: NodeKind::Text, text, style, link, .. })
                    if matches!(node.kind, NodeKind::Text)
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
        self.held_bytes_max = held_bytes_max(size);
        self.cols = size.width();
    }

    fn read_tokens_and_match_pairs(&mut self, ending: Ending) {
        let unread = std::mem::take(&mut self.unread);
        let mut at = 0;
        while at < unread.len() {
            let Some(bytes) = self.push_token_and_return_length(&unread[at..], ending) else {
                break;
            };
            let last = unread[at..at + bytes].chars().next_back();
            self.previous_char = last.unwrap_or(self.previous_char);
            self.bytes_read += bytes;
            at += bytes;
        }
        self.unread = if at == 0 { unread } else { unread[at..].to_owned() };
    }

    /// Emits every node before the first undecided one.
    fn emit_decided(&mut self, sink: &mut impl FnMut(InlinePiece<'_>)) {
        while let Some(node) = self.held.front() {
            if self.is_undecided(node) {
                return;
            }
            emit_node(node, sink);
            self.held.pop_front();
        }
    }

    fn is_undecided(&self, node: &HeldNode) -> bool {
        let may_open = match &node.kind {
            NodeKind::Delimiter(delimiter) => delimiter.can_open && delimiter.unmatched_len > 0,
            NodeKind::Bracket(_) => true,
            NodeKind::Text | NodeKind::Break => false,
        };
        may_open && (self.is_within_limit(node) || self.has_bracket_within_limit(node))
    }

    /// Returns true if a bracket within the limit may hide a closer of `opener`: closers inside a
    /// bracket are matched only once the bracket is decided.
    fn has_bracket_within_limit(&self, opener: &HeldNode) -> bool {
        let near = |node: &HeldNode| {
            node.bytes_before.saturating_sub(opener.bytes_before) <= self.held_bytes_max
        };
        self.held.iter().any(|node| matches!(node.kind, NodeKind::Bracket(_)) && near(node))
    }

    /// Returns true if text read now may still close the node.
    fn is_within_limit(&self, node: &HeldNode) -> bool {
        self.bytes_read - node.bytes_before <= self.held_bytes_max
    }

    fn push_or_merge_text_node(&mut self, text: &str, style: Style, link: Option<Hyperlink>) {
        if let Some(HeldNode {
            kind: NodeKind::Text, text: before, style: same, link: None, ..
        }) = self.held.back_mut()
            && link.is_none()
            && *same == style
        {
            before.push_str(text);
            return;
        }
        self.push_node(NodeKind::Text, text, style, link);
    }

    fn push_node(&mut self, kind: NodeKind, text: &str, style: Style, link: Option<Hyperlink>) {
        self.held.push_back(HeldNode {
            kind,
            text: text.to_owned(),
            style,
            link,
            bytes_before: self.bytes_read,
        });
    }

    /// Styles open emphasis as if it ended here, for a preview.
    fn style_open_emphasis_as_closed(&mut self) {
        let mut open = Attributes::NONE;
        for index in 0..self.held.len() {
            let node = &self.held[index];
            let opens = match node.kind {
                NodeKind::Delimiter(delimiter) if self.is_undecided(node) => {
                    emphasis::emphasis_attributes(delimiter.mark, delimiter.unmatched_len)
                }
                _ => Attributes::NONE,
            };
            let node = &mut self.held[index];
            node.style = node.style.with_attributes(open);
            if opens != Attributes::NONE {
                node.kind = NodeKind::Text;
                node.text.clear();
                open = open | opens;
            }
        }
    }
}

fn emit_node(node: &HeldNode, sink: &mut impl FnMut(InlinePiece<'_>)) {
    match &node.kind {
        NodeKind::Break => sink(InlinePiece::Break),
        NodeKind::Text | NodeKind::Bracket(_) => {
            sink(InlinePiece::Text(&node.text, node.style, node.link.as_ref()));
        }
        NodeKind::Delimiter(delimiter) => {
            let text = &node.text[..delimiter.unmatched_len * delimiter.mark.len_utf8()];
            sink(InlinePiece::Text(text, node.style, node.link.as_ref()));
        }
    }
}

const LINK_ATTRIBUTES: Attributes = Attributes::UNDERLINE;

#[cfg(test)]
#[path = "inline_tests.rs"]
mod tests;
