//! Computer and browser tools of every source are actions: parameters, state and screenshot.

use millpond_engine::event::{Event, ImageOwner, StepId, ToolKind};
use millpond_engine::ingest::IngestOptions;
use millpond_engine::run::{ActionNames, RunOptions};
use millpond_engine::view::{ItemKind, ViewName};

use crate::event_queries::ingest_fixture;
use crate::support::{RecordedEvents, ingest};
use crate::views::{final_page, to_records};

/// One line per tool: its kind, name, and `with image` if it has one.
fn summarise_tools(events: &RecordedEvents) -> Vec<String> {
    let has_image = |wanted: StepId| {
        events.count_events(|event| {
            matches!(event, Event::ImageReceived { owner: ImageOwner::Step(step), .. }
                if *step == wanted)
        }) == 1
    };
    let tools = events.events().filter_map(|event| match event {
        Event::ToolStarted { step, name, kind, .. } => {
            let image = if has_image(*step) { " with image" } else { "" };
            Some(format!("{}: {name}{image}", kind.as_str()))
        }
        _ => None,
    });
    tools.collect()
}

/// One line per card of view `sentences`: its kind, name, state, parameters and screenshots.
fn summarise_cards(events: &RecordedEvents) -> Vec<String> {
    let page = final_page(ViewName::Sentences, &to_records(events));
    let cards = page.items.values().filter(|item| item.kind != ItemKind::Text);
    let lines = cards.filter(|item| matches!(item.kind, ItemKind::Action | ItemKind::Tool));
    lines
        .map(|item| {
            let (name, state) = (item.name.as_deref().unwrap_or(""), item.state);
            let arguments = item.arguments.as_deref().unwrap_or("-");
            format!("{:?} {name} {state:?} {arguments} {}", item.kind, item.images.len())
        })
        .collect()
}

#[test]
fn sentences_f4_claude_codes_computer_and_browser_tools_are_cards_with_screenshots() {
    let events = ingest_fixture("claude-code/computer-and-browser-actions.jsonl");
    assert_eq!(
        summarise_cards(&events),
        [
            "Action screenshot Done {\"action\":\"screenshot\"} 1",
            "Action mcp__playwright__browser_navigate Done {\"url\":\"http://sluice.example\"} 1",
            "Action mcp__puppeteer__puppeteer_click Failed {\"selector\":\"#open\"} 0",
            "Action left_click Done {\"action\":\"left_click\",\"coordinate\":[4,2]} 1",
            "Tool browser_search Done - 0",
        ]
    );
}

#[test]
fn sentences_f4_actions_of_every_agent_are_actions_with_their_screenshots() {
    let expected: [(&str, &[&str]); 9] = [
        ("codex", &["action: browser_click with image", "mcp: browser_search"]),
        ("codex-app-server", &["action: left_click with image"]),
        ("opencode", &["action: playwright_browser_take_screenshot with image"]),
        ("gemini-cli", &["action: mcp_playwright_browser_click", "action: browser_type"]),
        ("cursor-agent", &["action: browser_click with image"]),
        (
            "acp",
            &[
                "action: mcp__playwright__browser_click with image",
                "action: Tool: playwright/browser_navigate",
                "function: Look at screenshot",
            ],
        ),
        ("pi", &["action: browser_click with image"]),
        ("copilot", &["action: playwright-browser_click with image"]),
        ("kilo", &["action: browser_click with image"]),
    ];
    for (dialect, tools) in expected {
        let name = if dialect == "kilo" { "mcp-browser-action" } else { "browser-actions" };
        let events = ingest_fixture(&format!("{dialect}/{name}.jsonl"));
        assert_eq!(summarise_tools(&events), tools, "{dialect}");
        let cards = summarise_cards(&events);
        let first = &cards[0];
        assert!(first.starts_with("Action ") && first.contains(" Done {\""), "{dialect}: {first}");
    }
}

#[test]
fn sentences_f4_any_tool_of_any_dialect_is_an_action_if_its_name_is_marked() {
    let calls: [(&str, String); 3] = [
        (
            "open_sluice",
            r#"{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"k","function":{"name":"open_sluice","arguments":"{}"}}]}}]}"#.to_owned(),
        ),
        (
            "mcp__pond__open_sluice",
            std::fs::read_to_string(crate::support::fixtures_dir().join("claude-code/whole-messages.jsonl"))
                .unwrap()
                .replace("mcp__pond__depth", "mcp__pond__open_sluice"),
        ),
        (
            "open_sluice",
            std::fs::read_to_string(crate::support::fixtures_dir().join("codex/every-kind-of-tool.jsonl"))
                .unwrap()
                .replace("\"tool\":\"open_gate\"", "\"tool\":\"open_sluice\""),
        ),
    ];
    for (name, stream) in calls {
        for (marked, kind_is_action) in [("open_sluice", true), ("sluice", false)] {
            let action_names = ActionNames::with_marked(vec![marked.to_owned()]);
            let run = RunOptions { action_names, ..RunOptions::default() };
            let options = IngestOptions { run, ..IngestOptions::default() };
            let events = ingest(&options, [stream.as_bytes()]);
            let kinds: Vec<bool> = events
                .events()
                .filter_map(|event| match event {
                    Event::ToolStarted { name: of, kind, .. } if of == name => {
                        Some(*kind == ToolKind::Action)
                    }
                    _ => None,
                })
                .collect();
            assert_eq!(kinds, [kind_is_action], "{name} with {marked} marked");
        }
    }
}
