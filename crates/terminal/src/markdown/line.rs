//! Decides how a line is shown, as soon as the block scanner and the open leaf allow it.
//!
//! Invariant: a decision on the beginning of a line is the same as on the whole line.

use millpond_engine::markdown::{self, BlockScanner, Fence, LineKind, Marker};

use super::indentation::strip_indent_columns;

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

impl Container {
    pub(super) fn is_item(&self) -> bool {
        matches!(self, Container::Item { .. })
    }
}

/// State of the open leaf that decides how the next line is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineContext {
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

/// Role of a line on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LineRole {
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

/// Change of the open blocks by a line, and its text so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LineDecision {
    /// Count of open containers that the line continues.
    pub(super) kept: usize,
    pub(super) opened: Vec<Container>,
    pub(super) start: LineRole,
    /// The first line of a paragraph: it closes the open leaf.
    pub(super) begins_paragraph: bool,
    pub(super) content: String,
}

/// Decides how the line is shown; `None` if more of it may change that.
pub(super) fn decide_line(
    line: &str,
    seen: Seen,
    blocks: &BlockScanner,
    leaf: LineContext,
) -> Option<LineDecision> {
    let kind = blocks.current_or_last_line_kind()?;
    let kept = blocks.kept_container_count();
    let containers = blocks.containers();
    let mut opened: Vec<Container> = containers[kept..].iter().map(to_shown_container).collect();
    let text = line
        .get(blocks.text_offset_in_line()..)
        .unwrap_or_default()
        .trim_start_matches([' ', '\t']);
    let mut content = extract_content(line, text, kind, blocks);
    if kind == LineKind::Text
        && let Some(Container::Item { marker, .. }) = opened.last_mut()
    {
        match parse_task_mark(&content, seen) {
            Task::Unknown => return None,
            Task::Shown(mark) => {
                content.drain(..TASK_BYTES);
                mark.clone_into(marker);
            }
            Task::None => {}
        }
    }
    let start = choose_line_role(kind, &content, leaf);
    let waits = matches!(start, LineRole::OpenFence(_) | LineRole::TableHead | LineRole::TableRow);
    let begins_paragraph = kind == LineKind::Text;
    (seen == Seen::Whole || !waits).then_some(LineDecision {
        kept,
        opened,
        start,
        begins_paragraph,
        content,
    })
}

fn extract_content(line: &str, text: &str, kind: LineKind, blocks: &BlockScanner) -> String {
    match kind {
        LineKind::FenceLine(fence) => {
            strip_indent_columns(line, blocks.content_position(), fence.indent)
        }
        LineKind::IndentedCode => {
            strip_indent_columns(line, blocks.content_position(), CODE_INDENT)
        }
        LineKind::FenceOpen(fence) => text.get(fence.len..).unwrap_or_default().to_owned(),
        LineKind::Heading(level) => {
            text.get(level..).unwrap_or_default().trim_start_matches([' ', '\t']).to_owned()
        }
        _ => text.to_owned(),
    }
}

/// Returns what a line is on the screen. Settled rows become neither a heading nor a table.
fn choose_line_role(kind: LineKind, content: &str, leaf: LineContext) -> LineRole {
    let (heading, table) = match leaf {
        LineContext::Paragraph { heading, table } => (heading, table),
        LineContext::Nothing | LineContext::Table => (CanBecome::No, CanBecome::No),
    };
    match kind {
        LineKind::Blank => LineRole::Blank,
        LineKind::Heading(_) => LineRole::Heading,
        LineKind::Underline(_) if heading == CanBecome::Yes => LineRole::Underline,
        LineKind::Underline(b'-') if RULE_MARKS_MIN <= content.trim_end().len() => LineRole::Rule,
        LineKind::ThematicBreak => LineRole::Rule,
        LineKind::FenceOpen(fence) => LineRole::OpenFence(fence),
        LineKind::FenceLine(_) => LineRole::FenceLine,
        LineKind::FenceClose => LineRole::CloseFence,
        LineKind::IndentedCode => LineRole::Indented,
        LineKind::TableDelimiters if table == CanBecome::Yes => LineRole::Delimiters,
        LineKind::TableRow if leaf == LineContext::Table => LineRole::TableRow,
        LineKind::Text | LineKind::Continuation if content.starts_with('|') => LineRole::TableHead,
        LineKind::Text
        | LineKind::Continuation
        | LineKind::Underline(_)
        | LineKind::TableDelimiters
        | LineKind::TableRow => LineRole::Text,
    }
}

fn to_shown_container(container: &markdown::Container) -> Container {
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
fn parse_task_mark(content: &str, seen: Seen) -> Task {
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
