//! Tokens of inline Markdown, read one at a time.

use super::emphasis::classify_delimiter_run;
use super::link::BracketsToDrop;
use super::{
    BracketKind, CODE_STYLE, DelimiterRun, Ending, InlineParser, LINK_ATTRIBUTES, NodeKind,
};
use crate::hyperlinks::Hyperlink;
use crate::limits::{ENTITY_BYTES_MAX, URL_BYTES_MAX};
use crate::style::Style;
use crate::text::neutralise;

/// Characters that start a token.
const SPECIAL_CHARS: [char; 11] = ['\\', '`', '*', '_', '~', '[', ']', '!', '<', '&', '\n'];

impl InlineParser {
    /// Reads the token at the start of `rest` and returns its length; `None` if it may continue.
    pub(super) fn push_token_and_return_length(
        &mut self,
        rest: &str,
        ending: Ending,
    ) -> Option<usize> {
        match rest.chars().next()? {
            ' ' => self.read_spaces(rest, ending),
            '\n' => Some(self.push_text_in_place_of_source("\n", " ")),
            '\\' => self.read_escape(rest, ending),
            '`' => self.read_code_span(rest, ending),
            mark @ ('*' | '_' | '~') => self.read_delimiter_run(mark, rest, ending),
            '[' => Some(self.push_bracket(BracketKind::Link, "[")),
            '!' if rest == "!" && ending == Ending::MoreFollows => None,
            '!' if rest.starts_with("![") => Some(self.push_bracket(BracketKind::Image, "![")),
            ']' => self.read_closing_bracket(rest, ending),
            '<' => self.read_autolink(rest, ending),
            '&' => self.read_entity(rest, ending),
            first => {
                let from = first.len_utf8();
                let end = rest[from..].find(SPECIAL_CHARS).map_or(rest.len(), |at| from + at);
                let run = rest[..end].trim_end_matches(' ');
                Some(self.push_text_in_place_of_source(run, run))
            }
        }
    }

    /// Pushes `text` in place of `source`; returns the length of `source`.
    pub(super) fn push_text_in_place_of_source(&mut self, source: &str, text: &str) -> usize {
        self.push_or_merge_text_node(text, Style::PLAIN, None);
        source.len()
    }

    /// Reads spaces. Two before a line end are a hard break; others there are dropped.
    fn read_spaces(&mut self, rest: &str, ending: Ending) -> Option<usize> {
        let after = rest.trim_start_matches(' ');
        let spaces = (rest.len() - after.len()).min(self.held_bytes_max);
        if after.is_empty() && spaces < self.held_bytes_max {
            return (ending != Ending::MoreFollows).then_some(spaces);
        }
        if !after.starts_with('\n') || spaces == self.held_bytes_max {
            return Some(self.push_text_in_place_of_source(&rest[..spaces], &rest[..spaces]));
        }
        if spaces >= 2 {
            self.push_line_break();
        } else {
            self.push_or_merge_text_node(" ", Style::PLAIN, None);
        }
        Some(spaces + 1)
    }

    fn push_line_break(&mut self) {
        self.push_node(NodeKind::Break, "", Style::PLAIN, None);
        self.bytes_read += self.cols;
    }

    fn read_escape(&mut self, rest: &str, ending: Ending) -> Option<usize> {
        match rest[1..].chars().next() {
            None if ending == Ending::MoreFollows => None,
            Some('\n') => {
                self.push_line_break();
                Some(2)
            }
            Some(next) if next.is_ascii_punctuation() => {
                Some(self.push_text_in_place_of_source(&rest[..2], &rest[1..2]))
            }
            Some(_) | None => Some(self.push_text_in_place_of_source("\\", "\\")),
        }
    }

    /// Reads a code span. Decided when its end is found or is beyond the limit.
    fn read_code_span(&mut self, rest: &str, ending: Ending) -> Option<usize> {
        let ticks = count_leading(rest, '`').min(self.held_bytes_max);
        match find_code_span_end(rest, ticks, self.held_bytes_max, ending) {
            CodeSpanEnd::At(end) => {
                let inner = rest[ticks..end].replace('\n', " ");
                self.push_or_merge_text_node(trim_code_padding(&inner), CODE_STYLE, None);
                Some(end + ticks)
            }
            CodeSpanEnd::NotYet if ending == Ending::MoreFollows => None,
            CodeSpanEnd::NotYet if ending == Ending::Preview => {
                let inner = rest[ticks..].trim_end_matches('`').replace('\n', " ");
                self.push_or_merge_text_node(&inner, CODE_STYLE, None);
                Some(rest.len())
            }
            CodeSpanEnd::NotYet | CodeSpanEnd::Never => {
                Some(self.push_text_in_place_of_source(&rest[..ticks], &rest[..ticks]))
            }
        }
    }

