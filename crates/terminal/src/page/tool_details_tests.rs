use millpond_engine::event::{ToolKind, ToolOutcome};
use millpond_engine::tool::{ToolCall, ToolResult};
use millpond_engine::view::ItemKind;

use super::super::images::{PageImages, RowPhase};
use super::super::item::{RenderOptions, item_rows};
use super::*;
use crate::hyperlinks::HyperlinkMode;
use crate::size::Size;

const OPTIONS: RenderOptions =
    RenderOptions { size: Size { cols: 60, rows: 24 }, hyperlinks: HyperlinkMode::SpelledOut };

/// A tool's item that has ended, as `transcript` makes it.
fn tool_item(name: &str, arguments: &str, output: &str, outcome: ToolOutcome) -> Item<'static> {
    let call = ToolCall { name, kind: ToolKind::Function, server: None, arguments };
    let mut description = call.describe();
    description.add_result(ToolResult { output, outcome, detail: None });
    let mut item = Item::new(ItemKind::Tool, "r", "s0");
    item.name = Some(name.to_owned().into());
    item.arguments = Some(arguments.to_owned().into());
    item.text = output.to_owned().into();
    item.state = outcome.into();
    item.description = Some(Box::new(description));
    item
}

fn row_texts(item: &Item<'_>) -> Vec<String> {
    let rows = item_rows(item, OPTIONS, &PageImages::default(), RowPhase::Settled);
    rows.iter().map(|row| row.text().to_owned()).collect()
}

/// Checks the rows of a call that has succeeded.
fn check(name: &str, arguments: &str, output: &str, rows: &[&str]) {
    let item = tool_item(name, arguments, output, ToolOutcome::Succeeded);
    assert_eq!(row_texts(&item), rows, "{name} {arguments}");
}

