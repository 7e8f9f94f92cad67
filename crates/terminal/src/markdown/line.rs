//! Decides how a line is shown, as soon as the block scanner and the open leaf allow it.
//!
//! Invariant: a decision on the beginning of a line is the same as on the whole line.

use millpond_engine::markdown::{self, BlockScanner, Fence, LineKind, Marker};

use super::cursor::without_columns;

/// Columns of indentation that make a line code.
const CODE_INDENT: usize = 4;

/// Fewest marks of a horizontal rule.
const RULE_MARKS_MIN: usize = 3;

/// Whether the end of the line is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    Part,
    Whole,
}

/// A container that encloses a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Container {
    Quote,
    Item {
        marker: String,
        /// The marker has not been shown.
        fresh: bool,
    },
}

/// State of the open leaf that decides how the next line is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Within {
    Nothing,
    Paragraph { heading: CanBecome, table: CanBecome },
    Table,
}

/// Whether a paragraph can still be shown as something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CanBecome {
    Yes,
    /// Rows of it have settled.
    No,
}

/// What a line is on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Start {
    Blank,
    Text,
    Heading,
    OpenFence(Fence),
    CloseFence,
    FenceLine,
    Rule,
    Underline,
    TableHead,
    Delimiters,
    TableRow,
    Indented,
}

/// How a line changes the open blocks, and its text so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decision {
    /// Count of open containers that the line continues.
    pub(super) kept: usize,
    pub(super) opened: Vec<Container>,
    pub(super) start: Start,
    /// The first line of a paragraph: it closes the open leaf.
    pub(super) begins_paragraph: bool,
    pub(super) content: String,
}

/// Decides how the line is shown; `None` if more of it may change that.
pub(super) fn decide(
    line: &str,
    seen: Seen,
    blocks: &BlockScanner,
    leaf: Within,
) -> Option<Decision> {
    let kind = blocks.kind()?;
    let kept = blocks.kept_containers();
    let containers = blocks.containers();
    let mut opened: Vec<Container> = containers[kept..].iter().map(container).collect();
    let text = line.get(blocks.begins()..).unwrap_or_default().trim_start_matches([' ', '\t']);
    let mut content = content(line, text, kind, blocks);
    if kind == LineKind::Text
        && let Some(Container::Item { marker, .. }) = opened.last_mut()
    {
        match task(&content, seen) {
            Task::Unknown => return None,
            Task::Shown(mark) => {
                content.drain(..TASK_BYTES);
                mark.clone_into(marker);
            }
            Task::None => {}
        }
    }
    let start = start(kind, &content, leaf);
    let waits = matches!(start, Start::OpenFence(_) | Start::TableHead | Start::TableRow);
    let begins_paragraph = kind == LineKind::Text;
    (seen == Seen::Whole || !waits).then_some(Decision {
        kept,
        opened,
        start,
        begins_paragraph,
        content,
    })
}

fn content(line: &str, text: &str, kind: LineKind, blocks: &BlockScanner) -> String {
    match kind {
        LineKind::FenceLine(fence) => without_columns(line, blocks.content(), fence.indent),
        LineKind::IndentedCode => without_columns(line, blocks.content(), CODE_INDENT),
        LineKind::FenceOpen(fence) => text.get(fence.len..).unwrap_or_default().to_owned(),
        LineKind::Heading(level) => {
            text.get(level..).unwrap_or_default().trim_start_matches([' ', '\t']).to_owned()
        }
        _ => text.to_owned(),
    }
}

/// Returns what a line is on the screen. Settled rows become neither a heading nor a table.
fn start(kind: LineKind, content: &str, leaf: Within) -> Start {
    let (heading, table) = match leaf {
        Within::Paragraph { heading, table } => (heading, table),
        Within::Nothing | Within::Table => (CanBecome::No, CanBecome::No),
    };
    match kind {
        LineKind::Blank => Start::Blank,
        LineKind::Heading(_) => Start::Heading,
        LineKind::Underline(_) if heading == CanBecome::Yes => Start::Underline,
        LineKind::Underline(b'-') if RULE_MARKS_MIN <= content.trim_end().len() => Start::Rule,
        LineKind::ThematicBreak => Start::Rule,
        LineKind::FenceOpen(fence) => Start::OpenFence(fence),
        LineKind::FenceLine(_) => Start::FenceLine,
        LineKind::FenceClose => Start::CloseFence,
        LineKind::IndentedCode => Start::Indented,
        LineKind::TableDelimiters if table == CanBecome::Yes => Start::Delimiters,
        LineKind::TableRow if leaf == Within::Table => Start::TableRow,
        LineKind::Text | LineKind::Continuation if content.starts_with('|') => Start::TableHead,
        LineKind::Text
        | LineKind::Continuation
        | LineKind::Underline(_)
        | LineKind::TableDelimiters
        | LineKind::TableRow => Start::Text,
    }
}

fn container(container: &markdown::Container) -> Container {
    match *container {
        markdown::Container::Quote => Container::Quote,
        markdown::Container::Item { marker, .. } => {
            let marker = match marker {
                Marker::Bullet(_) => "•".to_owned(),
                Marker::Number { value, digits, delimiter } => {
                    let width = usize::from(digits);
                    format!("{value:0width$}{}", char::from(delimiter))
                }
            };
            Container::Item { marker, fresh: true }
        }
    }
}

const TASK_BYTES: usize = 4;

enum Task {
    None,
    /// The mark as it is shown.
    Shown(&'static str),
    /// More of the line may make it one.
    Unknown,
}

/// Parses `[ ] ` or `[x] ` at the start of an item.
fn task(content: &str, seen: Seen) -> Task {
    for (source, shown) in [("[ ] ", "☐"), ("[x] ", "☑"), ("[X] ", "☑")] {
        if content.starts_with(source) {
            return Task::Shown(shown);
        }
        if seen == Seen::Part && source.starts_with(content) {
            return Task::Unknown;
        }
    }
    Task::None
}
