//! An event in a few words, for a line of its own. Any event has them; none is known here by name
//! but those with thinking in them.

use engine::event::Event;
use engine::view::Thinking;
use serde_json::Value;

/// Characters of the words.
const GIST_CHARS_MAX: usize = 160;

/// Fields that say most come first.
const FIRST: [&str; 5] = ["text", "name", "outcome", "reason", "detail"];

/// The event's name, and its fields as `name value`.
pub(super) fn gist(event: &Event<'_>, thinking: Thinking) -> (String, String) {
    let Ok(Value::Object(mut fields)) = serde_json::to_value(event) else {
        return (String::new(), String::new());
    };
    let name = match fields.remove("type") {
        Some(Value::String(name)) => name,
        _ => String::new(),
    };
    let is_thinking = matches!(event, Event::ReasoningAppended { .. } | Event::MarkupHidden { .. });
    if thinking == Thinking::Hide && is_thinking {
        fields.remove("text");
    }
    let mut words: Vec<String> = Vec::with_capacity(fields.len());
    for name in FIRST {
        words.extend(fields.remove(name).map(|value| format!("{name} {value}")));
    }
    words.extend(fields.iter().map(|(name, value)| format!("{name} {value}")));
    (name, shortened(words.join(", ")))
}

fn shortened(mut text: String) -> String {
    if let Some((at, _)) = text.char_indices().nth(GIST_CHARS_MAX) {
        text.truncate(at);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(event: &Event<'_>, thinking: Thinking, name: &str, text: &str) {
        assert_eq!(gist(event, thinking), (name.to_owned(), text.to_owned()));
    }

    #[test]
    fn the_words_begin_with_what_says_most_and_are_short() {
        let at = engine::event::StepId(2);
        let event = Event::ReasoningAppended { step: at, text: "a\n\"b\"".into() };
        check(&event, Thinking::AsUsual, "reasoning_appended", r#"text "a\n\"b\"", step 2"#);
        check(&event, Thinking::Hide, "reasoning_appended", "step 2");
        let event =
            Event::PromptReceived { text: "ż".repeat(GIST_CHARS_MAX).into(), images: Vec::new() };
        let (_, text) = gist(&event, Thinking::AsUsual);
        assert_eq!(text.chars().count(), GIST_CHARS_MAX + 1);
        assert!(text.starts_with("text \"żż") && text.ends_with("ż…"), "{text}");
    }
}
