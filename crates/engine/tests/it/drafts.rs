//! Messages that their source leaves and comes back to.

use millpond_engine::event::{Event, ReasoningOrigin};
use millpond_engine::ingest::{Ingest, IngestOptions};
use millpond_engine::limits::FRAME_BYTES_MAX;
use millpond_engine::run::InputEnd;
use serde_json::json;

use crate::event_queries::ingest_fixture;
use crate::support::{RecordedEvents, ingest_whole};

fn acp_chunk_line(message: &str, text: &str) -> String {
    let content = json!({"type": "text", "text": text});
    let update =
        json!({"sessionUpdate": "agent_message_chunk", "messageId": message, "content": content});
    let params = json!({"sessionId": "s", "update": update});
    format!("{}\n", json!({"jsonrpc": "2.0", "method": "session/update", "params": params}))
}

fn codex_delta_line(item: &str, text: &str) -> String {
    let params = json!({"threadId": "t", "turnId": "u", "itemId": item, "delta": text});
    format!("{}\n", json!({"method": "item/agentMessage/delta", "params": params}))
}

fn codex_completed_line(item: &str, text: &str) -> String {
    let item = json!({"type": "agentMessage", "id": item, "text": text});
    let params = json!({"threadId": "t", "turnId": "u", "item": item});
    format!("{}\n", json!({"method": "item/completed", "params": params}))
}

fn appended_bytes(kept: &RecordedEvents) -> usize {
    kept.text_deltas().iter().map(|text| text.len()).sum()
}

#[test]
fn a_message_that_goes_on_after_another_is_whole_and_counts_once() {
    let kept = ingest_fixture("acp/messages-in-between.jsonl");
    assert_eq!(kept.visible_text(), "Hello!other");
    assert_eq!(kept.message_texts(), ["Hello!", "other"]);
    assert_eq!(kept.final_text(), "other");
}

#[test]
fn text_after_a_step_is_a_message_of_its_own_where_messages_span_steps() {
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "look", "status": "completed"});
    let params = json!({"sessionId": "s", "update": call});
    let tool = json!({"jsonrpc": "2.0", "method": "session/update", "params": params});
    let stream =
        format!("{}{tool}\n{}", acp_chunk_line("A", "Before."), acp_chunk_line("A", "After."));
    let kept = ingest_whole(stream.as_bytes());
    assert_eq!(kept.message_texts(), ["Before.", "After."]);
    assert_eq!(kept.visible_text(), "Before.After.");
}

#[test]
fn what_a_message_thought_in_tags_is_neither_said_again_nor_shown() {
    let stream = [
        codex_delta_line("a", "<think>secret</think>Hel"),
        codex_delta_line("b", "other"),
        codex_delta_line("a", "lo <thi"),
        codex_delta_line("b", "!"),
        codex_delta_line("a", "nk>more</think>you"),
        codex_completed_line("a", "<think>secret</think>Hello <think>more</think>you"),
        codex_completed_line("b", "other!"),
    ];
    let kept = ingest_whole(stream.concat().as_bytes());
    assert_eq!(kept.visible_text(), "Hello youother!");
    assert_eq!(kept.reasoning_steps(), ["secret", "more"]);
    assert!(!kept.text_deltas().concat().contains("secret"));
    let by_tag = |event: &Event<'_>| {
        matches!(event, Event::ReasoningStarted { origin: ReasoningOrigin::Tag, .. })
    };
    assert_eq!(kept.count_events(by_tag), 2);
}

#[test]
fn a_whole_that_differs_is_filtered_like_its_deltas() {
    let stream =
        [codex_delta_line("a", "Half"), codex_completed_line("a", "<think>canary</think>Whole")]
            .concat();
    let kept = ingest_whole(stream.as_bytes());
    assert_eq!(kept.visible_text(), "Whole");
    assert!(!kept.message_texts().concat().contains("canary"));
}

#[test]
fn messages_that_take_turns_for_long_are_written_once_and_whole() {
    let piece = "x".repeat(1000);
    let turns = 400;
    let mut stream = String::new();
    for _ in 0..turns {
        stream += &codex_delta_line("a", &piece);
        stream += &codex_delta_line("b", &piece);
    }
    let whole = piece.repeat(turns);
    stream += &codex_completed_line("a", &whole);
    stream += &codex_completed_line("b", &whole);
    let kept = ingest_whole(stream.as_bytes());
    assert_eq!(kept.visible_text().len(), 2 * whole.len());
    assert_eq!(kept.final_text(), whole);
    assert_eq!(appended_bytes(&kept), 2 * whole.len());
}

#[test]
fn a_stream_cut_while_messages_take_turns_has_all_text_once() {
    let stream = [
        codex_delta_line("a", "One "),
        codex_delta_line("b", "Two "),
        codex_delta_line("a", "three "),
        codex_delta_line("b", "four"),
    ];
    let mut ingest = Ingest::new(&IngestOptions::default());
    let mut kept = RecordedEvents::default();
    let mut expected = [String::new(), String::new()];
    for (at, line) in stream.iter().enumerate() {
        ingest.push(line.as_bytes(), None, &mut kept);
        expected[at % 2] += ["One ", "Two ", "three ", "four"][at];
        let mut cut = kept.clone();
        ingest.clone().finish(InputEnd::EndOfInput, None, &mut cut);
        assert_eq!(cut.visible_text(), expected.concat(), "after {at}");
    }
}

#[test]
fn a_message_longer_than_any_whole_can_be_is_not_kept_and_its_deltas_stand() {
    let piece = "x".repeat(1 << 20);
    let pieces = FRAME_BYTES_MAX / piece.len() + 1;
    let mut stream = codex_delta_line("a", &piece).repeat(pieces);
    stream += &codex_delta_line("b", "between");
    stream += &codex_delta_line("a", "end");
    stream += &codex_completed_line("a", "something else");
    let kept = ingest_whole(stream.as_bytes());
    assert_eq!(kept.visible_text().len(), pieces * piece.len() + "between".len() + "end".len());
    assert_eq!(kept.final_text(), "between");
}
