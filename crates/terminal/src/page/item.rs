//! One item of a page as rows. What is shown was decided by the view; this only says how it looks.

use engine::view::{Item, Kind, State};

use super::pictures::{Pictures, Stays};
use super::spent::spent_words;
use crate::links::Links;
use crate::markdown::Markdown;
use crate::row::Row;
use crate::size::Size;
use crate::style::{Attributes, Colour, Style};
use crate::text::{neutralised, one_line};
use crate::wrap::Wrap;

/// Lines of a tool's output that are shown; the log has all.
const OUTPUT_LINES_MAX: usize = 8;

/// Characters of a call's arguments that are shown.
const ARGUMENTS_CHARS_MAX: usize = 400;

const PERSON: Style = Style::coloured(Colour::Cyan).with_const(Attributes::BOLD);
const PROBLEM: Style = Style::coloured(Colour::Red);
const WARNING: Style = Style::coloured(Colour::Yellow);

/// How wide rows are, and what becomes of links in them.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    pub size: Size,
    pub links: Links,
}

/// Rows that the status, a blank and the line in which one writes take.
const REST_ROWS: u16 = 4;

impl Look {
    /// For what stands above the rows in which one writes: what is held back has room there.
    pub(crate) fn above_the_rest(self) -> Look {
        let rows = self.size.rows.saturating_sub(REST_ROWS).max(REST_ROWS);
        Look { size: Size::new(self.size.cols, rows), ..self }
    }
}

/// What an item looks like; nothing if there is nothing to see.
pub(super) fn item_rows(
    item: &Item<'_>,
    look: Look,
    pictures: &Pictures,
    stays: Stays,
) -> Vec<Row> {
    if item.state == State::Withdrawn {
        return Vec::new();
    }
    let mut rows = Vec::new();
    match item.kind {
        Kind::User => put(&mut rows, look, ("› ", PERSON), &item.text, PERSON),
        Kind::Text => {
            let mut markdown = Markdown::new(look.size, look.links);
            markdown.push(&item.text);
            markdown.finish();
            rows = markdown.take_settled();
        }
        Kind::Reasoning => {
            let style = Style::DIM.with(Attributes::ITALIC);
            put(&mut rows, look, ("· ", Style::DIM), &item.text, style);
        }
        Kind::Tool | Kind::Entry | Kind::Action => tool(item, look, &mut rows),
        Kind::Steps => steps(item, look, &mut rows),
        Kind::Ask => ask(item, look, &mut rows),
        Kind::Request => {
            let words = format!("request{}", spent_words(&item.text));
            put(&mut rows, look, ("· ", Style::DIM), &words, Style::DIM);
        }
        Kind::Checkpoint => {
            let words = format!("checkpoint {}", item.text);
            put(&mut rows, look, ("· ", Style::DIM), &words, Style::DIM);
        }
        Kind::Notice => notice(item, look, &mut rows),
        Kind::Error => put(&mut rows, look, ("✕ ", PROBLEM), &item.text, PROBLEM),
        Kind::Withdrawal => {
            let words = format!("taken back: {}", item.text);
            put(&mut rows, look, ("· ", Style::DIM), &words, Style::DIM);
        }
    }
    rows.append(&mut tail_rows(item, look, pictures, stays));
    rows
}

/// What stands below the text of an item.
pub(super) fn tail_rows(
    item: &Item<'_>,
    look: Look,
    pictures: &Pictures,
    stays: Stays,
) -> Vec<Row> {
    let mut rows = Vec::new();
    pictures.rows(item, look, stays, &mut rows);
    sources(item, look, &mut rows);
    if item.state == State::Incomplete && matches!(item.kind, Kind::Text | Kind::Reasoning) {
        put(&mut rows, look, ("· ", Style::DIM), "it broke off here", Style::DIM);
    }
    rows
}

/// Text on as many rows as it needs, behind a sign.
pub(crate) fn put(rows: &mut Vec<Row>, look: Look, sign: (&str, Style), text: &str, style: Style) {
    let (mut first, mut lead) = (Row::line(sign.0, sign.1), Row::default());
    lead.push(&" ".repeat(first.width()), Style::PLAIN);
    let text = neutralised(text.trim_end());
    for line in text.split('\n') {
        let mut wrap = Wrap::new(look.size.width(), first, lead.clone());
        wrap.push(line, style, None, rows);
        wrap.finish(rows);
        first = lead.clone();
    }
}

