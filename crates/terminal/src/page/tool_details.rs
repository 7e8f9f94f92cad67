//! Lines that describe a tool call: its headline, changes, tasks and sources. The texts are as
//! the tool gave them: a terminal neutralises them when it writes them.

use std::collections::HashSet;

use millpond_engine::tool::{
    FileDiff, LineChange, Omitted, Todo, TodoState, ToolDescription, ToolPurpose,
};
use millpond_engine::view::{Item, ItemKind, ItemState};

use super::item::tool_name;

/// Style of a detail line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DetailKind {
    /// An added line of a file.
    Added,
    /// A removed line of a file.
    Removed,
    /// Any other line.
    Plain,
    /// A remark, such as a count of what is not shown.
    Note,
}

/// One line below the headline of a tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DetailLine {
    pub kind: DetailKind,
    pub text: String,
}

impl DetailLine {
    fn new(kind: DetailKind, text: impl Into<String>) -> DetailLine {
        DetailLine { kind, text: text.into() }
    }
}

/// Returns the first line of a tool call: title and target, else its name.
pub fn tool_headline(item: &Item<'_>) -> String {
    match &item.description {
        None => tool_name(item).to_owned(),
        Some(known) if known.covers_arguments => known.summary_line(),
        // The raw arguments follow, and have the target.
        Some(known) => ToolDescription { target: None, ..(**known).clone() }.summary_line(),
    }
}

/// Returns what a folded call is about, with its target: its arguments do not follow.
pub fn folded_headline(item: &Item<'_>) -> String {
    let known = item.description.as_ref();
    known.map_or_else(|| tool_name(item).to_owned(), |known| known.summary_line())
}

/// Returns the raw arguments, unless the description says all of them.
pub fn undescribed_arguments<'a>(item: &'a Item<'_>) -> &'a str {
    match &item.description {
        Some(known) if known.covers_arguments => "",
        Some(_) | None => item.arguments.as_deref().unwrap_or_default(),
    }
}

/// Returns the exit status of a failed command, in words.
pub fn exit_status_text(item: &Item<'_>) -> Option<String> {
    let code = item.description.as_ref()?.exit_code.filter(|code| *code != 0)?;
    Some(format!("exit status {code}"))
}

/// Words before an exit status in an output, in lower case.
const EXIT_STATUS_WORDS: [&str; 4] = ["exit code", "exit status", "exited with code", "exit_code"];

/// Returns an output without a first or last line that repeats the exit status of the headline.
pub fn output_without_exit_status<'a>(item: &Item<'_>, output: &'a str) -> &'a str {
    let code = item.description.as_ref().and_then(|known| known.exit_code);
    let Some(code) = code.filter(|code| *code != 0) else { return output };
    let output = output.trim_end();
    if let Some((first, rest)) = output.split_once('\n')
        && is_exit_status_line(first, code)
    {
        return rest;
    }
    let (rest, last) = output.rsplit_once('\n').unwrap_or(("", output));
    if is_exit_status_line(last, code) { rest } else { output }
}

/// Returns true for a line such as `Exit code 1` or `[exit status: 1]`.
fn is_exit_status_line(line: &str, code: i32) -> bool {
    const MARKS: [char; 7] = ['<', '>', '[', ']', '(', ')', '.'];
    let line = line.trim().trim_matches(MARKS).to_ascii_lowercase();
    let rest = EXIT_STATUS_WORDS.iter().find_map(|words| line.strip_prefix(words));
    rest.is_some_and(|rest| rest.trim_matches([':', ' ']).parse() == Ok(code))
}

/// Returns true if the output is shown below the call: the description may say more than it.
pub fn is_output_shown(item: &Item<'_>) -> bool {
    let Some(known) = item.description.as_ref().filter(|_| item.state == ItemState::Done) else {
        return true;
    };
    match known.purpose {
        ToolPurpose::Read => !item.images.is_empty(),
        ToolPurpose::Edit | ToolPurpose::Write => known.diffs.is_empty(),
        ToolPurpose::WebSearch => known.sources.is_empty(),
        ToolPurpose::Todo | ToolPurpose::Plan => known.todos.is_empty(),
        ToolPurpose::Command
        | ToolPurpose::Search
        | ToolPurpose::List
        | ToolPurpose::Fetch
        | ToolPurpose::Agent
        | ToolPurpose::Mcp
        | ToolPurpose::Computer
        | ToolPurpose::Other => true,
    }
}

