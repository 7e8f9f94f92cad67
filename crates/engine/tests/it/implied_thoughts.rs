//! Models that always begin inside a thought (X3): when their first text is reasoning, and when it
//! is released.

use millpond_engine::event::{Event, MessagePhase, Outcome, StepId};
use millpond_engine::ingest::IngestOptions;
use serde_json::Value;

use crate::event_queries::ingest_fixture;
use crate::support::{RecordedEvents, files_below, ingest, ingest_whole};
use crate::texts::find_corpus;

/// Reasoning that was not withdrawn, joined.
fn kept_reasoning(kept: &RecordedEvents) -> String {
    let withdrawn: Vec<StepId> = kept
        .events()
        .filter_map(|event| match event {
            Event::Withdrawn { steps, .. } => Some(steps.clone()),
            _ => None,
        })
        .flatten()
        .collect();
    let texts = kept.events().filter_map(|event| match event {
        Event::ReasoningAppended { step, text } if !withdrawn.contains(step) => Some(text.as_ref()),
        _ => None,
    });
    texts.collect()
}

#[track_caller]
fn check(stream: &str, reasoning: &str, visible: &str, outcome: Outcome) {
    let kept = ingest_fixture(stream);
    assert_eq!(kept.visible_text(), visible, "{stream}");
    assert_eq!(kept_reasoning(&kept), reasoning, "{stream}");
    assert_eq!(kept.ending().outcome, outcome, "{stream}");
}

#[track_caller]
fn check_chat(stream: &str, reasoning: &str, visible: &str, outcome: Outcome) {
    check(&format!("openai-chat/implied-thought-{stream}.sse"), reasoning, visible, outcome);
}

#[test]
fn x3_models_that_begin_inside_a_thought_show_only_what_follows_its_end() {
    let thought = "Okay, the pond has `</think>` signs.\n";
    check_chat("closed", thought, "It is deep.", Outcome::Completed);
    check_chat("without-answer", "Okay, the pond.\n", "", Outcome::Completed);
    check_chat("closed-before-a-tool", "I could look.\n", "Looking.", Outcome::Completed);
    let both = "First thought.\nSecond thought.";
    check_chat("then-another", both, "First.\n\nSecond.", Outcome::Completed);
    check("ollama/implied-thought.jsonl", "Hm, the pond.\n", "It is deep.", Outcome::Completed);
}

#[test]
fn x3_nothing_of_an_implied_thought_is_shown_while_it_streams() {
    for stream in ["closed", "closed-before-a-tool", "without-answer"] {
        let kept = ingest_fixture(&format!("openai-chat/implied-thought-{stream}.sse"));
        let withdrawn = kept.events().any(|event| matches!(event, Event::Withdrawn { .. }));
        assert!(!withdrawn, "{stream}: text was shown and withdrawn");
    }
}

#[test]
fn x3_a_thought_that_never_ends_is_released_at_a_normal_end_or_a_tool() {
    let text = "The tag `</think>` closes a block.\nIt stays.";
    check_chat("never-closed", "", text, Outcome::Completed);
    check_chat("never-closed-before-a-tool", "", "I look it up.", Outcome::Completed);
}

#[test]
fn x3_a_thought_that_is_cut_off_stays_reasoning() {
    check_chat("cut-off", "Okay, the pond", "", Outcome::Truncated);
    check_chat("cut-by-length", "Okay, the pond", "", Outcome::Completed);
}

#[test]
fn x3_a_reasoning_field_or_an_opening_tag_overrides_the_name_of_the_model() {
    check_chat("opened-after-all", "The pond.\n", "It is deep.", Outcome::Completed);
    check_chat("reasoning-field", "The pond.", "It is deep.", Outcome::Completed);
}

#[test]
fn x3_a_text_that_its_source_repeats_as_its_result_is_shown_once() {
    for agent in ["claude-code", "qwen-code"] {
        let stream = format!("{agent}/implied-thought-repeated-in-result.jsonl");
        check(&stream, "", "The pond is deep.", Outcome::Completed);
        assert_eq!(ingest_fixture(&stream).message_texts(), ["The pond is deep."], "{stream}");
    }
    let closed = "claude-code/implied-thought-closed-before-result.jsonl";
    check(closed, "Hm, the pond.\n", "It is deep.", Outcome::Completed);
    assert_eq!(ingest_fixture(closed).message_texts(), ["It is deep."]);
}

