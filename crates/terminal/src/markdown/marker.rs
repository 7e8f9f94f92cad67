//! Marks at the start of a line.

use super::line::Seen;

/// Whether a line begins with something, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Yes,
    No,
    Unknown,
}

impl Answer {
    /// `whole` once the line is known, until then nothing.
    fn when_whole(seen: Seen, whole: bool) -> Answer {
        match (seen, whole) {
            (Seen::Part, _) => Answer::Unknown,
            (Seen::Whole, true) => Answer::Yes,
            (Seen::Whole, false) => Answer::No,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    None,
    Item {
        len: usize,
        shown: String,
        /// A list may begin with it in the middle of a paragraph.
        first: bool,
    },
}

/// `---`, `* * *`, `___`.
pub(super) fn rule(rest: &str, seen: Seen) -> Answer {
    let Some(mark @ ('-' | '*' | '_')) = rest.chars().next() else { return Answer::No };
    if !rest.chars().all(|char| char == mark || char == ' ' || char == '\t') {
        return Answer::No;
    }
    Answer::when_whole(seen, rest.chars().filter(|&char| char == mark).count() >= 3)
}

/// `#` to `######`, and a space.
pub(super) fn heading(rest: &str, seen: Seen) -> Answer {
    let after = rest.trim_start_matches('#');
    let marks = rest.len() - after.len();
    match after.chars().next() {
        _ if marks == 0 || marks > 6 => Answer::No,
        Some(' ' | '\t') => Answer::Yes,
        Some(_) => Answer::No,
        None => Answer::when_whole(seen, true),
    }
}

/// Three or more back-ticks or tildes, and how many.
pub(super) fn fence(rest: &str, seen: Seen) -> (Answer, usize) {
    let Some(mark @ ('`' | '~')) = rest.chars().next() else { return (Answer::No, 0) };
    let info = rest.trim_start_matches(mark);
    let len = rest.len() - info.len();
    let answer = match () {
        () if info.is_empty() || len >= 3 && !(mark == '`' && info.contains('`')) => {
            Answer::when_whole(seen, len >= 3)
        }
        () => Answer::No,
    };
    (answer, len)
}

/// `-`, `*`, `+` or a number. The outer nothing: nobody knows yet.
pub(super) fn marker(rest: &str, seen: Seen) -> Option<Marker> {
    let digits = rest.len() - rest.trim_start_matches(|char: char| char.is_ascii_digit()).len();
    let len = match rest.chars().next() {
        Some('-' | '*' | '+') => 1,
        Some('0'..='9') if digits <= 9 => match rest[digits..].chars().next() {
            Some('.' | ')') => digits + 1,
            Some(_) => return Some(Marker::None),
            None => return (seen == Seen::Whole).then_some(Marker::None),
        },
        Some(_) | None => return Some(Marker::None),
    };
    match rest[len..].chars().next() {
        None if seen == Seen::Part => None,
        None | Some(' ' | '\t') => {
            let shown = if digits == 0 { "•".to_owned() } else { rest[..len].to_owned() };
            let first = digits == 0 || rest[..digits].trim_start_matches('0') == "1";
            Some(Marker::Item { len, shown, first })
        }
        Some(_) => Some(Marker::None),
    }
}

/// `[ ] ` or `[x] ` at the start of an item: its bytes, and how it is shown.
pub(super) fn task(rest: &str, seen: Seen) -> (Answer, usize, &'static str) {
    for (source, shown) in [("[ ] ", "☐"), ("[x] ", "☑"), ("[X] ", "☑")] {
        if rest.starts_with(source) {
            return (Answer::Yes, source.len(), shown);
        }
        if seen == Seen::Part && source.starts_with(rest) {
            return (Answer::Unknown, 0, "");
        }
    }
    (Answer::No, 0, "")
}