/// Returns the lines below the headline: changes, tasks and sources.
pub fn tool_detail_lines(item: &Item<'_>) -> Vec<DetailLine> {
    let Some(known) = &item.description else { return Vec::new() };
    let mut lines = Vec::new();
    if known.purpose == ToolPurpose::Command && known.target.is_some() && known.title != "Run" {
        lines.push(DetailLine::new(DetailKind::Note, format!("# {}", known.title)));
    }
    let is_asked_text =
        |diff: &&FileDiff| item.kind == ItemKind::Ask && has_all_changed_lines(&item.text, diff);
    for diff in known.diffs.iter().filter(|diff| !is_asked_text(diff)) {
        if 1 < known.diffs.len() {
            lines.push(DetailLine::new(DetailKind::Note, file_heading(diff)));
        }
        push_diff_lines(diff, &mut lines);
    }
    lines
        .extend(known.todos.iter().map(|todo| DetailLine::new(DetailKind::Plain, todo_text(todo))));
    for source in &known.sources {
        let title = source.title.as_deref().filter(|title| *title != source.url);
        let title = title.map(|title| format!("{title} ")).unwrap_or_default();
        lines.push(DetailLine::new(DetailKind::Plain, format!("↗ {title}{}", source.url)));
    }
    lines.extend(omitted_text(known.omitted).map(|text| DetailLine::new(DetailKind::Note, text)));
    lines
}

/// True if `text` shows each added and removed line of a change, as a unified diff does.
fn has_all_changed_lines(text: &str, diff: &FileDiff) -> bool {
    let shown: HashSet<&str> = text.lines().collect();
    diff.lines.iter().all(|line| match line.change {
        LineChange::Added => shown.contains(format!("+{}", line.text).as_str()),
        LineChange::Removed => shown.contains(format!("-{}", line.text).as_str()),
        LineChange::Same | LineChange::Gap => true,
    })
}

/// Heading of one of several changed files.
fn file_heading(diff: &FileDiff) -> String {
    match &diff.moved_to {
        Some(to) => format!("{} -> {to}", diff.path),
        None => diff.path.clone(),
    }
}

/// Pushes the lines of a change, with their numbers in a column if any is known.
fn push_diff_lines(diff: &FileDiff, lines: &mut Vec<DetailLine>) {
    let width = diff.lines.iter().filter_map(|line| line.number).max();
    let width = width.map_or(0, |most| most.to_string().len());
    for line in &diff.lines {
        let (kind, sign) = match line.change {
            LineChange::Same => (DetailKind::Plain, ' '),
            LineChange::Added => (DetailKind::Added, '+'),
            LineChange::Removed => (DetailKind::Removed, '-'),
            LineChange::Gap => {
                lines
                    .push(DetailLine::new(DetailKind::Note, format!("⋮ {}", line.text).trim_end()));
                continue;
            }
        };
        let number = line.number.map(|number| number.to_string()).unwrap_or_default();
        let gap = if width == 0 { "" } else { " " };
        let text = format!("{number:>width$}{gap}{sign}{}", line.text);
        lines.push(DetailLine::new(kind, text));
    }
}

/// A task with a mark, and its state in words where the mark alone is not enough.
fn todo_text(todo: &Todo) -> String {
    let (mark, words) = match todo.state {
        TodoState::Pending => ("[ ]", ""),
        TodoState::Active => ("[>]", " (in progress)"),
        TodoState::Done => ("[x]", ""),
        TodoState::Cancelled => ("[-]", " (cancelled)"),
    };
    format!("{mark} {}{words}", todo.text)
}

/// Counts of what the description leaves out; `None` if that is nothing.
fn omitted_text(omitted: Omitted) -> Option<String> {
    let Omitted { diff_lines, files, todos, sources } = omitted;
    let counts = [(diff_lines, "line"), (files, "file"), (todos, "task"), (sources, "source")];
    let parts: Vec<String> = counts
        .into_iter()
        .filter(|(count, _)| 0 < *count)
        .map(|(count, what)| format!("{count} more {what}{}", if count == 1 { "" } else { "s" }))
        .collect();
    (!parts.is_empty()).then(|| format!("… {}", parts.join(", ")))
}

#[cfg(test)]
#[path = "tool_details_tests.rs"]
mod tests;