    fn read_delimiter_run(&mut self, mark: char, rest: &str, ending: Ending) -> Option<usize> {
        let len = count_leading(rest, mark).min(self.held_bytes_max);
        let after = match (rest[len..].chars().next(), ending) {
            (Some(char), _) => char,
            (None, Ending::MoreFollows) if len < self.held_bytes_max => return None,
            // Undecided: the preview omits it.
            (None, Ending::Preview) => return Some(len),
            (None, Ending::MoreFollows | Ending::Final) => '\n',
        };
        let run = &rest[..len];
        let (opens, closes) = classify_delimiter_run(mark, self.previous_char, after);
        if mark == '~' && len != 2 {
            return Some(self.push_text_in_place_of_source(run, run));
        }
        let delimiter = DelimiterRun {
            mark,
            unmatched_len: len,
            original_len: len,
            can_open: opens,
            can_close: closes,
            can_both: opens && closes,
        };
        self.push_node(NodeKind::Delimiter(delimiter), run, Style::PLAIN, None);
        self.turn_brackets_into_text(BracketsToDrop::OutOfReach);
        if closes && !self.has_brackets() {
            self.match_closer(self.held.len() - 1, 0);
        }
        Some(len)
    }

    fn push_bracket(&mut self, bracket: BracketKind, text: &str) -> usize {
        self.push_node(NodeKind::Bracket(bracket), text, Style::PLAIN, None);
        text.len()
    }

    /// Reads `<https://...>`. Anything else in angle brackets is text.
    fn read_autolink(&mut self, rest: &str, ending: Ending) -> Option<usize> {
        let inside = &rest[1..];
        let end = inside.find([' ', '\n', '<', '>']).unwrap_or(inside.len());
        let max = URL_BYTES_MAX.min(self.held_bytes_max);
        let may_be = Hyperlink::may_become_link(&inside[..end]);
        if end == inside.len() && end <= max && may_be && ending == Ending::MoreFollows {
            return None;
        }
        match inside[end..].starts_with('>').then(|| Hyperlink::parse(&inside[..end])).flatten() {
            Some(link) if end <= max => {
                self.push_or_merge_text_node(
                    &inside[..end],
                    Style::PLAIN.with_attributes(LINK_ATTRIBUTES),
                    Some(link),
                );
                Some(end + 2)
            }
            Some(_) | None => Some(self.push_text_in_place_of_source("<", "<")),
        }
    }

    fn read_entity(&mut self, rest: &str, ending: Ending) -> Option<usize> {
        let name = |char: char| char.is_ascii_alphanumeric() || char == '#';
        let end = rest[1..].find(|char| !name(char)).map_or(rest.len(), |at| at + 1);
        if end == rest.len() && end <= ENTITY_BYTES_MAX && ending == Ending::MoreFollows {
            return None;
        }
        let named = rest[end..].starts_with(';') && end <= ENTITY_BYTES_MAX;
        match named.then(|| decode_entity(&rest[1..end])).flatten() {
            Some(text) => Some(self.push_text_in_place_of_source(&rest[..=end], &text)),
            None => Some(self.push_text_in_place_of_source("&", "&")),
        }
    }
}

enum CodeSpanEnd {
    At(usize),
    /// More text is needed.
    NotYet,
    /// Not within the limit.
    Never,
}

/// Finds the run of exactly `ticks` back-ticks that ends the code span.
fn find_code_span_end(rest: &str, ticks: usize, limit: usize, ending: Ending) -> CodeSpanEnd {
    let mut at = ticks;
    while let Some(found) = rest[at..].find('`') {
        let start = at + found;
        let len = count_leading(&rest[start..], '`');
        at = start + len;
        if at > limit {
            return CodeSpanEnd::Never;
        }
        if at == rest.len() && ending == Ending::MoreFollows {
            return CodeSpanEnd::NotYet;
        }
        if len == ticks {
            return CodeSpanEnd::At(start);
        }
    }
    if rest.len() > limit { CodeSpanEnd::Never } else { CodeSpanEnd::NotYet }
}

/// Removes one space on both sides, as `CommonMark` does.
fn trim_code_padding(inner: &str) -> &str {
    match inner.strip_prefix(' ').and_then(|rest| rest.strip_suffix(' ')) {
        Some(rest) if !rest.trim().is_empty() => rest,
        _ => inner,
    }
}

pub(super) fn count_leading(text: &str, mark: char) -> usize {
    text.len() - text.trim_start_matches(mark).len()
}

fn decode_entity(name: &str) -> Option<String> {
    let named = match name {
        "amp" => "&",
        "lt" => "<",
        "gt" => ">",
        "quot" => "\"",
        "apos" => "'",
        "nbsp" => "\u{a0}",
        "copy" => "©",
        "hellip" => "…",
        "mdash" => "—",
        "ndash" => "–",
        "times" => "×",
        "rarr" => "→",
        "larr" => "←",
        _ => "",
    };
    if !named.is_empty() {
        return Some(named.to_owned());
    }
    let number = name.strip_prefix('#')?;
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => number.parse().ok()?,
    };
    let char = char::from_u32(code).filter(|&char| char != '\0').unwrap_or('\u{fffd}');
    // A line end written as an entity breaks no line.
    Some(neutralise(&char.to_string()).replace(['\n', '\t'], " "))
}
