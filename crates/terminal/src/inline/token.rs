//! Reads one token at a time, or says that more text is needed.

use super::emphasis::flanking;
use super::link::Drop;
use super::{Bracket, CODE, Delimiter, Ending, Inline, Kind, LINK};
use crate::limits::{ENTITY_BYTES_MAX, URL_BYTES_MAX};
use crate::links::Link;
use crate::style::Style;
use crate::text::neutralised;

/// What does not stand for itself.
const SPECIAL: [char; 11] = ['\\', '`', '*', '_', '~', '[', ']', '!', '<', '&', '\n'];

impl Inline {
    /// Reads the token at the start of `rest`: the bytes it took, or nothing if it may go on.
    pub(super) fn token(&mut self, rest: &str, ending: Ending) -> Option<usize> {
        match rest.chars().next()? {
            ' ' => self.spaces(rest, ending),
            '\n' => Some(self.plain("\n", " ")),
            '\\' => self.escape(rest, ending),
            '`' => self.code(rest, ending),
            mark @ ('*' | '_' | '~') => self.delimiter(mark, rest, ending),
            '[' => Some(self.bracket(Bracket::Link, "[")),
            '!' if rest == "!" && ending == Ending::Open => None,
            '!' if rest.starts_with("![") => Some(self.bracket(Bracket::Image, "![")),
            ']' => self.closing_bracket(rest, ending),
            '<' => self.autolink(rest, ending),
            '&' => self.entity(rest, ending),
            first => {
                let from = first.len_utf8();
                let end = rest[from..].find(SPECIAL).map_or(rest.len(), |at| from + at);
                let run = rest[..end].trim_end_matches(' ');
                Some(self.plain(run, run))
            }
        }
    }

    /// Shows `text` for `source`.
    pub(super) fn plain(&mut self, source: &str, text: &str) -> usize {
        self.text(text, Style::PLAIN, None);
        source.len()
    }

    /// Two spaces before a line end break the line; others there are not shown.
    fn spaces(&mut self, rest: &str, ending: Ending) -> Option<usize> {
        let after = rest.trim_start_matches(' ');
        let spaces = (rest.len() - after.len()).min(self.limit);
        if after.is_empty() && spaces < self.limit {
            return (ending != Ending::Open).then_some(spaces);
        }
        if !after.starts_with('\n') || spaces == self.limit {
            return Some(self.plain(&rest[..spaces], &rest[..spaces]));
        }
        if spaces >= 2 {
            self.line_break();
        } else {
            self.text(" ", Style::PLAIN, None);
        }
        Some(spaces + 1)
    }

    fn line_break(&mut self) {
        self.node(Kind::Break, "", Style::PLAIN, None);
        self.read += self.cols;
    }

    fn escape(&mut self, rest: &str, ending: Ending) -> Option<usize> {
        match rest[1..].chars().next() {
            None if ending == Ending::Open => None,
            Some('\n') => {
                self.line_break();
                Some(2)
            }
            Some(next) if next.is_ascii_punctuation() => Some(self.plain(&rest[..2], &rest[1..2])),
            Some(_) | None => Some(self.plain("\\", "\\")),
        }
    }

    /// A code span is decided when its end is found, or cannot be near any more.
    fn code(&mut self, rest: &str, ending: Ending) -> Option<usize> {
        let ticks = run_len(rest, '`').min(self.limit);
        match code_end(rest, ticks, self.limit, ending) {
            Found::At(end) => {
                let inner = rest[ticks..end].replace('\n', " ");
                self.text(code_text(&inner), CODE, None);
                Some(end + ticks)
            }
            Found::Later if ending == Ending::Open => None,
            Found::Later if ending == Ending::Shown => {
                let inner = rest[ticks..].trim_end_matches('`').replace('\n', " ");
                self.text(&inner, CODE, None);
                Some(rest.len())
            }
            Found::Later | Found::Never => Some(self.plain(&rest[..ticks], &rest[..ticks])),
        }
    }

