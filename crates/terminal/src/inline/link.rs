//! Links and images: `[text](address "title")`.

use super::{BracketKind, Ending, HeldNode, InlineParser, LINK_ATTRIBUTES, NodeKind};
use crate::hyperlinks::{Hyperlink, HyperlinkMode};
use crate::limits::URL_BYTES_MAX;
use crate::style::Style;

/// Which brackets become text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BracketsToDrop {
    OutOfReach,
    All,
}

/// More text may change the answer.
struct NeedsMoreText;

/// Result of reading what follows the `]` of a link.
enum LinkTarget {
    /// An address, and the bytes it takes.
    Complete(String, usize),
    /// More text may complete it.
    Partial,
    NotATarget,
}

impl InlineParser {
    pub(super) fn read_closing_bracket(&mut self, rest: &str, ending: Ending) -> Option<usize> {
        self.turn_brackets_into_text(BracketsToDrop::OutOfReach);
        let is_open = |node: &HeldNode| matches!(node.kind, NodeKind::Bracket(_));
        let Some(index) = self.held.iter().rposition(is_open) else {
            return Some(self.push_text_in_place_of_source("]", "]"));
        };
        if rest == "]" && ending == Ending::MoreFollows {
            return None;
        }
        match parse_link_target(&rest[1..], URL_BYTES_MAX.min(self.held_bytes_max)) {
            LinkTarget::Complete(url, bytes) => {
                self.turn_bracket_into_link(index, &url);
                Some(1 + bytes)
            }
            LinkTarget::Partial if ending == Ending::MoreFollows => None,
            LinkTarget::Partial if ending == Ending::Preview => {
                self.turn_bracket_into_link(index, "");
                Some(rest.len())
            }
            LinkTarget::Partial | LinkTarget::NotATarget => {
                self.held[index].kind = NodeKind::Text;
                self.match_closers_before_first_bracket();
                Some(self.push_text_in_place_of_source("]", "]"))
            }
        }
    }

    fn turn_bracket_into_link(&mut self, index: usize, url: &str) {
        self.match_closers_from(index + 1);
        let bracket = match self.held[index].kind {
            NodeKind::Bracket(bracket) => bracket,
            _ => BracketKind::Link,
        };
        self.held[index].kind = NodeKind::Text;
        self.held[index].text.clear();
        if bracket == BracketKind::Image {
            let bare = self.held.len() == index + 1;
            self.held[index].text.push_str(if bare { "[image" } else { "[image: " });
            self.push_or_merge_text_node("]", Style::PLAIN, None);
        }
        let link = Hyperlink::parse(url);
        let behind = link.is_some() && self.links == HyperlinkMode::Osc8;
        let mut said = String::new();
        for node in self.held.range_mut(index..) {
            if let NodeKind::Delimiter(delimiter) = &mut node.kind {
                delimiter.can_open = false;
                delimiter.can_close = false;
            }
            node.style = node.style.with_attributes(LINK_ATTRIBUTES);
            if behind && node.link.is_none() {
                node.link.clone_from(&link);
            }
            said.push_str(&node.text);
        }
        if bracket == BracketKind::Link {
            self.turn_outer_brackets_into_text(index);
        }
        if !behind && !url.is_empty() && said != url && url != format!("mailto:{said}") {
            self.push_or_merge_text_node(&format!(" ({url})"), Style::DIM, None);
        }
        self.match_closers_before_first_bracket();
    }

    /// Turns brackets that cannot start a link into text, and matches the emphasis around them.
    pub(super) fn turn_brackets_into_text(&mut self, drop: BracketsToDrop) {
        let mut dropped = false;
        for index in 0..self.held.len() {
            let node = &self.held[index];
            let keep = drop == BracketsToDrop::OutOfReach && self.is_within_limit(node);
            if matches!(node.kind, NodeKind::Bracket(_)) && !keep {
                self.held[index].kind = NodeKind::Text;
                dropped = true;
            }
        }
        if dropped {
            self.match_closers_before_first_bracket();
        }
    }

