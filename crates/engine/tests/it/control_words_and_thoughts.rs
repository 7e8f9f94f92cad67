//! Control words beside thoughts and other messages: what is held for a word stays in its place
//! (X4), and another message ends the one with the word (F5).

use millpond_engine::event::Outcome;
use serde_json::{Value, json};

use crate::control_words::{
    chat_chunk, chat_finish_chunk, ingest_and_check, to_json_lines, to_sse,
};

/// A chat reply: text, a thought in its field, text.
fn text_thought_text(before: &str, after: &str) -> String {
    to_sse(&[
        chat_chunk("1", &json!({"content": before})),
        chat_chunk("1", &json!({"reasoning_content": "hm"})),
        chat_chunk("1", &json!({"content": after})),
        chat_finish_chunk("1", "stop"),
    ])
}

#[test]
fn x4_what_is_held_for_a_word_stays_before_the_thought() {
    for (before, after, expected) in [
        ("Gotowe!", "Dalej.", "Gotowe!\n\nDalej."),
        ("a **b**", "Dalej.", "a **b**\n\nDalej."),
        ("a **b**", " Dalej.", "a **b** Dalej."),
        ("one `two`", "three", "one `two`\n\nthree"),
        ("one `two", "three", "one `two\n\nthree"),
        ("Gotowe! !isfinish", "More.", "Gotowe! \n\nMore."),
        ("Gotowe! !isfinish.", "More.", "Gotowe! .\n\nMore."),
        ("Gotowe! !isfini", "More.", "Gotowe! !isfini\n\nMore."),
    ] {
        let kept = ingest_and_check(&text_thought_text(before, after));
        assert_eq!(kept.message_texts(), [expected], "{before:?}, a thought, {after:?}");
        assert_eq!(kept.ending().outcome, Outcome::Completed);
    }
}

/// Text that may become a tag goes on after the thought: nothing hidden may show.
#[test]
fn x3_a_tag_that_a_thought_interrupts_is_hidden() {
    let kept = ingest_and_check(&text_thought_text("x <thi", "nk>secret</think> y"));
    assert_eq!(kept.message_texts(), ["x  y"]);
}

fn acp_update(update: &Value) -> Value {
    let params = json!({"sessionId": "s", "update": update});
    json!({"jsonrpc": "2.0", "method": "session/update", "params": params})
}

#[test]
fn f5_another_message_of_the_source_ends_the_one_with_the_word() {
    for (first, expected) in [
        ("Gotowe! !isfinish", &["Gotowe! "][..]),
        ("!isfinish Gotowe", &[" Gotowe"]),
        ("Gotowe! !isfinish but", &["Gotowe!  but", "More."]),
        ("Gotowe", &["Gotowe", "More."]),
    ] {
        let prompt = json!({"sessionId": "s", "prompt": [{"type": "text", "text": "q"}]});
        let chunk = |message: &str, text: &str| {
            let content = json!({"type": "text", "text": text});
            let kind = "agent_message_chunk";
            acp_update(&json!({"sessionUpdate": kind, "messageId": message, "content": content}))
        };
        let stream = to_json_lines(&[
            json!({"jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": prompt}),
            chunk("m0", first),
            chunk("m1", "More."),
            json!({"jsonrpc": "2.0", "id": 2, "result": {"stopReason": "end_turn"}}),
        ]);
        assert_eq!(ingest_and_check(&stream).message_texts(), expected, "{first:?}");
    }
}
