//! Rows of one page item. The view decides what is shown; this module only decides how it looks.

use millpond_engine::view::{Item, ItemKind, ItemState};

use super::cost::{request_text, usage_text};
use super::images::{PageImages, RowPhase};
use super::tool_details::{
    DetailKind, exit_status_text, folded_headline, is_output_shown, output_without_exit_status,
    tool_detail_lines, tool_headline, undescribed_arguments,
};
use crate::hyperlinks::HyperlinkMode;
use crate::markdown::MarkdownRenderer;
use crate::row::Row;
use crate::size::Size;
use crate::style::{Attributes, Colour, Style};
use crate::text::{neutralise, neutralise_and_escape_invisible, neutralise_to_one_line};
use crate::wrap::LineWrapper;

/// Lines of a tool's output shown.
const OUTPUT_LINES_MAX: usize = 8;

/// Lines of a tool's changes, tasks and sources shown.
const DETAIL_LINES_MAX: usize = 60;

/// Characters of a folded call shown.
const FOLDED_CHARS_MAX: usize = 100;

/// Characters of a tool's arguments shown.
const ARGUMENTS_CHARS_MAX: usize = 400;

const USER_STYLE: Style = Style::coloured(Colour::Cyan).with_attributes_const(Attributes::BOLD);
const ERROR_STYLE: Style = Style::coloured(Colour::Red);
const WARNING_STYLE: Style = Style::coloured(Colour::Yellow);

/// How rows are rendered.
#[derive(Clone, Copy, Debug)]
pub struct RenderOptions {
    /// Area to lay rows out for.
    pub size: Size,
    /// How hyperlinks are shown.
    pub hyperlinks: HyperlinkMode,
}

/// Rows reserved for the status, a blank row and the input line.
const FOOTER_ROWS: u16 = 4;

impl RenderOptions {
    /// Returns the options for the area above the status and input rows.
    pub(crate) fn without_footer(self) -> RenderOptions {
        let rows = self.size.rows.saturating_sub(FOOTER_ROWS).max(FOOTER_ROWS);
        RenderOptions { size: Size::new(self.size.cols, rows), ..self }
    }
}

/// Renders an item; empty if nothing of it is shown.
pub(super) fn item_rows(
    item: &Item<'_>,
    options: RenderOptions,
    images: &PageImages,
    stays: RowPhase,
) -> Vec<Row> {
    if item.state == ItemState::Withdrawn {
        return Vec::new();
    }
    let mut rows = Vec::new();
    match item.kind {
        ItemKind::User => {
            push_wrapped_text(&mut rows, options, ("› ", USER_STYLE), &item.text, USER_STYLE);
        }
        ItemKind::Text => {
            let mut markdown = MarkdownRenderer::new(options.size, options.hyperlinks);
            markdown.push(&item.text);
            markdown.finish();
            rows = markdown.take_settled();
        }
        ItemKind::Reasoning => {
            let style = Style::DIM.with_attributes(Attributes::ITALIC);
            push_wrapped_text(&mut rows, options, ("· ", Style::DIM), &item.text, style);
        }
        ItemKind::Tool | ItemKind::Entry | ItemKind::Action => {
            push_tool_rows(item, options, &mut rows);
        }
        ItemKind::Steps => push_steps_row(item, options, &mut rows),
        ItemKind::Ask => push_ask_rows(item, options, &mut rows),
        ItemKind::Request => {
            push_wrapped_text(
                &mut rows,
                options,
                ("· ", Style::DIM),
                &request_text(item),
                Style::DIM,
            );
        }
        ItemKind::Checkpoint => {
            let words = format!("checkpoint {}", item.text);
            push_wrapped_text(&mut rows, options, ("· ", Style::DIM), &words, Style::DIM);
        }
        ItemKind::Notice => push_notice_rows(item, options, &mut rows),
        ItemKind::Error => {
            push_wrapped_text(&mut rows, options, ("✕ ", ERROR_STYLE), &item.text, ERROR_STYLE);
        }
        ItemKind::Withdrawal => {
            let words = format!("withdrawn: {}", item.text);
            push_wrapped_text(&mut rows, options, ("· ", Style::DIM), &words, Style::DIM);
        }
    }
    rows.append(&mut render_images_citations_and_interruption(item, options, images, stays));
    rows
}

/// Renders images, citations and the interruption mark below an item's text.
pub(super) fn render_images_citations_and_interruption(
    item: &Item<'_>,
    options: RenderOptions,
    images: &PageImages,
    stays: RowPhase,
) -> Vec<Row> {
    let mut rows = Vec::new();
    images.push_image_rows(item, options, stays, &mut rows);
    push_citation_rows(item, options, &mut rows);
    if item.state == ItemState::Incomplete
        && matches!(item.kind, ItemKind::Text | ItemKind::Reasoning)
    {
        push_wrapped_text(&mut rows, options, ("· ", Style::DIM), "[interrupted]", Style::DIM);
    }
    if item.state == ItemState::Draft {
        push_wrapped_text(&mut rows, options, ("· ", Style::DIM), "[being written]", Style::DIM);
    }
    rows
}

