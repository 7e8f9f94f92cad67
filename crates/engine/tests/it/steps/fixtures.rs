//! Every stream in `fixtures/` through this view.

use millpond_engine::event::Record;
use millpond_engine::view::Thinking;
use serde_json::json;

use crate::fixtures::fixture_streams;
use crate::support::{RecordedEvents, fixtures_dir, ingest_whole};

use super::frame_client::{ViewResult, view_records};

fn to_records(kept: &RecordedEvents) -> Vec<Record<'static>> {
    let lines = (0..).zip(&kept.0);
    lines
        .map(|(seq, (at_ms, event))| Record {
            seq,
            at_ms: *at_ms,
            run: "run".into(),
            event: event.clone(),
        })
        .collect()
}

fn view_fixture(name: &str) -> ViewResult {
    let bytes = std::fs::read(fixtures_dir().join(name)).unwrap();
    view_records(Thinking::ViewDefault, &to_records(&ingest_whole(&bytes)))
}

#[test]
fn steps_x4_every_fixture_shows_every_visible_text_once_and_in_order() {
    for stream in fixture_streams() {
        let kept = ingest_whole(&std::fs::read(&stream).unwrap());
        for thinking in [Thinking::ViewDefault, Thinking::Hide] {
            let seen = view_records(thinking, &to_records(&kept));
            let items = seen.page.items.values();
            let texts = items.filter(|item| item.kind == millpond_engine::view::ItemKind::Text);
            let shown: String = texts.map(|item| &*item.text).collect();
            assert_eq!(shown, kept.visible_text(), "{}", stream.display());
        }
    }
}

#[test]
fn steps_s10_every_fixture_finalizes_each_of_its_rounds_once_and_ends_once() {
    for stream in fixture_streams() {
        let kept = ingest_whole(&std::fs::read(&stream).unwrap());
        let seen = view_records(Thinking::ViewDefault, &to_records(&kept));
        let begun = kept.events().filter_map(|event| match event {
            millpond_engine::event::Event::RoundStarted { round, .. } => Some(json!(round)),
            _ => None,
        });
        let closed: Vec<_> =
            seen.frames_named("finalized").iter().map(|data| data["round"].clone()).collect();
        assert_eq!(closed, begun.collect::<Vec<_>>(), "{}", stream.display());
        let endings = ["completed", "failed", "cancelled", "truncated", "stalled", "interrupted"];
        let ended = seen.frames.iter().filter(|(name, _)| endings.contains(&&**name)).count();
        assert_eq!(ended, 1, "{}", stream.display());
    }
}

#[test]
fn steps_s1_in_every_fixture_steps_come_inline_only_after_the_text_and_overlays_only_before_it() {
    for stream in fixture_streams() {
        let kept = ingest_whole(&std::fs::read(&stream).unwrap());
        let seen = view_records(Thinking::ViewDefault, &to_records(&kept));
        let mut rounds_with_text = Vec::new();
        for (name, data) in &seen.frames {
            let has_text = rounds_with_text.contains(&&data["round"]);
            match name.as_str() {
                "text" => rounds_with_text.push(&data["round"]),
                "segment" => assert!(has_text, "{}: {data}", stream.display()),
                "overlay" => {
                    assert!(!has_text || data["phase"].is_null(), "{}: {data}", stream.display());
                }
                _ => {}
            }
        }
    }
}

#[test]
fn steps_s8_done_events_that_repeat_their_deltas_are_shown_once() {
    assert_eq!(
        view_fixture("openai-responses/thinking-text-tool.sse").item_summaries(),
        [
            "Steps [thought \"**Weighing** the herons\", thought \"Two ponds, one boat\"]",
            "\"Let me count.\"",
            "count_herons({\"pond\":\"north\"}) = \"\" (Called)",
            "\"There are three herons.\\n\"",
        ]
    );
}

#[test]
fn steps_s6_a_recorded_reply_that_only_calls_has_no_text_and_no_entries() {
    let seen = view_fixture("openai-responses/tools-the-client-runs.sse");
    assert_eq!(seen.item_summaries().len(), 1);
    assert_eq!(
        seen.frame_summaries(),
        [
            "overlay waiting Waiting",
            "overlay tool apply_patch",
            "overlay tool query",
            "overlay tool computer",
            "ask",
            "overlay tool local_shell",
            "overlay tool shell",
            "overlay - -",
            "finalized 0 Steps",
            "completed",
        ]
    );
}

#[test]
fn steps_s7_a_recorded_result_from_outside_its_round_is_an_entry() {
    let seen = view_fixture("openai-responses/search-program-compaction-and-the-unknown.sse");
    let page = seen.item_summaries();
    let row = "program({\"code\":\"await tools.net_fish()\"}) = \"{\\\"fish\\\":2}\" [net_fish({})";
    assert!(page[0].contains(row), "{page:?}");
    assert_eq!(page[1..], ["\"Two fish.\""]);
    assert_eq!(seen.frames_named("entry").len(), 1);
}

#[test]
fn steps_x18_a_recorded_sub_agent_is_under_its_tool() {
    let page = view_fixture("claude-code/sub-agent.jsonl").item_summaries();
    assert_eq!(page.len(), 3);
    assert!(page[1].starts_with("Task({"));
    assert!(page[1].ends_with("[Bash({\"command\":\"ls den\"}) = \"otter\"]"));
}

#[test]
fn steps_x16_abandoned_blocks_leave_the_page() {
    assert_eq!(
        view_fixture("claude-code/abandoned-blocks.jsonl").item_summaries(),
        [
            "\"\" (Withdrawn)",
            "\"\" (Withdrawn)",
            "Steps [thought \"A whole thought.\"]",
            "\"The whole answer.\"",
        ]
    );
}