    /// Turns link brackets before `index` into text: links do not nest.
    fn turn_outer_brackets_into_text(&mut self, index: usize) {
        for node in self.held.range_mut(..index) {
            if matches!(node.kind, NodeKind::Bracket(BracketKind::Link)) {
                node.kind = NodeKind::Text;
            }
        }
    }
}

fn parse_link_target(rest: &str, max: usize) -> LinkTarget {
    if !rest.starts_with('(') {
        return LinkTarget::NotATarget;
    }
    let seen = (0..=max.min(rest.len())).rev().find(|&at| rest.is_char_boundary(at)).unwrap_or(0);
    match parse_address_and_title(&rest[1..seen]) {
        Ok(Some((url, bytes))) => LinkTarget::Complete(url, bytes + 1),
        Ok(None) => LinkTarget::NotATarget,
        Err(NeedsMoreText) if seen < rest.len() => LinkTarget::NotATarget,
        Err(NeedsMoreText) => LinkTarget::Partial,
    }
}

/// Reads `address "title")`.
fn parse_address_and_title(rest: &str) -> Result<Option<(String, usize)>, NeedsMoreText> {
    let blank = [' ', '\n', '\t'];
    let start = rest.len() - rest.trim_start_matches(blank).len();
    let Some(len) = address_len(&rest[start..])? else { return Ok(None) };
    let address = &rest[start..start + len];
    let url = address.strip_prefix('<').and_then(|url| url.strip_suffix('>')).unwrap_or(address);
    let after = &rest[start + len..];
    let title = after.trim_start_matches(blank);
    let mut end = rest.len() - title.len();
    if let Some(quote @ ('"' | '\'' | '(')) = title.chars().next() {
        if title.len() == after.len() {
            return Ok(None);
        }
        let close = if quote == '(' { ')' } else { quote };
        let inner = &title[1..];
        let inner_len = find_unescaped(inner, close).ok_or(NeedsMoreText)?;
        let tail = &inner[inner_len + 1..];
        end = rest.len() - tail.trim_start_matches(blank).len();
    }
    match rest[end..].chars().next() {
        Some(')') => Ok(Some((unescape(url), end + 1))),
        Some(_) => Ok(None),
        None => Err(NeedsMoreText),
    }
}

/// Returns the length of the address: up to white space or an unbalanced `)`.
fn address_len(rest: &str) -> Result<Option<usize>, NeedsMoreText> {
    if let Some(inner) = rest.strip_prefix('<') {
        let end = inner.find(['>', '\n', '<']).ok_or(NeedsMoreText)?;
        return Ok(inner[end..].starts_with('>').then_some(end + 2));
    }
    let mut depth = 0;
    let mut escaped = false;
    for (at, char) in rest.char_indices() {
        match char {
            _ if std::mem::take(&mut escaped) => {}
            '\\' => escaped = true,
            '(' => depth += 1,
            ')' if depth == 0 => return Ok(Some(at)),
            ')' => depth -= 1,
            ' ' | '\n' | '\t' => return Ok((depth == 0).then_some(at)),
            _ => {}
        }
    }
    Err(NeedsMoreText)
}

fn find_unescaped(text: &str, close: char) -> Option<usize> {
    let mut escaped = false;
    for (at, char) in text.char_indices() {
        match char {
            _ if std::mem::take(&mut escaped) => {}
            '\\' => escaped = true,
            _ if char == close => return Some(at),
            _ => {}
        }
    }
    None
}

fn unescape(url: &str) -> String {
    let mut out = String::with_capacity(url.len());
    let mut chars = url.chars().peekable();
    while let Some(char) = chars.next() {
        match chars.peek() {
            Some(next) if char == '\\' && next.is_ascii_punctuation() => {}
            _ => out.push(char),
        }
    }
    out
}
