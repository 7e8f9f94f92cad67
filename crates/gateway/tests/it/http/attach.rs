//! Attaching to a long log costs bytes in proportion to its text.

use std::fmt::Write;

use millpond_engine::limits::MERGED_TEXT_BYTES_MAX;
use millpond_engine::view::ViewName;
use serde_json::json;

use super::support::{SseEvent, start_gateway};

/// Deltas of the long message, and the text of each.
const DELTAS: usize = 40_000;
const DELTA: &str = "word ";

/// A message of many deltas, as the provider sends it.
fn long_chat_stream() -> Vec<u8> {
    let mut stream = String::new();
    for _ in 0..DELTAS {
        let delta = json!({"id": "c1", "object": "chat.completion.chunk", "choices":
            [{"index": 0, "delta": {"content": DELTA}, "finish_reason": null}]});
        write!(stream, "data: {delta}\n\n").unwrap();
    }
    let end = json!({"id": "c1", "object": "chat.completion.chunk", "choices":
        [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    write!(stream, "data: {end}\n\ndata: [DONE]\n\n").unwrap();
    stream.into_bytes()
}

#[tokio::test(flavor = "multi_thread")]
async fn in_every_format_the_bytes_are_in_proportion_to_the_text() {
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
    gateway.ingest(&session, long_chat_stream()).await;
    let text_bytes = DELTAS * DELTA.len();
    for view in ViewName::ALL.iter().map(|view| view.as_str()) {
        for format in ["own", "patch"] {
            for content in ["accumulated", "delta"] {
                let query = format!("view={view}&format={format}&content={content}");
                let mut events = gateway.follow_stream(&session, &query, "").await;
                let received = events
                    .events_until(|event| {
                        event.data.contains("\"completed\"") || event.event == "done"
                    })
                    .await;
                let bytes: usize = received.iter().map(|event| event.data.len()).sum();
                if format == "patch" || content == "delta" {
                    let is_long = |event: &&SseEvent| 2 * MERGED_TEXT_BYTES_MAX < event.data.len();
                    // The ends of the message, its round and its run may have the whole text.
                    assert!(received.iter().filter(is_long).count() <= 3, "{query}");
                }
                // A native frame has the text once more at each step from its start to the ending.
                assert!(bytes < 6 * text_bytes, "{query}: {bytes} bytes for {text_bytes}");
            }
        }
    }
}