#[test]
fn x3_an_implied_thought_belongs_to_its_message_and_to_no_other() {
    for (stream, reasoning, texts) in [
        ("then-another-message", "", ["First.", "Second."]),
        ("beside-another-message", "", ["Second.", "First."]),
        ("closed-beside-another-message", "Hm, the pond.\n", ["Second.", "First."]),
    ] {
        let stream = format!("openai-responses/implied-thought-{stream}.sse");
        let kept = ingest_fixture(&stream);
        assert_eq!(kept.message_texts(), texts, "{stream}");
        assert_eq!(kept_reasoning(&kept), reasoning, "{stream}");
        assert_eq!(kept.ending().outcome, Outcome::Completed, "{stream}");
    }
}

#[test]
fn x3_an_empty_reasoning_field_overrides_the_name_of_the_model() {
    check_chat("empty-reasoning-field", "", "It is deep", Outcome::Completed);
    check_chat("blank-reasoning-field", "", "It is deep", Outcome::Completed);
    let ollama = "ollama/implied-thought-empty-thinking-field.jsonl";
    check(ollama, "", "It is deep", Outcome::Completed);
    for stream in ["openai-chat/implied-thought-empty-reasoning-field.sse", ollama] {
        let kept = ingest_fixture(stream);
        let appended = |event: &Event<'_>| matches!(event, Event::TextAppended { .. });
        assert_eq!(kept.count_events(appended), 2, "{stream}: the text is shown as it comes");
    }
}

#[test]
fn x15_a_declared_final_message_stays_final_after_a_thought_in_it_is_withdrawn() {
    let kept = ingest_fixture("kilo/unopened-thought-in-completion-result.jsonl");
    let phases = kept.events().filter_map(|event| match event {
        Event::MessageStarted { phase, .. } => Some(*phase),
        _ => None,
    });
    let is_final = Some(MessagePhase::Final);
    assert_eq!(phases.collect::<Vec<_>>(), [None, is_final, is_final]);
    assert_eq!(kept.final_text(), "Done.");
}

#[test]
fn x3_a_model_name_that_comes_after_the_first_text_changes_nothing() {
    let chunk = |model: &str, text: &str| {
        format!(
            "data: {{\"id\":\"c\",\"model\":\"{model}\",\"choices\":[{{\"index\":0,\
             \"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n"
        )
    };
    let stream = chunk("", "It is ")
        + &chunk("qwq", "deep.")
        + "data: {\"id\":\"c\",\"choices\":\
         [{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    let kept = ingest_whole(stream.as_bytes());
    assert_eq!((kept.visible_text().as_str(), kept_reasoning(&kept).as_str()), ("It is deep.", ""));
}

/// Collapses runs of white space, which recordings of the corpus leave open.
fn collapse_white_space(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn x3_recorded_replies_that_only_close_their_thought_read_as_expected() {
    let folder = find_corpus().map(|corpus| corpus.join("more/closing-think-only"));
    for path in folder.iter().flat_map(|folder| files_below(folder)) {
        let Some(stem) = path.to_str().and_then(|path| path.strip_suffix(".expected.json")) else {
            continue;
        };
        let expected: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let stream = std::fs::read(format!("{stem}.sse"))
            .unwrap_or_else(|_| std::fs::read(format!("{stem}.jsonl")).unwrap());
        let options = IngestOptions::default();
        let whole = ingest(&options, [&stream[..]]);
        let shown: Vec<String> = whole.events().filter_map(withdrawn_messages).flatten().collect();
        let texts = whole.message_texts().into_iter().enumerate();
        let visible: String = texts
            .filter(|(at, _)| !shown.contains(&at.to_string()))
            .map(|(_, text)| text)
            .collect();
        let expect = |name: &str| collapse_white_space(expected[name].as_str().unwrap());
        assert_eq!(collapse_white_space(&visible), expect("text"), "{stem}");
        assert_eq!(collapse_white_space(&whole.final_text()), expect("final"), "{stem}");
        assert_eq!(expect("ending"), "completed", "{stem}");
        assert_eq!(whole.ending().outcome, Outcome::Completed, "{stem}");
        for len in [1, 7, 64] {
            assert_eq!(ingest(&options, stream.chunks(len)).0, whole.0, "{stem}: cut every {len}");
        }
    }
}

fn withdrawn_messages(event: &Event<'_>) -> Option<Vec<String>> {
    match event {
        Event::Withdrawn { messages, .. } => {
            Some(messages.iter().map(|message| message.0.to_string()).collect())
        }
        _ => None,
    }
}
