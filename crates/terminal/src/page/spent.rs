//! What a request or a run cost, in words.

use serde::Deserialize;

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Spent {
    model: Option<String>,
    cost: Option<f64>,
    tokens_in: Option<u64>,
    tokens_out: Option<u64>,
    streaming_failed_message: Option<String>,
    cancel_reason: Option<String>,
}

/// From what a view tells of it as JSON; begins with a blank or a colon unless it is empty.
pub fn spent_words(json: &str) -> String {
    let spent: Spent = serde_json::from_str(json).unwrap_or_default();
    let mut parts = Vec::new();
    parts.extend(spent.tokens_in.map(|tokens| format!("{} in", tokens_words(tokens))));
    parts.extend(spent.tokens_out.map(|tokens| format!("{} out", tokens_words(tokens))));
    parts.extend(spent.cost.map(|dollars| format!("${dollars}")));
    parts.extend(spent.streaming_failed_message.map(|words| format!("failed: {words}")));
    parts.extend(spent.cancel_reason.map(|words| format!("cancelled: {words}")));
    let to = spent.model.map(|model| format!(" to {model}")).unwrap_or_default();
    if parts.is_empty() { to } else { format!("{to}: {}", parts.join(", ")) }
}

fn tokens_words(count: u64) -> String {
    if count == 1 { "1 token".to_owned() } else { format!("{count} tokens") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_said() {
        let told = r#"{"model":"heron","tokensIn":1,"tokensOut":20,"cost":0.5}"#;
        assert_eq!(spent_words(told), " to heron: 1 token in, 20 tokens out, $0.5");
        assert_eq!(spent_words("{}"), "");
        assert_eq!(spent_words("nonsense"), "");
    }
}
