//! One-line summary of any event. Event names are not matched here, except those that carry
//! thinking.

use millpond_engine::event::Event;
use millpond_engine::view::Thinking;
use serde_json::Value;

/// Longest summary.
const SUMMARY_CHARS_MAX: usize = 160;

/// Most telling fields, listed first.
const LEADING_FIELDS: [&str; 5] = ["text", "name", "outcome", "reason", "detail"];

/// Returns the event's type and its fields as `name value`, without hidden thinking.
pub(super) fn summarise_event(event: &Event<'_>, thinking: Thinking) -> (String, String) {
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
    for name in LEADING_FIELDS {
        words.extend(fields.remove(name).map(|value| format!("{name} {value}")));
    }
    words.extend(fields.iter().map(|(name, value)| format!("{name} {value}")));
    (name, truncate_summary(words.join(", ")))
}

/// Cuts the text after `SUMMARY_CHARS_MAX` characters.
fn truncate_summary(mut text: String) -> String {
    if let Some((at, _)) = text.char_indices().nth(SUMMARY_CHARS_MAX) {
        text.truncate(at);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(event: &Event<'_>, thinking: Thinking, name: &str, text: &str) {
        assert_eq!(summarise_event(event, thinking), (name.to_owned(), text.to_owned()));
    }

    #[test]
    fn the_words_begin_with_what_says_most_and_are_short() {
        let at = millpond_engine::event::StepId(2);
        let event = Event::ReasoningAppended { step: at, text: "a\n\"b\"".into() };
        check(&event, Thinking::ViewDefault, "reasoning_appended", r#"text "a\n\"b\"", step 2"#);
        check(&event, Thinking::Hide, "reasoning_appended", "step 2");
        let event = Event::PromptReceived {
            text: "ż".repeat(SUMMARY_CHARS_MAX).into(),
            images: Vec::new(),
            origin: millpond_engine::event::PromptOrigin::Person,
        };
        let (_, text) = summarise_event(&event, Thinking::ViewDefault);
        assert_eq!(text.chars().count(), SUMMARY_CHARS_MAX + 1);
        assert!(text.starts_with("text \"żż") && text.ends_with("ż…"), "{text}");
    }
}
