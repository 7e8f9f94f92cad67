//! What the terminal must show of an item, derived from the engine's page: sign, words, state and
//! text, without layout.

use millpond_engine::view::{Item, ItemKind, ItemState};
use millpond_terminal::page::tool_details::{
    exit_status_text, folded_headline, is_output_shown, output_without_exit_status,
    tool_detail_lines, tool_headline, undescribed_arguments,
};
use millpond_terminal::page::{answer_text, steps_label, tool_name};
use millpond_terminal::text::neutralise_and_escape_invisible;

/// Limits of what is shown of a call; the rest is counted.
const ARGUMENT_CHARS: usize = 400;
const DETAIL_LINES: usize = 60;
const OUTPUT_LINES: usize = 8;
const FOLDED_CHARS: usize = 100;

/// A part of the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// These characters, white space aside.
    Exact(String),
    /// These letters and digits, with other characters between them: a layout draws lines and signs.
    Letters(String),
    /// The rest of the line: its format is tested elsewhere.
    RestOfLine,
}

/// Returns what is shown of an item, in order.
pub(crate) fn expected_of(item: &Item<'_>) -> Vec<Shown> {
    if item.state == ItemState::Withdrawn {
        return Vec::new();
    }
    let exact = |sign: &str, text: &str| vec![Shown::Exact(format!("{sign}{text}"))];
    let mut shown = match item.kind {
        ItemKind::User => exact("›", &item.text),
        ItemKind::Text => expected_of_markdown(&item.text),
        ItemKind::Reasoning => exact("·", &item.text),
        ItemKind::Tool | ItemKind::Entry | ItemKind::Action => expected_of_call(item),
        ItemKind::Steps => expected_of_steps(item),
        ItemKind::Ask => {
            let question = neutralise_and_escape_invisible(&item.text);
            let answer = answer_text(item).unwrap_or_default();
            exact("?", &format!("{question}{}{answer}", asked_call_text(item)))
        }
        ItemKind::Request => vec![Shown::Exact("·request".to_owned()), Shown::RestOfLine],
        ItemKind::Checkpoint => exact("·checkpoint", &item.text),
        ItemKind::Error => exact("✕", &item.text),
        ItemKind::Withdrawal => exact("·withdrawn:", &item.text),
        ItemKind::Notice => match item.sort.as_deref() {
            Some("attachment") => Vec::new(),
            Some("usage") => vec![Shown::Exact("·total".to_owned()), Shown::RestOfLine],
            Some("retry") => exact("·retry:", &item.text),
            Some("warning") => exact("·warning:", &item.text),
            Some("compaction") => exact("·contextcompacted:", &item.text),
            Some(_) | None => exact("·", &item.text),
        },
    };
    // The place of an image depends on whether it is saved yet.
    shown
        .extend(item.images.iter().flat_map(|_| [Shown::Exact("▣".to_owned()), Shown::RestOfLine]));
    for citation in &item.citations {
        let url = citation.url.as_deref().unwrap_or_default();
        let title = citation.title.as_deref().filter(|title| *title != url).unwrap_or_default();
        shown.push(Shown::Exact(format!("↗{title}{url}")));
    }
    if item.state == ItemState::Incomplete
        && matches!(item.kind, ItemKind::Text | ItemKind::Reasoning)
    {
        shown.push(Shown::Exact("·[interrupted]".to_owned()));
    }
    if item.state == ItemState::Draft {
        shown.push(Shown::Exact("·[beingwritten]".to_owned()));
    }
    shown
}

/// Text of the call that an ask shows below its question.
fn asked_call_text(item: &Item<'_>) -> String {
    let arguments = undescribed_arguments(item).trim_end();
    let details = tool_detail_lines(item);
    let details = first_lines(details.iter().map(|line| &*line.text), DETAIL_LINES);
    format!("{}{details}", first_lines(arguments.lines(), OUTPUT_LINES))
}

fn expected_of_call(item: &Item<'_>) -> Vec<Shown> {
    let (sign, state) = match item.state {
        ItemState::Live | ItemState::Draft | ItemState::Pending => ("○", "…"),
        ItemState::Done => ("●", ""),
        ItemState::Called => ("→", "called"),
        ItemState::Failed => ("✕", "failed"),
        ItemState::Denied => ("✕", "denied"),
        ItemState::Incomplete => ("✕", "interrupted"),
        ItemState::Withdrawn => return Vec::new(),
    };
    let headline = tool_headline(item);
    let (headline, more) = headline.trim().split_once('\n').unwrap_or((headline.trim(), ""));
    let mut text = format!("{sign}{headline}{state}");
    if let Some(words) = exit_status_text(item) {
        text.push_str(&format!(",{words}"));
    }
    let arguments = undescribed_arguments(item);
    if !arguments.is_empty() && arguments != "{}" {
        text.push_str(&cut(&neutral_spaces(arguments), ARGUMENT_CHARS));
    }
    text.push_str(&first_lines(more.trim_end().lines(), OUTPUT_LINES));
    let details = tool_detail_lines(item);
    text.push_str(&first_lines(details.iter().map(|line| &*line.text), DETAIL_LINES));
    if is_output_shown(item) {
        for output in [Some(&*item.text), item.result.as_deref()].into_iter().flatten() {
            let output = output_without_exit_status(item, output);
            text.push_str(&first_lines(output.trim_end().lines(), OUTPUT_LINES));
        }
    }
    vec![Shown::Exact(text)]
}

