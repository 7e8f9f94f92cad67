//! Hidden content reaches no reader of a view: table V, and rule X3 in the frames.

use millpond_engine::event::{Event, ImageOwner, NoticeLevel, StepId, ToolKind};
use millpond_engine::ingest::IngestOptions;
use millpond_engine::view::{ItemKind, Thinking, ViewName};
use millpond_engine::wire::{ContentMode, FrameFormat, StreamKind};
use proptest::prelude::*;

use crate::log::Log;
use crate::support::{ingest, ingest_whole};
use crate::views::{encode_records, for_each_log, to_records};

/// All frame data that a reader of this kind receives.
fn all_frame_data(kind: StreamKind, log: &[millpond_engine::event::Record<'_>]) -> String {
    encode_records(kind, log).0.into_iter().map(|frame| frame.data + "\n").collect()
}

fn all_formats(view: ViewName, thinking: Thinking) -> impl Iterator<Item = StreamKind> {
    let formats = [FrameFormat::Native, FrameFormat::Patch].into_iter();
    formats.flat_map(move |format| {
        [ContentMode::Accumulated, ContentMode::Delta].map(|content| StreamKind {
            view,
            format,
            content,
            thinking,
        })
    })
}

/// A run in which everything that may be hidden contains a distinct word.
fn log_with_hidden_words() -> Log {
    let mut log = Log::new();
    log.start_round().push_reasoning(&["aThought"]).start_tool("aTool").succeed_tool(1, "aResult");
    log.push(Event::NoticeGiven { level: NoticeLevel::Warning, text: "aNotice".into() });
    log.start_tool_of_kind("anAction", ToolKind::Action).image(ImageOwner::Step(StepId(2)), "QUJD");
    log.succeed_tool(2, "anActionResult").push_message(&["The reply."]).end_round().complete_run();
    log
}

#[test]
fn v_each_view_shows_what_its_row_says_and_nothing_else() {
    // Thinking, tool name, arguments, results, notices, the action's card.
    let table = [
        (ViewName::Latest, [false, false, false, false, false, false]),
        (ViewName::Steps, [true, true, true, true, false, true]),
        (ViewName::Bubbles, [false, true, false, false, false, true]),
        (ViewName::Transcript, [false, true, true, true, true, true]),
        (ViewName::Sentences, [false, true, true, false, false, true]),
    ];
    let words = ["aThought", "aTool", "secret", "aResult", "aNotice", "anAction"];
    let log = log_with_hidden_words().records();
    for (view, shows) in table {
        for kind in all_formats(view, Thinking::ViewDefault) {
            let received = all_frame_data(kind, &log);
            for (word, shown) in words.into_iter().zip(shows) {
                assert_eq!(received.contains(word), shown, "{word} in {kind:?}");
            }
            assert!(received.contains("The reply."));
            assert!(!received.contains("QUJD"), "pictures come by reference: {kind:?}");
        }
    }
}

#[test]
fn v_arguments_of_a_tool_that_is_no_action_never_reach_sentences() {
    let mut log = Log::new();
    log.start_round()
        .start_tool("aTool")
        .succeed_tool(0, "aResult")
        .push_message(&["Done."])
        .end_round()
        .complete_run();
    for kind in all_formats(ViewName::Sentences, Thinking::ViewDefault) {
        assert!(!all_frame_data(kind, &log.records()).contains("secret"));
    }
}

#[test]
fn v_descriptions_of_tools_reach_the_views_that_show_arguments_and_no_other() {
    for_each_log(|name, log| {
        // A sub-agent's call is described in the text of its tool.
        let is_tool = |event: &Event<'_>| matches!(event, Event::ToolStarted { parent: None, .. });
        let has_tools = log.iter().any(|record| is_tool(&record.event));
        let is_withdrawn = log.iter().any(|r| matches!(r.event, Event::Withdrawn { .. }));
        for view in ViewName::ALL {
            let shows = matches!(view, ViewName::Steps | ViewName::Transcript);
            for kind in all_formats(view, Thinking::ViewDefault) {
                let received = all_frame_data(kind, log);
                let has_description = received.contains("\"purpose\":");
                assert!(shows || !has_description, "{name} {kind:?}");
                if view == ViewName::Transcript && !is_withdrawn {
                    assert_eq!(has_description, has_tools, "{name} {kind:?}");
                }
            }
        }
    });
}

#[test]
fn v_opaque_state_of_a_search_is_on_no_page_and_its_sources_are_there_once() {
    let bytes = include_bytes!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/anthropic/web-search-with-opaque-state.sse"
    ));
    let log = to_records(&ingest_whole(bytes));
    for view in ViewName::ALL {
        for kind in all_formats(view, Thinking::ViewDefault) {
            assert!(!all_frame_data(kind, &log).contains("b3BhcXVl"), "{kind:?}");
        }
    }
    let kind = StreamKind {
        view: ViewName::Transcript,
        format: FrameFormat::Patch,
        content: ContentMode::Delta,
        thinking: Thinking::ViewDefault,
    };
    let (_, page) = encode_records(kind, &log);
    let tool = page.items.values().find(|item| item.kind == ItemKind::Tool).unwrap();
    let description = tool.description.as_ref().unwrap();
    let urls: Vec<&str> = description.sources.iter().map(|source| &*source.url).collect();
    assert_eq!(urls, ["https://weirs.test/a", "https://dams.test/"]);
    assert_eq!(description.summary_line(), "Web search how weirs hold");
}

