//! A tool call as its agent made it is one step away, also of a folded one.

use std::time::Instant;

use millpond_engine::view::patch::{Patch, Settled};
use millpond_engine::view::{Item, ItemKey, ItemKind, ItemState, ViewName};
use millpond_terminal::chat::Chat;
use millpond_terminal::hyperlinks::HyperlinkMode;
use millpond_terminal::input::history::History;
use millpond_terminal::input::key_bindings::KeyAction;
use millpond_terminal::page::RenderOptions;
use millpond_terminal::size::Size;

const OPTIONS: RenderOptions =
    RenderOptions { size: Size { cols: 60, rows: 20 }, hyperlinks: HyperlinkMode::SpelledOut };

fn call(name: &'static str, arguments: &'static str, output: &str) -> Item<'static> {
    let mut item = Item::new(ItemKind::Tool, "r", name);
    item.name = Some(name.into());
    item.arguments = Some(arguments.into());
    item.text = output.to_owned().into();
    item.state = ItemState::Done;
    item
}

/// A chat with two folded calls, and one below a text, all printed.
fn chat_with_calls() -> Chat {
    let mut chat = Chat::new(ViewName::Steps, OPTIONS, History::new(&[]), "no folder".into());
    let mut folded = Item::new(ItemKind::Steps, "r", "s");
    folded.state = ItemState::Done;
    folded.steps = vec![call("Read", r#"{"path":"a"}"#, "one"), call("Grep", "{}", "")];
    let lines: Vec<String> = (0..20).map(|number| format!("line {number}")).collect();
    let below = call("Bash", r#"{"command":"ls"}"#, &lines.join("\n"));
    for (key, item) in [folded, below].into_iter().enumerate() {
        let key = ItemKey(u32::try_from(key).unwrap());
        chat.apply_patch(&Patch::Put { key, item }, Instant::now());
    }
    chat.apply_patch(&Patch::Settle(Settled { count: 2, bytes: 0 }), Instant::now());
    chat.take_settled();
    chat
}

fn rows_after(chat: &mut Chat, keys: &[KeyAction]) -> Vec<String> {
    for key in keys {
        assert_eq!(chat.handle_key(*key, Instant::now()), [], "nothing is sent");
    }
    chat.take_settled().iter().map(|row| row.text().to_owned()).collect()
}

fn rows_after_line(chat: &mut Chat, line: &str) -> Vec<String> {
    chat.set_input_text(line);
    rows_after(chat, &[KeyAction::Enter])
}

#[test]
fn a_key_prints_the_newest_call_in_full() {
    let mut chat = chat_with_calls();
    let rows = rows_after(&mut chat, &[KeyAction::PrintRawCall]);
    assert_eq!(
        rows[..5],
        ["▾ Bash", "  arguments", "    {\"command\":\"ls\"}", "  output", "    line 0"]
    );
    assert_eq!(rows.last().map(String::as_str), Some("    line 19"), "all of it");
}

#[test]
fn a_command_prints_earlier_calls_also_folded_ones() {
    let mut chat = chat_with_calls();
    assert_eq!(rows_after_line(&mut chat, "/raw 2"), ["▾ Grep", "  arguments", "    {}"]);
    let read = ["▾ Read", "  arguments", "    {\"path\":\"a\"}", "  output", "    one"];
    assert_eq!(rows_after_line(&mut chat, "/raw 3"), read);
    for missing in ["/raw 4", "/raw 0"] {
        let rows = rows_after_line(&mut chat, missing);
        assert_eq!(rows, ["· this view shows 3 tool calls: /raw 1 is the newest"]);
    }
}

#[test]
fn without_a_call_the_command_says_so() {
    let mut chat = Chat::new(ViewName::Latest, OPTIONS, History::new(&[]), "no folder".into());
    assert_eq!(rows_after_line(&mut chat, "/raw"), ["· this view shows no tool call"]);
}

#[test]
fn a_call_that_was_asked_about_is_one_call_with_its_arguments() {
    let mut chat = Chat::new(ViewName::Transcript, OPTIONS, History::new(&[]), "no folder".into());
    let mut ask = Item::new(ItemKind::Ask, "r", "ask-1");
    ask.name = Some("write_file".into());
    ask.call = Some("c1".into());
    ask.arguments = Some(r#"{"path":"a"}"#.into());
    ask.text = "+hi".into();
    ask.state = ItemState::Done;
    let mut output = call("write_file", "", "Wrote a.");
    output.arguments = None;
    output.call = Some("c1".into());
    for (key, item) in [ask, output].into_iter().enumerate() {
        let key = ItemKey(u32::try_from(key).unwrap());
        chat.apply_patch(&Patch::Put { key, item }, Instant::now());
    }
    chat.apply_patch(&Patch::Settle(Settled { count: 2, bytes: 0 }), Instant::now());
    chat.take_settled();
    let rows = rows_after(&mut chat, &[KeyAction::PrintRawCall]);
    let expected =
        ["▾ write_file", "  arguments", "    {\"path\":\"a\"}", "  output", "    Wrote a."];
    assert_eq!(rows[..5], expected);
    let rows = rows_after_line(&mut chat, "/raw 2");
    assert!(rows.iter().any(|row| row.contains("one tool call")), "{rows:?}");
}
