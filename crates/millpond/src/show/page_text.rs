//! Renders a page as plain text.

use std::fmt::Write;

use millpond_engine::event::Outcome;
use millpond_engine::view::patch::Ask;
use millpond_engine::view::{Item, ItemKind, ItemState, Page};
use millpond_terminal::page::cost::request_text;
use millpond_terminal::page::status::status_text;
use millpond_terminal::page::tool_details::{
    exit_status_text, folded_headline, is_output_shown, output_without_exit_status,
    tool_detail_lines, tool_headline, undescribed_arguments,
};
use millpond_terminal::page::{answer_text, notice_text, steps_label};

/// Text of one item; empty for a withdrawn item.
fn item_text(item: &Item<'_>) -> String {
    if item.state == ItemState::Withdrawn {
        return String::new();
    }
    let mut text = match item.kind {
        ItemKind::User => format!("> {}", item.text.trim_end().replace('\n', "\n> ")),
        ItemKind::Text => item.text.clone().into_owned(),
        ItemKind::Reasoning => format!("(thinking) {}", item.text),
        ItemKind::Tool | ItemKind::Entry | ItemKind::Action => tool_card_text(item),
        ItemKind::Steps => steps_text(item),
        ItemKind::Ask => ask_text(item),
        ItemKind::Request => format!("* {}", request_text(item)),
        ItemKind::Checkpoint => format!("* checkpoint {}", item.text),
        ItemKind::Notice => format!("* {}", notice_text(item)),
        ItemKind::Error => format!("! {}", item.text),
        ItemKind::Withdrawal => format!("* withdrawn: {}", item.text),
    };
    for image in &item.images {
        let _ = write!(text, "{}[image {}]", newline_unless_at_line_start(&text), image.reference);
    }
    for citation in &item.citations {
        let title = citation.title.as_deref().or(citation.url.as_deref()).unwrap_or("source");
        let url = citation.url.as_deref().filter(|url| *url != title).unwrap_or_default();
        let _ = write!(text, "{}[{title}] {url}", newline_unless_at_line_start(&text));
    }
    text
}

fn newline_unless_at_line_start(text: &str) -> &'static str {
    if text.is_empty() || text.ends_with('\n') { "" } else { "\n" }
}