/// Columns of a tab in the indentation of a line.
const TAB_COLUMNS: usize = 4;

/// Returns the columns of the white space that a line begins with.
fn indent_width(white_space: &str) -> usize {
    white_space.chars().map(|space| if space == '\t' { TAB_COLUMNS } else { 1 }).sum()
}

/// Pushes wrapped text with `sign` before the first row and an indent before the others. Lines keep
/// their indentation, up to half of the width.
pub(crate) fn push_wrapped_text(
    rows: &mut Vec<Row>,
    options: RenderOptions,
    sign: (&str, Style),
    text: &str,
    style: Style,
) {
    let (mut first, mut lead) = (Row::from_text(sign.0, sign.1), Row::default());
    lead.push(&" ".repeat(first.width()), Style::PLAIN);
    let text = neutralise(text.trim_end());
    let indent_max = options.size.width().saturating_sub(lead.width()) / 2;
    for line in text.split('\n') {
        let words = line.trim_start_matches([' ', '\t']);
        let indent = indent_width(&line[..line.len() - words.len()]).min(indent_max);
        first.push(&" ".repeat(indent), Style::PLAIN);
        let mut next = lead.clone();
        next.push(&" ".repeat(indent), Style::PLAIN);
        let mut wrap = LineWrapper::new(options.size.width(), first, next);
        wrap.push(words, style, None, rows);
        wrap.finish(rows);
        first = lead.clone();
    }
}

fn push_tool_rows(item: &Item<'_>, options: RenderOptions, rows: &mut Vec<Row>) {
    let (sign, state, style) = match item.state {
        ItemState::Live | ItemState::Draft | ItemState::Pending => {
            ("○ ", " …", Style::coloured(Colour::Yellow))
        }
        ItemState::Done => ("● ", "", Style::coloured(Colour::Green)),
        ItemState::Called => ("→ ", " called", Style::DIM),
        ItemState::Failed => ("✕ ", " failed", ERROR_STYLE),
        ItemState::Denied => ("✕ ", " denied", ERROR_STYLE),
        ItemState::Incomplete => ("✕ ", " interrupted", WARNING_STYLE),
        ItemState::Withdrawn => return,
    };
    let headline = tool_headline(item);
    let (headline, more_lines) = headline.trim().split_once('\n').unwrap_or((headline.trim(), ""));
    let mut wrap = LineWrapper::new(
        options.size.width(),
        Row::from_text(sign, style),
        Row::from_text("  ", Style::PLAIN),
    );
    wrap.push(&neutralise_to_one_line(headline), Style::BOLD, None, rows);
    let exit_status = exit_status_text(item).map(|words| format!(", {words}")).unwrap_or_default();
    if !state.is_empty() || !exit_status.is_empty() {
        wrap.push(&format!("{state}{exit_status}"), style, None, rows);
    }
    let arguments = neutralise_to_one_line(undescribed_arguments(item));
    let shown: String = arguments.chars().take(ARGUMENTS_CHARS_MAX).collect();
    let cut = if shown.len() < arguments.len() { " …" } else { "" };
    if !shown.is_empty() && shown != "{}" {
        wrap.push(&format!(" {shown}{cut}"), Style::DIM, None, rows);
    }
    wrap.finish(rows);
    push_output_rows(more_lines, options, rows);
    push_detail_rows(item, options, rows);
    if !is_output_shown(item) {
        return;
    }
    for text in [Some(&*item.text), item.result.as_deref()].into_iter().flatten() {
        push_output_rows(output_without_exit_status(item, text), options, rows);
    }
}

/// Pushes the changes, tasks and sources of a tool call, and the count of the rest.
fn push_detail_rows(item: &Item<'_>, options: RenderOptions, rows: &mut Vec<Row>) {
    let lines = tool_detail_lines(item);
    for line in lines.iter().take(DETAIL_LINES_MAX) {
        let style = match line.kind {
            DetailKind::Added => Style::coloured(Colour::Green),
            DetailKind::Removed => Style::coloured(Colour::Red),
            DetailKind::Plain => Style::PLAIN,
            DetailKind::Note => Style::DIM,
        };
        let text = line.text.replace(['\n', '\r'], " ");
        // The wrapper drops spaces at the start of a row, and here they are a column.
        let (spaces, text) = text.split_at(text.len() - text.trim_start_matches(' ').len());
        push_wrapped_text(rows, options, (&format!("  {spaces}"), Style::PLAIN), text, style);
    }
    push_more_lines_row(lines.len().saturating_sub(DETAIL_LINES_MAX), options, rows);
}