#[test]
fn v_thinking_hide_removes_it_everywhere() {
    let log = log_with_hidden_words().records();
    for view in ViewName::ALL {
        for kind in all_formats(view, Thinking::Hide) {
            assert!(!all_frame_data(kind, &log).contains("aThought"), "{kind:?}");
        }
    }
}

#[test]
fn v_thinking_show_gives_the_whole_where_there_is_a_place() {
    let log = log_with_hidden_words().records();
    for view in [ViewName::Steps, ViewName::Transcript] {
        for kind in all_formats(view, Thinking::Show) {
            assert!(all_frame_data(kind, &log).contains("aThought"), "{kind:?}");
        }
    }
    for view in [ViewName::Bubbles, ViewName::Sentences] {
        for kind in all_formats(view, Thinking::Show) {
            assert!(!all_frame_data(kind, &log).contains("aThought"), "{kind:?}");
        }
    }
}

/// A stretch of a reply: its text, and its hidden part.
fn reply_stretch() -> impl Strategy<Value = (String, Option<String>)> {
    let canary = "[A-Z]{6,9}".prop_map(|letters| format!("q{letters}q"));
    let tags = prop_oneof![
        Just(("<think>", "</think>")),
        Just(("<THINKING >", "</thinking>")),
        Just(("<tool_call name=\"x\">", "</ tool_call>")),
        Just(("<ns:function_calls>", "</ns:function_calls>")),
    ];
    prop_oneof![
        "[a-z]{1,8}[.!]? ".prop_map(|text| (text, None)),
        Just(("a < b. ".to_owned(), None)),
        Just(("`x<think>y`. ".to_owned(), None)),
        (tags, canary).prop_map(|((open, close), canary)| {
            (format!("{open}{canary}{close}"), Some(canary))
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn x3_no_piece_of_a_hidden_part_reaches_a_frame(
        stretches in proptest::collection::vec(reply_stretch(), 1..10),
        cut in 1..7_usize,
    ) {
        let text: String = stretches.iter().map(|(text, _)| text.as_str()).collect();
        let chars: Vec<char> = text.chars().collect();
        let mut stream = String::new();
        for piece in chars.chunks(cut) {
            let piece: String = piece.iter().collect();
            let delta = serde_json::json!({ "choices": [{ "delta": { "content": piece } }] });
            stream.extend(["data: ", &delta.to_string(), "\n\n"]);
        }
        stream.push_str("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n");
        let log = to_records(&ingest(&IngestOptions::default(), [stream.as_bytes()]));
        for view in [ViewName::Latest, ViewName::Bubbles, ViewName::Transcript, ViewName::Sentences] {
            for kind in all_formats(view, Thinking::ViewDefault) {
                let received = all_frame_data(kind, &log);
                for canary in stretches.iter().filter_map(|(_, canary)| canary.as_deref()) {
                    for piece in canary.as_bytes().windows(4) {
                        let piece = std::str::from_utf8(piece).unwrap();
                        prop_assert!(!received.contains(piece), "{} of {} in {:?}", piece, canary, kind);
                    }
                }
            }
        }
    }
}