fn expected_of_steps(item: &Item<'_>) -> Vec<Shown> {
    if item.state == ItemState::Live {
        return Vec::new();
    }
    let calls = item.steps.iter().filter(|step| step.name.is_some());
    let calls: Vec<String> = calls
        .filter(|step| step.state != ItemState::Withdrawn)
        .map(|step| {
            let headline = folded_headline(step);
            assert!(step.description.is_some() || headline == tool_name(step));
            cut(&neutral_spaces(&headline), FOLDED_CHARS)
        })
        .collect();
    let calls = first_lines(calls.iter().map(String::as_str), OUTPUT_LINES);
    vec![Shown::Exact(format!("▸{}{calls}", steps_label(item)))]
}

/// One line, as it is written to a terminal: cut by characters, so spaces count.
fn neutral_spaces(text: &str) -> String {
    millpond_terminal::text::neutralise_to_one_line(text)
}

fn cut(text: &str, chars: usize) -> String {
    let shown: String = text.chars().take(chars).collect();
    let mark = if shown.len() < text.len() { "…" } else { "" };
    format!("{shown}{mark}")
}

fn first_lines<'a>(lines: impl Iterator<Item = &'a str>, most: usize) -> String {
    let lines: Vec<&str> = lines.collect();
    let more = match lines.len().saturating_sub(most) {
        0 => String::new(),
        1 => "…1 more line".to_owned(),
        more => format!("…{more} more lines"),
    };
    format!("{}{more}", lines[..lines.len().min(most)].join("\n"))
}

/// Text of Markdown, by another parser: exact if it has nothing but prose, else its letters.
fn expected_of_markdown(markdown: &str) -> Vec<Shown> {
    use pulldown_cmark::{Event, Options, Parser, Tag};
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut text = String::new();
    let mut is_prose = true;
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Text(part) | Event::Code(part) => text.push_str(&part),
            Event::Html(part) | Event::InlineHtml(part) => {
                text.push_str(&part);
                is_prose = false;
            }
            Event::Start(Tag::Paragraph | Tag::Emphasis | Tag::Strong | Tag::Strikethrough)
            | Event::End(_)
            | Event::SoftBreak
            | Event::HardBreak => {}
            Event::Start(_)
            | Event::Rule
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_) => is_prose = false,
        }
    }
    vec![if is_prose { Shown::Exact(text) } else { Shown::Letters(text) }]
}

/// Checks that the screen shows exactly these parts, one after another, and nothing else.
pub(crate) fn check_screen(screen: &[String], parts: &[Shown]) -> Result<(), String> {
    // Lines end where the terminal ends them; other white space is layout.
    let text: String = screen.iter().map(|line| spaceless(line) + "\n").collect();
    let mut rest = text.as_str();
    let mut is_after_letters = false;
    for part in parts {
        rest = match part {
            Shown::RestOfLine => rest.split_once('\n').map_or("", |(_, rest)| rest),
            Shown::Letters(letters) => {
                let letters = letters.chars().filter(|char| char.is_alphanumeric());
                take_in_order(rest, letters, |char| !char.is_alphanumeric())
                    .ok_or_else(|| format!("{part:?} is not at {:?}", beginning(rest)))?
            }
            Shown::Exact(exact) => {
                // Signs of a layout may follow its letters.
                let mut start = rest;
                loop {
                    if let Some(rest) =
                        take_in_order(start, spaceless(exact).chars(), |char| char == '\n')
                    {
                        break rest;
                    }
                    match start.chars().next() {
                        Some(char)
                            if char == '\n' || (is_after_letters && !char.is_alphanumeric()) =>
                        {
                            start = &start[char.len_utf8()..];
                        }
                        _ => return Err(format!("{part:?} is not at {:?}", beginning(rest))),
                    }
                }
            }
        };
        is_after_letters = matches!(part, Shown::Letters(_));
    }
    let left: String = rest.chars().filter(|char| *char != '\n').collect();
    let is_layout = is_after_letters && !left.chars().any(char::is_alphanumeric);
    (left.is_empty() || is_layout)
        .then_some(())
        .ok_or_else(|| format!("{:?} is also there", beginning(&left)))
}

/// The rest after these characters, with only `skips` between them; `None` if they are not there.
fn take_in_order(
    text: &str,
    wanted: impl Iterator<Item = char>,
    skips: impl Fn(char) -> bool,
) -> Option<&str> {
    let mut rest = text;
    for char in wanted {
        rest = rest.trim_start_matches(&skips).strip_prefix(char)?;
    }
    Some(rest)
}

/// Without white space, as a terminal writes it.
fn spaceless(text: &str) -> String {
    millpond_terminal::text::neutralise(text).chars().filter(|char| !char.is_whitespace()).collect()
}

fn beginning(text: &str) -> String {
    text.split('\n').filter(|line| !line.is_empty()).take(6).collect::<Vec<_>>().join("|")
}

#[test]
fn a_screen_with_another_state_order_or_number_of_texts_is_found() {
    let exact = |texts: &[&str]| -> Vec<Shown> {
        texts.iter().map(|text| Shown::Exact((*text).to_owned())).collect()
    };
    let screen = ["● $ ls".to_owned(), "  a, b!".to_owned(), String::new(), "Done.".to_owned()];
    assert_eq!(check_screen(&screen, &exact(&["●$ls\na, b!", "Done."])), Ok(()));
    for wrong in [
        &["○$ls\na, b!", "Done."][..],
        &["Done.", "●$ls\na, b!"],
        &["●$ls\na, b!", "Done.", "Done."],
        &["●$ls\na, b!"],
        &["●$ls\na b!", "Done."],
    ] {
        assert!(check_screen(&screen, &exact(wrong)).is_err(), "{wrong:?}");
    }
    let table = ["│ a │ b │".to_owned(), "└───┘".to_owned(), "c".to_owned()];
    let letters = vec![Shown::Letters("ab".to_owned()), Shown::Exact("c".to_owned())];
    assert_eq!(check_screen(&table, &letters), Ok(()));
    assert!(check_screen(&table, &letters[..1]).is_err());
}