fn tool(item: &Item<'_>, look: Look, rows: &mut Vec<Row>) {
    let (sign, state, style) = match item.state {
        State::Live => ("○ ", " …", Style::coloured(Colour::Yellow)),
        State::Done | State::Called => ("● ", "", Style::coloured(Colour::Green)),
        State::Failed => ("✕ ", " failed", PROBLEM),
        State::Denied => ("✕ ", " denied", PROBLEM),
        State::Incomplete => ("✕ ", " not finished", WARNING),
        State::Withdrawn => return,
    };
    let mut first = Row::line(sign, style);
    first.push(&one_line(item.name.as_deref().unwrap_or("tool")), Style::BOLD);
    first.push(state, style);
    let arguments = one_line(item.arguments.as_deref().unwrap_or_default());
    let shown: String = arguments.chars().take(ARGUMENTS_CHARS_MAX).collect();
    let cut = if shown.len() < arguments.len() { " …" } else { "" };
    let has_arguments = !shown.is_empty() && shown != "{}";
    if has_arguments {
        first.push(" ", Style::PLAIN);
    }
    let mut wrap = Wrap::new(look.size.width(), first, Row::line("  ", Style::PLAIN));
    if has_arguments {
        wrap.push(&format!("{shown}{cut}"), Style::DIM, None, rows);
    }
    wrap.finish(rows);
    for text in [Some(&*item.text), item.result.as_deref()].into_iter().flatten() {
        output(text, look, rows);
    }
}

/// The beginning of what a tool put out, and how much more there is.
fn output(text: &str, look: Look, rows: &mut Vec<Row>) {
    let text = text.trim_end();
    if text.is_empty() {
        return;
    }
    let lines: Vec<&str> = text.lines().collect();
    let shown = lines[..lines.len().min(OUTPUT_LINES_MAX)].join("\n");
    put(rows, look, ("  ", Style::PLAIN), &shown, Style::DIM);
    let more = lines.len().saturating_sub(OUTPUT_LINES_MAX);
    if 0 < more {
        let words = if more == 1 { "1 more line".to_owned() } else { format!("{more} more lines") };
        put(rows, look, ("  … ", Style::DIM), &words, Style::DIM);
    }
}

fn steps(item: &Item<'_>, look: Look, rows: &mut Vec<Row>) {
    let names: Vec<String> =
        item.steps.iter().filter_map(|step| step.name.as_deref()).map(one_line).collect();
    let label = item.label.as_deref().unwrap_or("Steps");
    let words =
        if names.is_empty() { label.to_owned() } else { format!("{label}: {}", names.join(", ")) };
    put(rows, look, ("▸ ", Style::DIM), &words, Style::DIM);
}

fn ask(item: &Item<'_>, look: Look, rows: &mut Vec<Row>) {
    put(rows, look, ("? ", WARNING), &item.text, Style::PLAIN);
    if let Some(answer) = item.result.as_deref().filter(|answer| !answer.is_empty()) {
        put(rows, look, ("  ", Style::PLAIN), &format!("answered: {answer}"), Style::DIM);
    }
}

fn notice(item: &Item<'_>, look: Look, rows: &mut Vec<Row>) {
    let (words, style) = match item.sort.as_deref() {
        Some("usage") => (format!("in all{}", spent_words(&item.text)), Style::DIM),
        Some("attachment") => return,
        Some("retry") => (format!("retry: {}", item.text), WARNING),
        Some("warning") => (format!("warning: {}", item.text), WARNING),
        Some("compaction") => (format!("memory shortened: {}", item.text), Style::DIM),
        _ => (item.text.to_string(), Style::DIM),
    };
    put(rows, look, ("· ", style), &words, style);
}

fn sources(item: &Item<'_>, look: Look, rows: &mut Vec<Row>) {
    for citation in &item.citations {
        let url = citation.url.as_deref().unwrap_or_default();
        let title = citation.title.as_deref().unwrap_or(url);
        let words = if title == url { url.to_owned() } else { format!("{title} {url}") };
        put(rows, look, ("  ↗ ", Style::DIM), &words, Style::DIM);
    }
}