fn state_label(item: &Item<'_>) -> &'static str {
    match item.state {
        ItemState::Live => "running",
        ItemState::Draft => "being written",
        ItemState::Done => "done",
        ItemState::Pending => "waiting",
        ItemState::Called => "called",
        ItemState::Failed => "failed",
        ItemState::Denied => "denied",
        ItemState::Incomplete => "incomplete",
        ItemState::Withdrawn => "withdrawn",
    }
}

/// The question, the call that it is about as far as the question does not say it, and the answer.
fn ask_text(item: &Item<'_>) -> String {
    let mut text = format!("? {}", item.text);
    push_call_details(item, &mut text);
    push_indented(answer_text(item).as_deref().unwrap_or_default(), &mut text);
    text
}

fn tool_card_text(item: &Item<'_>) -> String {
    let mut text = tool_line(item, &tool_headline(item));
    push_call_details(item, &mut text);
    if is_output_shown(item) {
        for output in [Some(&*item.text), item.result.as_deref()].into_iter().flatten() {
            push_indented(output_without_exit_status(item, output), &mut text);
        }
    }
    text
}

/// Pushes what the headline of a call does not say: arguments that its description leaves out,
/// changes, tasks and sources.
fn push_call_details(item: &Item<'_>, text: &mut String) {
    push_indented(undescribed_arguments(item), text);
    for line in tool_detail_lines(item) {
        push_indented(&line.text, text);
    }
}

/// Pushes a text in new lines with an indent, unless it is blank.
fn push_indented(part: &str, text: &mut String) {
    if !part.trim().is_empty() {
        let _ = write!(text, "\n    {}", part.trim_end().replace('\n', "\n    "));
    }
}

/// Headline of a tool call with its state: `* $ cargo test (failed, exit status 101)`.
fn tool_line(item: &Item<'_>, headline: &str) -> String {
    let exit_status = exit_status_text(item).map(|words| format!(", {words}")).unwrap_or_default();
    let headline = headline.trim().replace('\n', "\n    ");
    format!("* {headline} ({}{exit_status})", state_label(item))
}

fn steps_text(item: &Item<'_>) -> String {
    if item.state == ItemState::Live {
        return String::new();
    }
    let mut text = format!("+ {}", steps_label(item));
    for step in &item.steps {
        let line = match step.kind {
            ItemKind::Reasoning => format!("* thinking ({})", state_label(step)),
            _ => tool_line(step, &folded_headline(step)),
        };
        let _ = write!(text, "\n    {}", line.replace('\n', "\n    "));
        for image in &step.images {
            let _ = write!(text, "\n        [image {}]", image.reference);
        }
    }
    text
}

/// Text of the page's items and its open asks, separated by blank lines.
pub(crate) fn render_page_text(page: &Page) -> String {
    let mut out = String::new();
    let items = page.items.values().map(item_text);
    for text in items.chain(texts_of_asks_without_item(page)) {
        if text.trim().is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(text.trim_end_matches('\n'));
        out.push('\n');
    }
    out
}

/// Text of the open asks that are not already items of the page.
fn texts_of_asks_without_item(page: &Page) -> Vec<String> {
    let is_item = |ask: &Ask<'_>| page.items.values().rev().any(|item| item.is_of_ask(ask));
    let open = page.asks.iter().filter(|ask| !is_item(ask));
    open.map(|ask| {
        let options: Vec<&str> = ask.options.iter().map(|option| &*option.label).collect();
        let options = options.join(" / ");
        if options.is_empty() {
            format!("? {}", ask.text)
        } else {
            format!("? {} [{options}]", ask.text)
        }
    })
    .collect()
}

/// Status line in brackets: current activity, or how the run ended; empty if it completed or if an
/// item says it.
pub(crate) fn status_line_unless_completed(page: &Page) -> String {
    let status = match &page.ended {
        Some(ended) if ended.outcome == Outcome::Completed => String::new(),
        Some(_) if page.items.values().next_back().is_some_and(Item::is_ending) => String::new(),
        Some(ended) => ended.label().unwrap_or_default().into_owned(),
        None => status_text(page),
    };
    match (status.is_empty(), page.ended.is_some()) {
        (true, _) => status,
        (false, true) => format!("[{status}]"),
        (false, false) => format!("[{status}...]"),
    }
}

#[cfg(test)]
mod tests {
    use millpond_engine::view::image_ref::ImageRef;

    use super::*;

    #[test]
    fn t3_a_request_in_progress_does_not_look_like_one_that_is_done() {
        let mut item = Item::new(ItemKind::Request, "r1", "r0");
        assert_eq!(item_text(&item), "* request (in progress)");
        item.state = ItemState::Done;
        item.text = r#"{"cost":0.25,"tokensIn":20,"tokensOut":30,"model":"heron-2"}"#.into();
        assert_eq!(item_text(&item), "* request to heron-2: 20 tokens in, 30 tokens out, $0.25");
    }

    #[test]
    fn x18_images_of_folded_steps_are_on_the_page() {
        let mut step = Item::new(ItemKind::Tool, "r1", "s0");
        step.state = ItemState::Done;
        step.name = Some("paint".into());
        let image = millpond_engine::event::Image::Url { url: "https://pond.test/a.png".into() };
        step.images.push(ImageRef::from_image(&image).into_owned());
        let mut control = Item::new(ItemKind::Steps, "r1", "r0");
        control.state = ItemState::Done;
        control.steps.push(step);
        let text = item_text(&control);
        assert_eq!(text, "+ Steps\n    * paint (done)\n        [image https://pond.test/a.png]");
    }

    #[test]
    fn what_was_taken_back_is_not_on_the_page() {
        let mut page = Page::default();
        for (key, state) in [(0, ItemState::Done), (1, ItemState::Withdrawn)] {
            let mut item = Item::new(ItemKind::Text, "r1", "m");
            item.text = format!("text {key}").into();
            item.state = state;
            page.items.insert(millpond_engine::view::ItemKey(key), item);
        }
        assert_eq!(render_page_text(&page), "text 0\n");
    }

    #[test]
    fn a_folded_step_has_its_target_also_if_its_arguments_say_more() {
        let call = millpond_engine::tool::ToolCall {
            name: "Edit",
            kind: millpond_engine::event::ToolKind::Function,
            server: None,
            arguments: r#"{"file_path":"pond.md","other":1}"#,
        };
        let mut step = Item::new(ItemKind::Tool, "r1", "s0");
        step.state = ItemState::Done;
        step.name = Some("Edit".into());
        step.description = Some(Box::new(call.describe()));
        let mut control = Item::new(ItemKind::Steps, "r1", "r0");
        control.state = ItemState::Done;
        control.steps.push(step);
        assert_eq!(item_text(&control), "+ Steps\n    * Edit pond.md (done)");
    }

    #[test]
    fn t11_an_ask_has_the_call_that_it_is_about() {
        let mut ask = Item::new(ItemKind::Ask, "r1", "a");
        ask.text = "Run it?".into();
        ask.arguments = Some(r#"{"n":1}"#.into());
        assert_eq!(item_text(&ask), "? Run it?\n    {\"n\":1}");
        ask.result = Some("allow".into());
        assert_eq!(item_text(&ask), "? Run it?\n    {\"n\":1}\n    answered: allow");
    }
}