/// Pushes the first lines of a tool's output and the count of the rest.
fn push_output_rows(text: &str, options: RenderOptions, rows: &mut Vec<Row>) {
    let text = text.trim_end();
    if text.is_empty() {
        return;
    }
    let lines: Vec<&str> = text.lines().collect();
    let shown = lines[..lines.len().min(OUTPUT_LINES_MAX)].join("\n");
    push_wrapped_text(rows, options, ("  ", Style::PLAIN), &shown, Style::DIM);
    push_more_lines_row(lines.len().saturating_sub(OUTPUT_LINES_MAX), options, rows);
}

/// Pushes the count of lines that are not shown, if there are any.
fn push_more_lines_row(more: usize, options: RenderOptions, rows: &mut Vec<Row>) {
    if 0 < more {
        let words = if more == 1 { "1 more line".to_owned() } else { format!("{more} more lines") };
        push_wrapped_text(rows, options, ("  … ", Style::DIM), &words, Style::DIM);
    }
}

fn push_steps_row(item: &Item<'_>, options: RenderOptions, rows: &mut Vec<Row>) {
    if item.state == ItemState::Live {
        // The steps are put when their round has ended.
        return;
    }
    push_wrapped_text(rows, options, ("▸ ", Style::DIM), steps_label(item), Style::DIM);
    let calls = item.steps.iter().filter(|step| step.name.is_some());
    let calls: Vec<_> = calls.filter(|step| step.state != ItemState::Withdrawn).collect();
    for step in calls.iter().take(OUTPUT_LINES_MAX) {
        let headline = neutralise_to_one_line(&folded_headline(step));
        let shown: String = headline.chars().take(FOLDED_CHARS_MAX).collect();
        let cut = if shown.len() < headline.len() { " …" } else { "" };
        let words = format!("{shown}{cut}");
        push_wrapped_text(rows, options, ("  ", Style::PLAIN), &words, Style::DIM);
    }
    push_more_lines_row(calls.len().saturating_sub(OUTPUT_LINES_MAX), options, rows);
}

fn push_ask_rows(item: &Item<'_>, options: RenderOptions, rows: &mut Vec<Row>) {
    let question = neutralise_and_escape_invisible(&item.text);
    push_wrapped_text(rows, options, ("? ", WARNING_STYLE), &question, Style::PLAIN);
    // The call that the person is asked about, as far as the question does not say it.
    push_output_rows(undescribed_arguments(item), options, rows);
    push_detail_rows(item, options, rows);
    if let Some(answer) = answer_text(item) {
        push_wrapped_text(rows, options, ("  ", Style::PLAIN), &answer, Style::DIM);
    }
}

fn push_notice_rows(item: &Item<'_>, options: RenderOptions, rows: &mut Vec<Row>) {
    let style = match item.sort.as_deref() {
        Some("attachment") => return,
        Some("retry" | "warning") => WARNING_STYLE,
        Some(_) | None => Style::DIM,
    };
    push_wrapped_text(rows, options, ("· ", style), &notice_text(item), style);
}

/// Returns the text of a notice with its label.
pub fn notice_text(item: &Item<'_>) -> String {
    match item.sort.as_deref() {
        Some("usage") => usage_text(&item.text),
        Some("retry") => format!("retry: {}", item.text),
        Some("warning") => format!("warning: {}", item.text),
        Some("compaction") => format!("context compacted: {}", item.text),
        Some(_) | None => item.text.to_string(),
    }
}

/// Returns the name of an item with a tool call.
pub fn tool_name<'a>(item: &'a Item<'_>) -> &'a str {
    item.name.as_deref().unwrap_or("tool")
}

/// Returns the label of folded steps.
pub fn steps_label<'a>(item: &'a Item<'_>) -> &'a str {
    item.label.as_deref().unwrap_or("Steps")
}

/// Returns the answer to an ask with its label; `None` if the ask is open.
pub fn answer_text(item: &Item<'_>) -> Option<String> {
    let is_open = matches!(item.state, ItemState::Live | ItemState::Pending);
    match item.result.as_deref() {
        // The agent went on: which answer it got is not known.
        Some("answered") => Some("answered".to_owned()),
        Some(answer) if !answer.is_empty() => Some(format!("answered: {answer}")),
        Some(_) | None => (!is_open).then(|| "not answered".to_owned()),
    }
}

fn push_citation_rows(item: &Item<'_>, options: RenderOptions, rows: &mut Vec<Row>) {
    for citation in &item.citations {
        let url = citation.url.as_deref().unwrap_or_default();
        let title = citation.title.as_deref().unwrap_or(url);
        let words = if title == url { url.to_owned() } else { format!("{title} {url}") };
        push_wrapped_text(rows, options, ("  ↗ ", Style::DIM), &words, Style::DIM);
    }
}
