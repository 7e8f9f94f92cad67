//! Requests and usage as text: what was asked, how it ended, tokens and cost.
//!
//! "In" counts all tokens of the request, cached ones included, if the source says how it counts.

use millpond_engine::view::{Item, ItemState};
use serde::Deserialize;

/// Fields of the text of a `request` or `usage` item that are shown.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RequestSummary {
    model: Option<String>,
    cost: Option<f64>,
    tokens_in: Option<u64>,
    /// Tokens in, cached ones included; missing if there are none or if it is not known.
    tokens_in_total: Option<u64>,
    tokens_out: Option<u64>,
    cache_reads: Option<u64>,
    cache_writes: Option<u64>,
    streaming_failed_message: Option<String>,
    cancel_reason: Option<String>,
}

impl RequestSummary {
    /// Parses the text of an item; unreadable text has no fields.
    fn from_json(json: &str) -> RequestSummary {
        serde_json::from_str(json).unwrap_or_default()
    }

    /// Tokens and cost, such as `112,000 tokens in (100,000 from cache)`.
    fn usage_texts(&self) -> Vec<String> {
        let read = self.cache_reads.filter(|count| 0 < *count);
        let written = self.cache_writes.filter(|count| 0 < *count);
        let read = read.map(|count| format!("{} from cache", group_thousands(count)));
        let written = written.map(|count| format!("{} to cache", group_thousands(count)));
        let cached: Vec<String> = [read, written].into_iter().flatten().collect();
        let mut texts = Vec::new();
        match self.tokens_in_total {
            Some(total) if !cached.is_empty() => {
                texts.push(format!("{} in ({})", token_count_text(total), cached.join(", ")));
            }
            Some(_) | None => {
                texts.extend(self.tokens_in.map(|count| format!("{} in", token_count_text(count))));
                texts.extend(cached);
            }
        }
        texts.extend(self.tokens_out.map(|count| format!("{} out", token_count_text(count))));
        texts.extend(self.cost.map(|dollars| format!("${dollars}")));
        texts
    }
}

/// Text of a request: its model, its state unless it is done, and its tokens, cost and reason.
pub fn request_text(item: &Item<'_>) -> String {
    let mut summary = RequestSummary::from_json(&item.text);
    let state = match item.state {
        ItemState::Live | ItemState::Draft | ItemState::Pending => " (in progress)",
        ItemState::Done | ItemState::Called => "",
        ItemState::Failed | ItemState::Denied => " (failed)",
        ItemState::Incomplete if summary.cancel_reason.is_some() => " (cancelled)",
        ItemState::Incomplete => " (interrupted)",
        ItemState::Withdrawn => " (withdrawn)",
    };
    let mut parts = summary.usage_texts();
    parts.extend(summary.streaming_failed_message.take().or(summary.cancel_reason.take()));
    let to = summary.model.map(|model| format!(" to {model}")).unwrap_or_default();
    join_parts(format!("request{to}{state}"), &parts)
}

/// Text of the usage of a whole run.
pub fn usage_text(json: &str) -> String {
    join_parts("total".to_owned(), &RequestSummary::from_json(json).usage_texts())
}

fn join_parts(head: String, parts: &[String]) -> String {
    if parts.is_empty() { head } else { format!("{head}: {}", parts.join(", ")) }
}

fn token_count_text(count: u64) -> String {
    let number = group_thousands(count);
    if count == 1 { format!("{number} token") } else { format!("{number} tokens") }
}

/// Separates groups of three digits with commas.
fn group_thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if 0 < at && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use millpond_engine::view::ItemKind;

    use super::*;

    #[track_caller]
    fn check(state: ItemState, json: &str, expected: &str) {
        let mut item = Item::new(ItemKind::Request, "r1", "r0");
        item.state = state;
        item.text = json.to_owned().into();
        assert_eq!(request_text(&item), expected);
    }

    #[test]
    fn what_is_known_is_said() {
        let told = r#"{"model":"heron","tokensIn":1,"tokensOut":20,"cost":0.5}"#;
        check(ItemState::Done, told, "request to heron: 1 token in, 20 tokens out, $0.5");
        check(ItemState::Done, r#"{"cost":null}"#, "request");
        check(ItemState::Done, r#"{"cost":0.00001}"#, "request: $0.00001");
        check(ItemState::Done, "nonsense", "request");
    }

    #[test]
    fn cached_tokens_are_said_and_are_part_of_what_went_in_where_that_is_known() {
        let total =
            r#"{"tokensIn":12000,"tokensInTotal":112000,"cacheReads":100000,"tokensOut":5}"#;
        let expected = "request: 112,000 tokens in (100,000 from cache), 5 tokens out";
        check(ItemState::Done, total, expected);
        let unknown = r#"{"tokensIn":999,"cacheReads":1000,"cacheWrites":50}"#;
        let expected = "request: 999 tokens in, 1,000 from cache, 50 to cache";
        check(ItemState::Done, unknown, expected);
        let usage = r#"{"tokensIn":1000000,"cacheReads":0,"cost":0.25}"#;
        assert_eq!(usage_text(usage), "total: 1,000,000 tokens in, $0.25");
    }

    #[test]
    fn t3_a_request_is_in_progress_done_failed_or_cancelled() {
        check(ItemState::Live, "{}", "request (in progress)");
        check(ItemState::Done, r#"{"cost":0.0}"#, "request: $0");
        let failed = r#"{"streamingFailedMessage":"no quota"}"#;
        check(ItemState::Failed, failed, "request (failed): no quota");
        let cancelled = r#"{"cancelReason":"user_cancelled"}"#;
        check(ItemState::Incomplete, cancelled, "request (cancelled): user_cancelled");
        check(ItemState::Incomplete, r#"{"cost":null}"#, "request (interrupted)");
    }
}
