//! Codex items in pieces, whole, repeated, concurrent and without ids.

use millpond_engine::event::{Event, MessageId, NoticeLevel, StepId};
use serde_json::json;

use crate::event_queries::ingest_fixture;
use crate::support::ingest_whole;

#[test]
fn a_message_that_completes_after_other_items_is_one_message_in_the_end() {
    let told = ingest_fixture("codex/message-completes-after-other-items.jsonl");
    assert_eq!(told.visible_text(), "Hello worldThe wheelIt turns well.");
    assert_eq!(told.final_text(), "It turns well.");
    assert_eq!(told.reasoning_text(), "Hm.First, then.Hm again.");
}

#[test]
fn a_result_inside_a_message_does_not_cut_it_in_two() {
    let exec = ingest_fixture("codex/result-inside-a-message.jsonl");
    assert_eq!(exec.message_texts(), ["Hello world"]);
    let server = ingest_fixture("codex-app-server/result-inside-the-final-answer.jsonl");
    assert_eq!(server.message_texts(), ["The answer is forty-two."]);
}

#[test]
fn lines_that_come_twice_are_shown_once() {
    let exec = ingest_fixture("codex/lines-sent-twice.jsonl");
    assert_eq!(exec.message_texts(), ["Because.", "It rains."]);
    assert_eq!((exec.reasoning_text().as_str(), exec.tool_calls().len()), ("Clouds.", 1));
    let server = ingest_fixture("codex-app-server/lines-sent-twice.jsonl");
    assert_eq!(server.message_texts(), ["Because.", "It rains.", "Done."]);
    assert_eq!((server.reasoning_text().as_str(), server.tool_calls().len()), ("Clouds.", 1));
    assert_eq!(server.prompt_texts(), ["Why?"]);
}