    fn delimiter(&mut self, mark: char, rest: &str, ending: Ending) -> Option<usize> {
        let len = run_len(rest, mark).min(self.limit);
        let after = match (rest[len..].chars().next(), ending) {
            (Some(char), _) => char,
            (None, Ending::Open) if len < self.limit => return None,
            // Nobody knows yet what it will be.
            (None, Ending::Shown) => return Some(len),
            (None, Ending::Open | Ending::Ended) => '\n',
        };
        let run = &rest[..len];
        let (opens, closes) = flanking(mark, self.before, after);
        if mark == '~' && len != 2 {
            return Some(self.plain(run, run));
        }
        let delimiter = Delimiter { mark, len, whole: len, opens, closes, both: opens && closes };
        self.node(Kind::Delimiter(delimiter), run, Style::PLAIN, None);
        self.drop_brackets(Drop::OutOfReach);
        if closes && !self.has_brackets() {
            self.close(self.held.len() - 1, 0);
        }
        Some(len)
    }

    fn bracket(&mut self, bracket: Bracket, text: &str) -> usize {
        self.node(Kind::Bracket(bracket), text, Style::PLAIN, None);
        text.len()
    }

    /// `<https://...>`. Anything else in angle brackets is text.
    fn autolink(&mut self, rest: &str, ending: Ending) -> Option<usize> {
        let inside = &rest[1..];
        let end = inside.find([' ', '\n', '<', '>']).unwrap_or(inside.len());
        let max = URL_BYTES_MAX.min(self.limit);
        let may_be = Link::is_begun(&inside[..end]);
        if end == inside.len() && end <= max && may_be && ending == Ending::Open {
            return None;
        }
        match inside[end..].starts_with('>').then(|| Link::parse(&inside[..end])).flatten() {
            Some(link) if end <= max => {
                self.text(&inside[..end], Style::PLAIN.with(LINK), Some(link));
                Some(end + 2)
            }
            Some(_) | None => Some(self.plain("<", "<")),
        }
    }

    fn entity(&mut self, rest: &str, ending: Ending) -> Option<usize> {
        let name = |char: char| char.is_ascii_alphanumeric() || char == '#';
        let end = rest[1..].find(|char| !name(char)).map_or(rest.len(), |at| at + 1);
        if end == rest.len() && end <= ENTITY_BYTES_MAX && ending == Ending::Open {
            return None;
        }
        let named = rest[end..].starts_with(';') && end <= ENTITY_BYTES_MAX;
        match named.then(|| entity(&rest[1..end])).flatten() {
            Some(text) => Some(self.plain(&rest[..=end], &text)),
            None => Some(self.plain("&", "&")),
        }
    }
}

enum Found {
    At(usize),
    /// Not yet.
    Later,
    /// Not within the limit.
    Never,
}

/// Where the run of exactly `ticks` begins that ends the code span.
fn code_end(rest: &str, ticks: usize, limit: usize, ending: Ending) -> Found {
    let mut at = ticks;
    while let Some(found) = rest[at..].find('`') {
        let start = at + found;
        let len = run_len(&rest[start..], '`');
        at = start + len;
        if at > limit {
            return Found::Never;
        }
        if at == rest.len() && ending == Ending::Open {
            return Found::Later;
        }
        if len == ticks {
            return Found::At(start);
        }
    }
    if rest.len() > limit { Found::Never } else { Found::Later }
}

/// One space on both sides belongs to the ticks.
fn code_text(inner: &str) -> &str {
    match inner.strip_prefix(' ').and_then(|rest| rest.strip_suffix(' ')) {
        Some(rest) if !rest.trim().is_empty() => rest,
        _ => inner,
    }
}

pub(super) fn run_len(text: &str, mark: char) -> usize {
    text.len() - text.trim_start_matches(mark).len()
}

fn entity(name: &str) -> Option<String> {
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
    // A line end from an entity is no line end.
    Some(neutralised(&char.to_string()).replace(['\n', '\t'], " "))
}
