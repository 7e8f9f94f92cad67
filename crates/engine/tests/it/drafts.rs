//! Messages that their source leaves and comes back to.

use engine::event::{Event, ReasoningOrigin};
use engine::ingest::{Ingest, Options};
use engine::limits::{FRAME_BYTES_MAX, SAID_AGAIN_BYTES_MAX};
use engine::run::Cut;
use serde_json::json;

use crate::fixture::told;
use crate::support::{Kept, ingest_whole};

fn chunk(message: &str, text: &str) -> String {
    let content = json!({"type": "text", "text": text});
    let update =
        json!({"sessionUpdate": "agent_message_chunk", "messageId": message, "content": content});
    let params = json!({"sessionId": "s", "update": update});
    format!("{}\n", json!({"jsonrpc": "2.0", "method": "session/update", "params": params}))
}

fn delta(item: &str, text: &str) -> String {
    let params = json!({"threadId": "t", "turnId": "u", "itemId": item, "delta": text});
    format!("{}\n", json!({"method": "item/agentMessage/delta", "params": params}))
}

fn completed(item: &str, text: &str) -> String {
    let item = json!({"type": "agentMessage", "id": item, "text": text});
    let params = json!({"threadId": "t", "turnId": "u", "item": item});
    format!("{}\n", json!({"method": "item/completed", "params": params}))
}

fn appended_bytes(kept: &Kept) -> usize {
    kept.texts().iter().map(|text| text.len()).sum()
}

#[test]
fn a_message_that_goes_on_after_another_is_whole_and_counts_once() {
    let kept = told("acp/messages-in-between.jsonl");
    assert_eq!(kept.visible(), "otherHello!");
    assert_eq!(kept.reply(), "Hello!");
}

#[test]
fn text_after_a_step_is_a_message_of_its_own_where_messages_span_steps() {
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "look", "status": "completed"});
    let params = json!({"sessionId": "s", "update": call});
    let tool = json!({"jsonrpc": "2.0", "method": "session/update", "params": params});
    let stream = format!("{}{tool}\n{}", chunk("A", "Before."), chunk("A", "After."));
    let kept = ingest_whole(stream.as_bytes());
    assert_eq!(kept.messages(), ["Before.", "After."]);
    assert_eq!(kept.visible(), "Before.After.");
}

#[test]
fn what_a_message_thought_in_tags_is_neither_said_again_nor_shown() {
    let stream = [
        delta("a", "<think>secret</think>Hel"),
        delta("b", "other"),
        delta("a", "lo <thi"),
        delta("b", "!"),
        delta("a", "nk>more</think>you"),
        completed("a", "<think>secret</think>Hello <think>more</think>you"),
        completed("b", "other!"),
    ];
    let kept = ingest_whole(stream.concat().as_bytes());
    assert_eq!(kept.visible(), "other!Hello you");
    assert_eq!(kept.thoughts(), ["secret", "more"]);
    assert!(!kept.texts().concat().contains("secret"));
    let by_tag = |event: &Event<'_>| {
        matches!(event, Event::ReasoningStarted { origin: ReasoningOrigin::Tag, .. })
    };
    assert_eq!(kept.count(by_tag), 2);
}

#[test]
fn a_whole_that_differs_is_filtered_like_its_deltas() {
    let stream = [delta("a", "Half"), completed("a", "<think>canary</think>Whole")].concat();
    let kept = ingest_whole(stream.as_bytes());
    assert_eq!(kept.visible(), "Whole");
    assert!(!kept.messages().concat().contains("canary"));
}

#[test]
fn messages_that_take_turns_for_long_cost_a_bounded_amount_and_end_whole() {
    let piece = "x".repeat(1000);
    let turns = 400;
    let mut stream = String::new();
    for _ in 0..turns {
        stream += &delta("a", &piece);
        stream += &delta("b", &piece);
    }
    let whole = piece.repeat(turns);
    stream += &completed("a", &whole);
    stream += &completed("b", &whole);
    let kept = ingest_whole(stream.as_bytes());
    assert_eq!(kept.visible().len(), 2 * whole.len());
    assert_eq!(kept.reply(), whole);
    let once = 2 * whole.len();
    assert!(appended_bytes(&kept) <= 2 * once + SAID_AGAIN_BYTES_MAX, "{}", appended_bytes(&kept));
}

#[test]
fn a_stream_cut_while_messages_take_turns_has_all_text_once() {
    let stream = [delta("a", "One "), delta("b", "Two "), delta("a", "three "), delta("b", "four")];
    let mut ingest = Ingest::new(&Options::default());
    let mut kept = Kept::default();
    let mut expected = [String::new(), String::new()];
    for (at, line) in stream.iter().enumerate() {
        ingest.push(line.as_bytes(), None, &mut kept);
        expected[at % 2] += ["One ", "Two ", "three ", "four"][at];
        let mut cut = kept.clone();
        ingest.clone().finish(Cut::EndOfInput, None, &mut cut);
        // The one that spoke last stands last.
        let (left, spoke) = (&expected[(at + 1) % 2], &expected[at % 2]);
        assert_eq!(cut.visible(), format!("{left}{spoke}"), "after {at}");
    }
}

#[test]
fn a_message_longer_than_any_whole_can_be_is_not_kept_and_its_deltas_stand() {
    let piece = "x".repeat(1 << 20);
    let pieces = FRAME_BYTES_MAX / piece.len() + 1;
    let mut stream = delta("a", &piece).repeat(pieces);
    stream += &delta("b", "between");
    stream += &delta("a", "end");
    stream += &completed("a", "something else");
    let kept = ingest_whole(stream.as_bytes());
    assert_eq!(kept.visible().len(), pieces * piece.len() + "between".len() + "end".len());
    assert_eq!(kept.reply(), "end");
}