#[test]
fn calls_without_ids_keep_their_arguments_and_output_apart() {
    let told = ingest_fixture("codex/calls-without-ids.jsonl");
    let arguments: Vec<String> = told.tool_calls().into_iter().map(|(_, text)| text).collect();
    assert_eq!(arguments, [r#"{"command":"ls"}"#, r#"{"command":"pwd"}"#]);
    assert_eq!(
        (told.tool_output(StepId(0)), told.tool_output(StepId(1))),
        ("reeds\n".into(), "/pond\n".into())
    );
    assert_eq!(told.count_events(|event| matches!(event, Event::ArgumentsReplaced { .. })), 0);
    assert_eq!(told.message_texts(), ["One.", "One."]);
}

#[test]
fn a_to_do_list_after_the_reply_does_not_take_the_reply_away() {
    assert_eq!(ingest_fixture("codex/to-do-list-after-the-reply.jsonl").final_text(), "Hello");
}

#[test]
fn a_whole_text_is_the_last_word_on_what_its_deltas_said() {
    let told = ingest_fixture("codex-app-server/whole-text-longer-than-its-deltas.jsonl");
    assert_eq!(told.message_texts(), ["The mill", "Half a wheel", "Other words", "Same \n"]);
    assert_eq!(told.visible_text(), "The millHalf a wheelOther wordsSame \n");
    let warning = "message rewritten: the deltas had 4 bytes, the final text has 11";
    assert_eq!(told.notice_texts(NoticeLevel::Warning), [warning]);
}

#[test]
fn messages_that_come_at_once_do_not_mix() {
    let told = ingest_fixture("codex-app-server/two-messages-at-once.jsonl");
    assert_eq!(told.visible_text(), "A1 A2.B1 B2");
    assert_eq!(told.final_text(), "B1 B2");
}

#[test]
fn a_retry_keeps_what_is_finished() {
    let told = ingest_fixture("codex-app-server/retry-keeps-what-is-finished.jsonl");
    assert_eq!(told.visible_text(), "Keep meFull");
    let withdrawn = told.events().find_map(|event| match event {
        Event::Withdrawn { messages, .. } => Some(messages.clone()),
        _ => None,
    });
    assert_eq!(withdrawn, Some(vec![MessageId(1)]));
}

#[test]
fn a_retry_while_a_sub_agent_speaks_takes_nothing_back() {
    let told = ingest_fixture("codex-app-server/retry-while-a-sub-agent-speaks.jsonl");
    assert_eq!(told.visible_text(), "Waiting.Done.");
    assert_eq!(told.tool_output(StepId(0)), "Reeds.");
}

#[test]
fn output_of_an_item_nobody_knows_is_kept() {
    assert_eq!(
        ingest_fixture("codex-app-server/output-of-an-unknown-item.jsonl").unrecognised_count(),
        2
    );
}

#[test]
fn ids_of_any_length_name_their_items() {
    let long = |end: &str| "i".repeat(1 << 16) + end;
    let delta = |id: &str, text: &str| {
        let params = json!({"threadId": "t", "turnId": "u", "itemId": id, "delta": text});
        json!({"method": "item/agentMessage/delta", "params": params}).to_string()
    };
    let lines = [delta(&long("a"), "A"), delta(&long("b"), "B"), delta(&long("b"), "C")];
    let kept = ingest_whole(lines.join("\n").as_bytes());
    let begun = kept.events().filter(|event| matches!(event, Event::MessageStarted { .. }));
    assert_eq!((kept.visible_text().as_str(), begun.count()), ("ABC", 2));
}

#[test]
fn a_prompt_that_both_sides_tell_of_is_one() {
    let both = ingest_fixture("codex-app-server/prompt-of-both-sides.jsonl");
    assert_eq!(both.prompt_texts(), ["Open the gate", "And close it"]);
    let client = ingest_fixture("codex-app-server/approvals-of-both-sides.jsonl");
    assert_eq!(client.prompt_texts(), ["Open the gate"]);
}

#[test]
fn what_a_person_needs_for_an_answer_is_in_the_ask() {
    let asks = |stream: &str| -> Vec<(String, Vec<String>)> {
        let kept = ingest_fixture(stream);
        let asks = kept.events().filter_map(|event| match event {
            Event::AskOpened { text, options, .. } => {
                Some((text.to_string(), options.iter().map(|o| o.label.to_string()).collect()))
            }
            _ => None,
        });
        asks.collect()
    };
    let approvals = asks("codex-app-server/approvals-of-both-sides.jsonl");
    assert_eq!(approvals[0].0, "open gate\nneeds the key\nin /pond");
    let questions = asks("codex-app-server/approval-answer-not-recorded.jsonl");
    let gates = vec!["North: the old one".to_owned(), "South: the new one".to_owned()];
    assert!(questions.contains(&("Gate: Which gate?".to_owned(), gates)), "{questions:?}");
    let copilot = asks("copilot/permission-denied.jsonl");
    let words = vec!["Approve".to_owned(), "Deny".to_owned()];
    assert_eq!(copilot[0], ("open\nopen the gate".to_owned(), words));
    let kilo = asks("kilo/tool-approval.jsonl");
    assert_eq!(kilo[0].1, ["Approve", "Reject"]);
}

#[test]
fn an_error_that_ends_the_run_is_said_once() {
    let fixtures = [
        "codex/turn-failed.jsonl",
        "codex/error-and-no-turn-end.jsonl",
        "codex-app-server/turn-failed.jsonl",
        "copilot/session-error.jsonl",
        "claude-code/rate-limited.jsonl",
    ];
    for stream in fixtures {
        let kept = ingest_fixture(stream);
        let detail = kept.ending().detail.clone().unwrap_or_default();
        assert!(!detail.is_empty(), "{stream}");
        assert!(!kept.notice_texts(NoticeLevel::Error).contains(&&*detail), "{stream}: {detail}");
    }
}

#[test]
fn an_error_after_which_the_run_goes_on_is_a_notice() {
    let lines = [
        json!({"type": "turn.started"}),
        json!({"type": "error", "message": "a leak"}),
        json!({"type": "item.completed", "item": {"id": "m", "type": "agent_message", "text": "Hi"}}),
        json!({"type": "turn.completed"}),
    ];
    let stream = lines.map(|line| format!("{line}\n")).concat();
    let kept = ingest_whole(stream.as_bytes());
    assert_eq!(kept.notice_texts(NoticeLevel::Error), ["a leak"]);
    assert_eq!(kept.final_text(), "Hi");
}
