//! A page as plain text.

use std::fmt::Write;

use engine::event::Outcome;
use engine::view::{Item, Kind, Picture, State};
use terminal::page::spent::spent_words as cost_words;
use terminal::page::status::doing_words;

/// What an item looks like; empty if there is nothing to see.
fn item_text(item: &Item<'_>) -> String {
    if item.state == State::Withdrawn {
        return String::new();
    }
    let name = item.name.as_deref().unwrap_or("tool");
    let mut text = match item.kind {
        Kind::User => format!("> {}", item.text.trim_end().replace('\n', "\n> ")),
        Kind::Text => item.text.clone().into_owned(),
        Kind::Reasoning => format!("(thinking) {}", item.text),
        Kind::Tool | Kind::Entry | Kind::Action => card(item, name),
        Kind::Steps => steps(item),
        Kind::Ask => format!("? {}{}", item.text, answer(item)),
        Kind::Request => format!("* request{}", cost_words(&item.text)),
        Kind::Checkpoint => format!("* checkpoint {}", item.text),
        Kind::Notice if item.sort.as_deref() == Some("usage") => {
            format!("* in all{}", cost_words(&item.text))
        }
        Kind::Notice => format!("* {}{}", notice_sort(item), item.text),
        Kind::Error => format!("! {}", item.text),
        Kind::Withdrawal => format!("* taken back: {}", item.text),
    };
    for image in &item.images {
        let _ = write!(text, "{}[image {}]", line_break(&text), image.reference);
    }
    for citation in &item.citations {
        let title = citation.title.as_deref().or(citation.url.as_deref()).unwrap_or("a source");
        let url = citation.url.as_deref().filter(|url| *url != title).unwrap_or_default();
        let _ = write!(text, "{}[{title}] {url}", line_break(&text));
    }
    text
}

fn line_break(text: &str) -> &'static str {
    if text.is_empty() || text.ends_with('\n') { "" } else { "\n" }
}

fn state(item: &Item<'_>) -> &'static str {
    match item.state {
        State::Live => "running",
        State::Done => "done",
        State::Called => "called",
        State::Failed => "failed",
        State::Denied => "denied",
        State::Incomplete => "not finished",
        State::Withdrawn => "taken back",
    }
}

fn card(item: &Item<'_>, name: &str) -> String {
    let mut text = format!("* {name} ({})", state(item));
    for part in [item.arguments.as_deref(), Some(&*item.text), item.result.as_deref()] {
        if let Some(part) = part.filter(|part| !part.trim().is_empty()) {
            let _ = write!(text, "\n    {}", part.trim_end().replace('\n', "\n    "));
        }
    }
    text
}

fn steps(item: &Item<'_>) -> String {
    let mut text = format!("+ {}", item.label.as_deref().unwrap_or("Steps"));
    for step in &item.steps {
        let name = step.name.as_deref().unwrap_or("thinking");
        let _ = write!(text, "\n    * {name} ({})", state(step));
        for image in &step.images {
            let _ = write!(text, "\n        [image {}]", image.reference);
        }
    }
    text
}

fn notice_sort(item: &Item<'_>) -> &'static str {
    match item.sort.as_deref() {
        Some("retry") => "retry: ",
        Some("compaction") => "memory shortened: ",
        Some("warning") => "warning: ",
        _ => "",
    }
}

fn answer(item: &Item<'_>) -> String {
    match item.result.as_deref() {
        Some(answer) if !answer.is_empty() => format!("\n    answered: {answer}"),
        _ => String::new(),
    }
}

/// The whole page and what waits for a person, a blank line between them.
pub(crate) fn page_text(picture: &Picture) -> String {
    let mut page = String::new();
    let items = picture.items.values().map(item_text);
    for text in items.chain(asks_text(picture)) {
        if text.trim().is_empty() {
            continue;
        }
        if !page.is_empty() {
            page.push('\n');
        }
        page.push_str(text.trim_end_matches('\n'));
        page.push('\n');
    }
    page
}

/// What waits for a person, as far as it is no item of the page.
fn asks_text(picture: &Picture) -> Vec<String> {
    let is_item =
        |id: &str| picture.items.values().rev().any(|item| item.kind == Kind::Ask && item.id == id);
    let open = picture.asks.iter().filter(|ask| !is_item(&ask.id));
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

/// The line under the page: what is going on, or what went wrong.
pub(crate) fn status_text(picture: &Picture) -> String {
    let status = match &picture.ended {
        Some(ended) if ended.outcome == Outcome::Completed => String::new(),
        Some(ended) => ended.words().unwrap_or_default().into_owned(),
        None => doing_words(picture),
    };
    match (status.is_empty(), picture.ended.is_some()) {
        (true, _) => status,
        (false, true) => format!("[{status}]"),
        (false, false) => format!("[{status}...]"),
    }
}

#[cfg(test)]
mod tests {
    use engine::view::blob::Shown;

    use super::*;

    #[test]
    fn what_a_request_cost_is_told_in_words() {
        let json = r#"{"cost":0.25,"tokensIn":20,"tokensOut":30,"model":"heron-2"}"#;
        assert_eq!(cost_words(json), " to heron-2: 20 tokens in, 30 tokens out, $0.25");
        assert_eq!(cost_words(r#"{"tokensOut":1}"#), ": 1 token out");
        assert_eq!(cost_words(r#"{"cost":null}"#), "");
        assert_eq!(cost_words("{}"), "");
        assert_eq!(cost_words(r#"{"cancelReason":"user"}"#), ": cancelled: user");
        assert_eq!(cost_words("not JSON"), "");
    }

    #[test]
    fn x18_pictures_of_folded_steps_are_on_the_page() {
        let mut step = Item::new(Kind::Tool, "r1", "s0");
        step.state = State::Done;
        step.name = Some("paint".into());
        let image = engine::event::Image::Url { url: "https://pond.test/a.png".into() };
        step.images.push(Shown::of(&image).into_owned());
        let mut control = Item::new(Kind::Steps, "r1", "r0");
        control.steps.push(step);
        let text = item_text(&control);
        assert_eq!(text, "+ Steps\n    * paint (done)\n        [image https://pond.test/a.png]");
    }

    #[test]
    fn what_was_taken_back_is_not_on_the_page() {
        let mut picture = Picture::default();
        for (key, state) in [(0, State::Done), (1, State::Withdrawn)] {
            let mut item = Item::new(Kind::Text, "r1", "m");
            item.text = format!("text {key}").into();
            item.state = state;
            picture.items.insert(engine::view::Key(key), item);
        }
        assert_eq!(page_text(&picture), "text 0\n");
    }
}
