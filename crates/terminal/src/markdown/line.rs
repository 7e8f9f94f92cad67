//! What a line begins, as soon as its first characters say so.
//!
//! Invariant: what is decided of the beginning of a line is what is decided of the whole line.

use super::cursor::Cursor;
use super::marker::{Answer, Marker, fence, heading, marker, rule, task};
use super::table::{delimiters, is_delimiters};
use crate::limits::NESTING_MAX;

/// Whether the end of the line is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    Part,
    Whole,
}

/// What a line stands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Container {
    Quote,
    Item {
        /// Columns that its further lines are indented by.
        indent: usize,
        marker: String,
        /// The marker has not been shown.
        fresh: bool,
    },
}

/// The fence that opened a block of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FenceMark {
    pub(super) mark: char,
    pub(super) len: usize,
    pub(super) indent: usize,
}

/// The leaf that is open, as far as the next line cares.
#[derive(Clone, Copy, Debug)]
pub(super) enum Within<'a> {
    Nothing,
    Paragraph {
        /// It may become a heading.
        short: bool,
        /// Cells of its last line, where that may be the head of a table.
        cells: usize,
    },
    Fence(&'a FenceMark),
    Table,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Open<'a> {
    pub(super) containers: &'a [Container],
    pub(super) leaf: Within<'a>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Start {
    Blank,
    Text,
    Heading,
    OpenFence(FenceMark),
    CloseFence,
    FenceLine,
    Rule,
    Underline,
    TableHead,
    Delimiters,
    TableRow,
    Indented,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decision {
    /// Containers that go on.
    pub(super) matched: usize,
    pub(super) opened: Vec<Container>,
    pub(super) start: Start,
    /// Where its content begins, after so many more spaces.
    pub(super) at: usize,
    pub(super) spare: usize,
}

/// What the line begins, or nothing if more of it may change that.
pub(super) fn decide(line: &str, seen: Seen, open: Open<'_>) -> Option<Decision> {
    let mut cursor = Cursor::new(line);
    let matched = match_containers(&mut cursor, seen, open.containers)?;
    let all = matched == open.containers.len();
    let (start, opened) = match open.leaf {
        Within::Fence(mark) if all => (fence_line(&mut cursor, seen, mark)?, Vec::new()),
        leaf => starts(&mut cursor, seen, open.containers.len(), all, leaf)?,
    };
    let lazy =
        start == Start::Text && opened.is_empty() && matches!(open.leaf, Within::Paragraph { .. });
    let matched = if lazy { open.containers.len() } else { matched };
    Some(Decision { matched, opened, start, at: cursor.at(), spare: cursor.spare() })
}

/// For a line that has been undecided for too long: it is text.
pub(super) fn text(line: &str, open: Open<'_>) -> Decision {
    let mut cursor = Cursor::new(line);
    let matched = match_containers(&mut cursor, Seen::Whole, open.containers).unwrap_or(0);
    let all = matched == open.containers.len();
    let start = match open.leaf {
        Within::Fence(_) if all => Start::FenceLine,
        _ => Start::Text,
    };
    if start == Start::Text {
        cursor.skip(cursor.indent());
    }
    let lazy = matches!(open.leaf, Within::Paragraph { .. });
    let matched = if lazy { open.containers.len() } else { matched };
    Decision { matched, opened: Vec::new(), start, at: cursor.at(), spare: cursor.spare() }
}

fn match_containers(
    cursor: &mut Cursor<'_>,
    seen: Seen,
    containers: &[Container],
) -> Option<usize> {
    for (depth, container) in containers.iter().enumerate() {
        let indent = cursor.indent();
        let unsure = cursor.is_blank() && seen == Seen::Part;
        match container {
            Container::Quote => {
                if unsure {
                    return None;
                }
                if indent > 3 || !cursor.rest()[whitespace(cursor)..].starts_with('>') {
                    return Some(depth);
                }
                cursor.skip(indent);
                pass_quote(cursor, seen)?;
            }
            Container::Item { indent: needed, .. } => {
                if unsure && indent < *needed {
                    return None;
                }
                if indent >= *needed {
                    cursor.skip(*needed);
                } else if !cursor.is_blank() {
                    return Some(depth);
                }
            }
        }
    }
    Some(containers.len())
}

fn whitespace(cursor: &Cursor<'_>) -> usize {
    cursor.rest().len() - cursor.rest().trim_start_matches([' ', '\t']).len()
}

/// Passes `>` and the space that belongs to it.
fn pass_quote(cursor: &mut Cursor<'_>, seen: Seen) -> Option<()> {
    cursor.pass(1);
    if cursor.rest().is_empty() && seen == Seen::Part {
        return None;
    }
    cursor.skip(1);
    Some(())
}

fn fence_line(cursor: &mut Cursor<'_>, seen: Seen, open: &FenceMark) -> Option<Start> {
    let rest = cursor.rest().trim_start_matches([' ', '\t']);
    let marks = rest.len() - rest.trim_start_matches(open.mark).len();
    let may_close = cursor.indent() <= 3 && rest[marks..].trim_matches([' ', '\t']).is_empty();
    if may_close && seen == Seen::Part {
        return None;
    }
    if may_close && marks >= open.len {
        return Some(Start::CloseFence);
    }
    cursor.skip(open.indent);
    Some(Start::FenceLine)
}

/// Passes what opens containers, and says what follows them.
fn starts(
    cursor: &mut Cursor<'_>,
    seen: Seen,
    depth: usize,
    all: bool,
    leaf: Within<'_>,
) -> Option<(Start, Vec<Container>)> {
    let mut opened = Vec::new();
    loop {
        if cursor.is_blank() {
            return (seen == Seen::Whole).then_some((Start::Blank, opened));
        }
        let leaf = if opened.is_empty() { leaf } else { Within::Nothing };
        let paragraph = matches!(leaf, Within::Paragraph { .. });
        let indent = cursor.indent();
        if indent >= 4 && !paragraph {
            cursor.skip(4);
            return Some((Start::Indented, opened));
        }
        cursor.skip(indent);
        if indent >= 4 || depth + opened.len() >= NESTING_MAX {
            return Some((Start::Text, opened));
        }
        if cursor.rest().starts_with('>') {
            pass_quote(cursor, seen)?;
            opened.push(Container::Quote);
            continue;
        }
        let leaf = if all { leaf } else { lazily(leaf) };
        if let Some(start) = leaf_start(cursor, seen, indent, leaf).ok()? {
            return Some((start, opened));
        }
        match item(cursor, seen, indent, all && paragraph).ok()? {
            Some(item) => opened.push(item),
            None => return Some((text_start(cursor, seen, all, leaf)?, opened)),
        }
    }
}

/// A paragraph that a line may go on with only by being text.
fn lazily(leaf: Within<'_>) -> Within<'_> {
    match leaf {
        Within::Paragraph { .. } => Within::Paragraph { short: false, cells: 0 },
        _ => Within::Nothing,
    }
}

/// More of the line may change the answer.
struct NotYet;

/// A leaf that says by its first characters what it is.
fn leaf_start(
    cursor: &mut Cursor<'_>,
    seen: Seen,
    indent: usize,
    leaf: Within<'_>,
) -> Result<Option<Start>, NotYet> {
    let rest = cursor.rest();
    if let Within::Paragraph { short, cells } = leaf {
        if cells > 0 && is_delimiters(rest) {
            if seen == Seen::Part {
                return Err(NotYet);
            }
            if delimiters(rest).is_some_and(|found| found.len() == cells) {
                return Ok(Some(Start::Delimiters));
            }
        }
        let trimmed = rest.trim_end_matches([' ', '\t']);
        let only = |mark| trimmed.chars().all(|char| char == mark);
        if only('=') || only('-') {
            if seen == Seen::Part {
                return Err(NotYet);
            }
            if short {
                return Ok(Some(Start::Underline));
            }
        }
    }
    match rule(rest, seen) {
        Answer::Unknown => return Err(NotYet),
        Answer::Yes => return Ok(Some(Start::Rule)),
        Answer::No => {}
    }
    match heading(rest, seen) {
        Answer::Unknown => return Err(NotYet),
        Answer::Yes => {
            cursor.pass(rest.len() - rest.trim_start_matches('#').len());
            cursor.skip(cursor.indent());
            return Ok(Some(Start::Heading));
        }
        Answer::No => {}
    }
    match fence(rest, seen) {
        (Answer::Unknown, _) => Err(NotYet),
        (Answer::Yes, len) => {
            let mark = rest.chars().next().unwrap_or('`');
            cursor.pass(len);
            Ok(Some(Start::OpenFence(FenceMark { mark, len, indent })))
        }
        (Answer::No, _) => Ok(None),
    }
}

/// A list item, unless it would interrupt a paragraph that it may not.
fn item(
    cursor: &mut Cursor<'_>,
    seen: Seen,
    indent: usize,
    interrupts: bool,
) -> Result<Option<Container>, NotYet> {
    let Marker::Item { len, shown, first } = marker(cursor.rest(), seen).ok_or(NotYet)? else {
        return Ok(None);
    };
    let blank = cursor.rest()[len..].trim_matches([' ', '\t']).is_empty();
    if blank && seen == Seen::Part {
        return Err(NotYet);
    }
    if interrupts && (blank || !first) {
        return Ok(None);
    }
    let mut ahead = *cursor;
    ahead.pass(len);
    let spaces = ahead.indent();
    let spaces = if blank || spaces > 4 { 1 } else { spaces };
    ahead.skip(spaces);
    let (answer, bytes, mark) = task(ahead.rest(), seen);
    if answer == Answer::Unknown {
        return Err(NotYet);
    }
    let mut marker = shown;
    if answer == Answer::Yes {
        ahead.pass(bytes);
        mark.clone_into(&mut marker);
    }
    *cursor = ahead;
    Ok(Some(Container::Item { indent: indent + len + spaces, marker, fresh: true }))
}

fn text_start(cursor: &Cursor<'_>, seen: Seen, all: bool, leaf: Within<'_>) -> Option<Start> {
    let start = match leaf {
        Within::Table if all => Start::TableRow,
        _ if cursor.rest().starts_with('|') && all => Start::TableHead,
        _ => return Some(Start::Text),
    };
    (seen == Seen::Whole).then_some(start)
}
