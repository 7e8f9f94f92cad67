//! Usage of requests: cached tokens and costs.

use millpond_engine::event::{Event, Record, TextMode, Usage, UsageScope};
use millpond_engine::ingest::DialectName;
use millpond_engine::view::{ItemKind, ViewName};

use crate::views::{final_page, for_each_log};

/// JSON of a request with this usage, in a run of this dialect.
fn request_json(dialect: &'static str, usage: Usage) -> String {
    let events = [
        Event::RunStarted { version: 1, dialect: dialect.into(), mode: TextMode::Incremental },
        Event::RoundStarted { round: 0, model: None, response: None },
        Event::UsageReported { scope: UsageScope::Round, usage },
        Event::RoundEnded { round: 0, stop: None, incomplete: false },
    ];
    let records: Vec<_> = events
        .into_iter()
        .zip(0..)
        .map(|(event, seq)| Record { seq, at_ms: None, run: "r1".into(), event })
        .collect();
    let page = final_page(ViewName::Transcript, &records);
    page.items.values().next().unwrap().text.to_string()
}

fn cached(input: u64, read: u64) -> Usage {
    Usage { input_tokens: Some(input), cache_read_tokens: Some(read), ..Usage::default() }
}

#[test]
fn transcript_t3_cached_tokens_are_part_of_the_total_where_it_is_known_how_they_are_counted() {
    let beside = r#"{"cost":null,"tokensIn":12000,"tokensInTotal":112000,"cacheReads":100000}"#;
    assert_eq!(request_json("anthropic", cached(12_000, 100_000)), beside);
    let among = r#"{"cost":null,"tokensIn":12000,"tokensInTotal":12000,"cacheReads":8000}"#;
    assert_eq!(request_json("openai-chat", cached(12_000, 8_000)), among);
    let unknown = r#"{"cost":null,"tokensIn":12000,"cacheReads":8000}"#;
    assert_eq!(request_json("copilot", cached(12_000, 8_000)), unknown);
    let none = r#"{"cost":null,"tokensIn":12000,"cacheReads":0}"#;
    assert_eq!(request_json("anthropic", cached(12_000, 0)), none);
    let huge = request_json("anthropic", cached(u64::MAX, u64::MAX));
    assert!(huge.contains(r#""tokensInTotal":18446744073709551615"#), "{huge}");
}

#[test]
fn transcript_t3_a_cost_has_no_digits_that_only_an_addition_made() {
    let cost = |usd| request_json("test", Usage { cost_usd: Some(usd), ..Usage::default() });
    assert_eq!(cost(0.1 + 0.2), r#"{"cost":0.3}"#);
    assert_eq!(cost(0.000_012_5), r#"{"cost":0.0000125}"#);
    assert_eq!(cost(0.0), r#"{"cost":0.0}"#);
    assert_eq!(cost(f64::MAX), format!(r#"{{"cost":{}}}"#, serde_json::json!(f64::MAX)));
}

#[test]
fn transcript_t3_every_dialect_has_a_row_in_the_table_of_cached_tokens() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/PROVIDERS.md");
    let text = std::fs::read_to_string(folder).unwrap();
    let rows = |beginning: &str| {
        let row = text.lines().find(|line| line.starts_with(beginning)).unwrap();
        row.to_owned()
    };
    let known = [rows("| among the input"), rows("| beside the input"), rows("| not known, or")];
    for dialect in DialectName::ALL {
        let name = format!("`{}`", dialect.as_str());
        let json = request_json(dialect.as_str(), cached(10, 5));
        let expected = [r#""tokensInTotal":10,"#, r#""tokensInTotal":15,"#, r#""tokensIn":10,"c"#];
        for (row, part) in known.iter().zip(expected) {
            assert_eq!(row.contains(&name), json.contains(part), "{name} {json}");
        }
    }
}

#[test]
fn transcript_t3_the_total_of_a_recorded_request_is_never_less_than_its_parts() {
    for_each_log(|name, records| {
        let page = final_page(ViewName::Transcript, records);
        for item in page.items.values().filter(|item| item.kind == ItemKind::Request) {
            let json: serde_json::Value = serde_json::from_str(&item.text).unwrap();
            let count = |member: &str| json[member].as_u64().unwrap_or_default();
            if json["tokensInTotal"].is_u64() {
                let parts = count("tokensIn").max(count("cacheReads") + count("cacheWrites"));
                assert!(parts <= count("tokensInTotal"), "{name}: {}", item.text);
            }
        }
    });
}
