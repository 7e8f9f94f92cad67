//! Traps of Qwen Code's stream.

use engine::event::{MessageId, Outcome};

use crate::fixture::told;
use crate::support::Kept;

fn qwen(name: &str) -> Kept {
    told(&format!("qwen-code/{name}"))
}

#[test]
fn blocks_that_are_all_at_index_0_and_repeated_under_other_ids_are_shown_once() {
    let kept = qwen("index-always-0.jsonl");
    assert_eq!(kept.visible(), "Looking.One carp.");
    assert_eq!(kept.reasoning(), "Look first.");
    assert_eq!(kept.tools()[0].1, "{\"command\":\"ls\"}");
    assert_eq!(kept.rounds(), 2);
    assert_eq!(kept.unrecognised(), 0);
}

#[test]
fn whole_blocks_are_one_round_until_a_tool_is_answered() {
    let kept = qwen("whole-messages.jsonl");
    assert_eq!(kept.visible(), "Editing.It is not there.");
    assert_eq!(kept.rounds(), 2);
}

#[test]
fn a_result_with_tags_names_the_message_shown_without_them() {
    let kept = qwen("tags-in-the-text.jsonl");
    assert_eq!(kept.visible(), "It is deep.");
    assert_eq!(kept.ending().message, Some(MessageId(0)));
}

#[test]
fn an_error_fails_with_its_words() {
    let kept = qwen("failed.jsonl");
    assert_eq!(kept.ending().outcome, Outcome::Failed);
    assert_eq!(kept.ending().detail.as_deref(), Some("the line went dead"));
    assert_eq!(kept.visible(), "I sta");
}

#[test]
fn a_stream_without_its_result_is_truncated() {
    assert_eq!(qwen("cut-mid-text.jsonl").ending().outcome, Outcome::Truncated);
}

#[test]
fn a_stream_whose_beginning_was_missed_still_declares_its_whole_reply() {
    let kept = qwen("begins-in-the-middle.jsonl");
    assert_eq!(kept.visible(), "All ears.");
    assert_eq!(kept.ending().message, Some(MessageId(0)));
}

#[test]
fn a_whole_reply_that_is_not_what_was_streamed_is_shown_too() {
    let kept = qwen("whole-is-not-what-was-streamed.jsonl");
    assert_eq!(kept.visible(), "HalfWhole different answer.");
    assert_eq!(kept.reply(), "Whole different answer.");
}
