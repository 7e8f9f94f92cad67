//! Links and images: `[text](address "title")`.

use super::{Bracket, Ending, Inline, Kind, LINK, Node};
use crate::limits::URL_BYTES_MAX;
use crate::links::{Link, Links};
use crate::style::Style;

/// Which brackets are given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Drop {
    OutOfReach,
    All,
}

/// More text may change the answer.
struct NotYet;

/// What follows the `]` of a link.
enum Target {
    /// An address, and the bytes that say it.
    Whole(String, usize),
    /// It may become one.
    Partial,
    None,
}

impl Inline {
    pub(super) fn closing_bracket(&mut self, rest: &str, ending: Ending) -> Option<usize> {
        self.drop_brackets(Drop::OutOfReach);
        let is_open = |node: &Node| matches!(node.kind, Kind::Bracket(_));
        let Some(index) = self.held.iter().rposition(is_open) else {
            return Some(self.plain("]", "]"));
        };
        if rest == "]" && ending == Ending::Open {
            return None;
        }
        match target(&rest[1..], URL_BYTES_MAX.min(self.limit)) {
            Target::Whole(url, bytes) => {
                self.make_link(index, &url);
                Some(1 + bytes)
            }
            Target::Partial if ending == Ending::Open => None,
            Target::Partial if ending == Ending::Shown => {
                self.make_link(index, "");
                Some(rest.len())
            }
            Target::Partial | Target::None => {
                self.held[index].kind = Kind::Text;
                self.close_outside_brackets();
                Some(self.plain("]", "]"))
            }
        }
    }

    fn make_link(&mut self, index: usize, url: &str) {
        self.close_all(index + 1);
        let bracket = match self.held[index].kind {
            Kind::Bracket(bracket) => bracket,
            _ => Bracket::Link,
        };
        self.held[index].kind = Kind::Text;
        self.held[index].text.clear();
        if bracket == Bracket::Image {
            let bare = self.held.len() == index + 1;
            self.held[index].text.push_str(if bare { "[image" } else { "[image: " });
            self.text("]", Style::PLAIN, None);
        }
        let link = Link::parse(url);
        let behind = link.is_some() && self.links == Links::Behind;
        let mut said = String::new();
        for node in self.held.range_mut(index..) {
            if let Kind::Delimiter(delimiter) = &mut node.kind {
                delimiter.opens = false;
                delimiter.closes = false;
            }
            node.style = node.style.with(LINK);
            if behind && node.link.is_none() {
                node.link.clone_from(&link);
            }
            said.push_str(&node.text);
        }
        if bracket == Bracket::Link {
            self.no_links_before(index);
        }
        if !behind && !url.is_empty() && said != url && url != format!("mailto:{said}") {
            self.text(&format!(" ({url})"), Style::DIM, None);
        }
        self.close_outside_brackets();
    }

    /// What can begin no link any more is text; emphasis around it is then decided.
    pub(super) fn drop_brackets(&mut self, drop: Drop) {
        let mut dropped = false;
        for index in 0..self.held.len() {
            let node = &self.held[index];
            let keep = drop == Drop::OutOfReach && self.is_in_reach(node);
            if matches!(node.kind, Kind::Bracket(_)) && !keep {
                self.held[index].kind = Kind::Text;
                dropped = true;
            }
        }
        if dropped {
            self.close_outside_brackets();
        }
    }

    /// A link holds no link.
    fn no_links_before(&mut self, index: usize) {
        for node in self.held.range_mut(..index) {
            if matches!(node.kind, Kind::Bracket(Bracket::Link)) {
                node.kind = Kind::Text;
            }
        }
    }
}

fn target(rest: &str, max: usize) -> Target {
    if !rest.starts_with('(') {
        return Target::None;
    }
    let seen = (0..=max.min(rest.len())).rev().find(|&at| rest.is_char_boundary(at)).unwrap_or(0);
    match whole_target(&rest[1..seen]) {
        Ok(Some((url, bytes))) => Target::Whole(url, bytes + 1),
        Ok(None) => Target::None,
        Err(NotYet) if seen < rest.len() => Target::None,
        Err(NotYet) => Target::Partial,
    }
}

/// Reads `address "title")`.
fn whole_target(rest: &str) -> Result<Option<(String, usize)>, NotYet> {
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
        let inner_len = ends_at(inner, close).ok_or(NotYet)?;
        let tail = &inner[inner_len + 1..];
        end = rest.len() - tail.trim_start_matches(blank).len();
    }
    match rest[end..].chars().next() {
        Some(')') => Ok(Some((unescaped(url), end + 1))),
        Some(_) => Ok(None),
        None => Err(NotYet),
    }
}

/// Bytes of the address: up to white space or the parenthesis that was not opened in it.
fn address_len(rest: &str) -> Result<Option<usize>, NotYet> {
    if let Some(inner) = rest.strip_prefix('<') {
        let end = inner.find(['>', '\n', '<']).ok_or(NotYet)?;
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
    Err(NotYet)
}

fn ends_at(text: &str, close: char) -> Option<usize> {
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

fn unescaped(url: &str) -> String {
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
