//! Cost of a request or run as text.

use serde::Deserialize;

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RequestCost {
    model: Option<String>,
    cost: Option<f64>,
    tokens_in: Option<u64>,
    tokens_out: Option<u64>,
    streaming_failed_message: Option<String>,
    cancel_reason: Option<String>,
}

/// Formats the cost JSON of a view. Starts with a space or colon unless empty.
pub fn format_cost_suffix_from_json(json: &str) -> String {
    let spent: RequestCost = serde_json::from_str(json).unwrap_or_default();
    let mut parts = Vec::new();
    parts.extend(spent.tokens_in.map(|tokens| format!("{} in", token_count_text(tokens))));
    parts.extend(spent.tokens_out.map(|tokens| format!("{} out", token_count_text(tokens))));
    parts.extend(spent.cost.map(|dollars| format!("${dollars}")));
    parts.extend(spent.streaming_failed_message.map(|words| format!("failed: {words}")));
    parts.extend(spent.cancel_reason.map(|words| format!("cancelled: {words}")));
    let to = spent.model.map(|model| format!(" to {model}")).unwrap_or_default();
    if parts.is_empty() { to } else { format!("{to}: {}", parts.join(", ")) }
}

fn token_count_text(count: u64) -> String {
    if count == 1 { "1 token".to_owned() } else { format!("{count} tokens") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_said() {
        let told = r#"{"model":"heron","tokensIn":1,"tokensOut":20,"cost":0.5}"#;
        assert_eq!(
            format_cost_suffix_from_json(told),
            " to heron: 1 token in, 20 tokens out, $0.5"
        );
        assert_eq!(format_cost_suffix_from_json("{}"), "");
        assert_eq!(format_cost_suffix_from_json("nonsense"), "");
    }
}
