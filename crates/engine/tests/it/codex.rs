//! Items of Codex that come in pieces, whole, twice, at once and without ids.

use engine::event::{Event, Level, MessageId, StepId};
use serde_json::json;

use crate::fixture::told;
use crate::support::ingest_whole;

#[test]
fn a_message_that_completes_after_other_items_is_not_shown_again() {
    let told = told("codex/message-completes-after-other-items.jsonl");
    assert_eq!(told.messages(), ["Hello", " world", "The wheel", "It ", "turns well."]);
    assert_eq!(told.reasoning(), "Hm.First, then.Hm again.");
}

#[test]
fn a_result_inside_a_message_does_not_cut_it_in_two() {
    let exec = told("codex/result-inside-a-message.jsonl");
    assert_eq!(exec.messages(), ["Hello world"]);
    let server = told("codex-app-server/result-inside-the-final-answer.jsonl");
    assert_eq!(server.messages(), ["The answer is forty-two."]);
}

#[test]
fn lines_that_come_twice_are_shown_once() {
    let exec = told("codex/lines-sent-twice.jsonl");
    assert_eq!(exec.messages(), ["Because.", "It rains."]);
    assert_eq!((exec.reasoning().as_str(), exec.tools().len()), ("Clouds.", 1));
    let server = told("codex-app-server/lines-sent-twice.jsonl");
    assert_eq!(server.messages(), ["Because.", "It rains.", "Done."]);
    assert_eq!((server.reasoning().as_str(), server.tools().len()), ("Clouds.", 1));
    assert_eq!(server.prompts(), ["Why?"]);
}

#[test]
fn calls_without_ids_keep_their_arguments_and_output_apart() {
    let told = told("codex/calls-without-ids.jsonl");
    let arguments: Vec<String> = told.tools().into_iter().map(|(_, text)| text).collect();
    assert_eq!(arguments, [r#"{"command":"ls"}"#, r#"{"command":"pwd"}"#]);
    assert_eq!(
        (told.output(StepId(0)), told.output(StepId(1))),
        ("reeds\n".into(), "/pond\n".into())
    );
    assert_eq!(told.count(|event| matches!(event, Event::ArgumentsReplaced { .. })), 0);
    assert_eq!(told.messages(), ["One.", "One."]);
}

#[test]
fn a_to_do_list_after_the_reply_does_not_take_the_reply_away() {
    assert_eq!(told("codex/to-do-list-after-the-reply.jsonl").reply(), "Hello");
}

#[test]
fn a_whole_text_that_says_more_than_its_deltas_is_not_lost() {
    let told = told("codex-app-server/whole-text-longer-than-its-deltas.jsonl");
    assert_eq!(told.messages(), ["The mill", "Half ", "a wheel", "Gone", "Same \n"]);
    assert_eq!(told.notices(Level::Warning), ["a message is not what was shown: Other words"]);
}

#[test]
fn messages_that_come_at_once_do_not_mix() {
    let told = told("codex-app-server/two-messages-at-once.jsonl");
    assert_eq!(told.messages(), ["A1 ", "B1 ", "A2.", "B2"]);
    assert_eq!(told.reply(), "B2");
}

#[test]
fn a_retry_keeps_what_is_finished() {
    let told = told("codex-app-server/retry-keeps-what-is-finished.jsonl");
    assert_eq!(told.visible(), "Keep meFull");
    let withdrawn = told.events().find_map(|event| match event {
        Event::Withdrawn { messages, .. } => Some(messages.clone()),
        _ => None,
    });
    assert_eq!(withdrawn, Some(vec![MessageId(1)]));
}

#[test]
fn a_retry_while_a_sub_agent_speaks_takes_nothing_back() {
    let told = told("codex-app-server/retry-while-a-sub-agent-speaks.jsonl");
    assert_eq!(told.visible(), "Waiting.Done.");
    assert_eq!(told.output(StepId(0)), "Reeds.");
}

#[test]
fn output_of_an_item_nobody_knows_is_kept() {
    assert_eq!(told("codex-app-server/output-of-an-unknown-item.jsonl").unrecognised(), 2);
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
    assert_eq!((kept.visible().as_str(), begun.count()), ("ABC", 2));
}