#[test]
fn an_edit_shows_its_changed_lines_with_signs_and_not_its_arguments() {
    check(
        "Edit",
        r#"{"file_path":"weir.rs","old_string":"fn a() {\n    leak();\n}","new_string":"fn a() {\n    hold();\n}"}"#,
        "The file has been updated.",
        &["● Edit weir.rs", "   fn a() {", "  -    leak();", "  +    hold();", "   }"],
    );
    check("Write", r#"{"path":"a","content":"x\ny"}"#, "ok", &["● Write a", "  1 +x", "  2 +y"]);
    check(
        "file_change",
        r#"{"changes":[{"path":"a","diff":"@@ -9 +9 @@ fn b\n-x\n+y"},{"path":"c","kind":"add"}]}"#,
        "",
        &["● Edit a, c", "  a", "  ⋮ fn b", "  9 -x", "  9 +y", "  c"],
    );
}

#[test]
fn a_command_shows_its_exit_status_and_its_output() {
    check("bash", r#"{"command":"ls"}"#, "a\nb", &["● $ ls", "  a", "  b"]);
    let failed = tool_item(
        "Bash",
        r#"{"command":"make","description":"Build it"}"#,
        "Exit code 2\nno rule",
        ToolOutcome::Failed,
    );
    assert_eq!(row_texts(&failed), ["✕ $ make failed, exit status 2", "  # Build it", "  no rule"]);
    for (output, shown) in [
        ("no rule\nexit code 2", "no rule"),
        ("[exit code: 2]\nno rule", "no rule"),
        ("no rule\n[Exit status 2.]\n", "no rule"),
        ("Exit code 2", ""),
        ("no rule", "no rule"),
        ("Exit code 2 means that it failed", "Exit code 2 means that it failed"),
        ("Exit code 22\nno rule", "Exit code 22\nno rule"),
        ("a\nexit code 2\nb", "a\nexit code 2\nb"),
    ] {
        assert_eq!(output_without_exit_status(&failed, output), shown, "{output}");
    }
}

#[test]
fn folded_calls_show_their_titles_and_targets() {
    let edit = r#"{"file_path":"weir.rs","old_string":"a","new_string":"b","replace_all":true}"#;
    let mut folded = Item::new(ItemKind::Steps, "r", "s1");
    folded.state = ItemState::Done;
    folded.label = Some("Ran for 2s".into());
    folded.steps = vec![
        Item::new(ItemKind::Reasoning, "r", "s2"),
        tool_item("Edit", edit, "ok", ToolOutcome::Succeeded),
        tool_item("Bash", r#"{"command":"make all"}"#, "", ToolOutcome::Succeeded),
        tool_item("mcp__pond_gate__open", r#"{"by":2,"side":"left"}"#, "", ToolOutcome::Succeeded),
    ];
    assert_eq!(
        row_texts(&folded),
        ["▸ Ran for 2s", "  Edit weir.rs", "  $ make all", "  pond gate: open left"]
    );
    let many = tool_item("Read", r#"{"path":"a"}"#, "", ToolOutcome::Succeeded);
    folded.steps = vec![many; 10];
    assert_eq!(row_texts(&folded).last().map(String::as_str), Some("  … 2 more lines"));
}

#[test]
fn tasks_sources_and_reads_are_lists_and_lines() {
    check(
        "TodoWrite",
        r#"{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"in_progress"},{"content":"c","status":"pending"}]}"#,
        "Todos have been modified",
        &["● To-do list", "  [x] a", "  [>] b (in progress)", "  [ ] c"],
    );
    check(
        "web_search",
        r#"{"query":"weirs"}"#,
        r#"{"url":"https://a.test","title":"A"}{"url":"https://a.test","title":"A"}"#,
        &["● Web search weirs", "  ↗ A https://a.test"],
    );
    check("read_file", r#"{"path":"a.rs"}"#, "fn main() {}", &["● Read a.rs"]);
    check("mcp__pond_gate__open", r#"{"by":2}"#, "ok", &["● pond gate: open {\"by\":2}", "  ok"]);
    check("get_weather", r#"{"city":"Oslo"}"#, "rain", &["● get_weather Oslo", "  rain"]);
}

#[test]
fn hostile_text_of_a_tool_reaches_no_row_as_control_characters() {
    let hostile = "\u{1b}[2Jx\u{7}\u{202e}\r\nend";
    let arguments = [
        serde_json::json!({ "command": hostile, "description": hostile }),
        serde_json::json!({ "path": hostile, "old": hostile, "new": "y" }),
        serde_json::json!({ "query": hostile }),
        serde_json::json!({ "todos": [{ "content": hostile }] }),
    ];
    for (name, arguments) in ["bash", "edit", "web_search", "todo_write"].iter().zip(arguments) {
        let item = tool_item(name, &arguments.to_string(), hostile, ToolOutcome::Failed);
        for text in row_texts(&item) {
            assert!(!text.chars().any(char::is_control), "{name}: {text:?}");
            assert!(!text.contains('\u{202e}'), "{name}: {text:?}");
        }
    }
}

#[test]
fn an_item_without_a_description_shows_its_name_and_arguments() {
    let mut item = tool_item("Bash", r#"{"command":"ls"}"#, "a", ToolOutcome::Succeeded);
    item.description = None;
    assert_eq!(row_texts(&item), ["● Bash {\"command\":\"ls\"}", "  a"]);
}

#[test]
fn an_ask_shows_the_change_once_and_what_came_of_it() {
    let arguments = r#"{"file_path":"a","old_string":"x","new_string":"y"}"#;
    let mut ask = tool_item("Edit", arguments, "", ToolOutcome::Succeeded);
    ask.kind = ItemKind::Ask;
    ask.state = ItemState::Live;
    ask.text = "Edit a?".into();
    assert_eq!(row_texts(&ask), ["? Edit a?", "  -x", "  +y"]);
    ask.text = "Edit a?\n@@ -1 +1 @@\n-x\n+y".into();
    assert_eq!(row_texts(&ask), ["? Edit a?", "  @@ -1 +1 @@", "  -x", "  +y"]);
    ask.text = "Edit \u{200b}a?\n-x\n+y".into();
    ask.state = ItemState::Incomplete;
    assert_eq!(row_texts(&ask), ["? Edit \\u{200b}a?", "  -x", "  +y", "  not answered"]);
    ask.result = Some("deny".into());
    assert_eq!(row_texts(&ask).last().map(String::as_str), Some("  answered: deny"));
    ask.result = Some("answered".into());
    assert_eq!(row_texts(&ask).last().map(String::as_str), Some("  answered"));
}
