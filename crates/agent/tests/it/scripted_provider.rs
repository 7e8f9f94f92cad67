//! A scripted chat completions server that records its requests.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use millpond_agent::model::{Model, ModelApi, ThoughtReplay};
use millpond_agent::provider::{CallTimeouts, Provider};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub(crate) const HTTP_OK_HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/// Reads a whole request, so that the response does not come too early; returns its body.
pub(crate) async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let header_end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        if let Some(header_end) = header_end {
            let text = String::from_utf8_lossy(&bytes[..header_end]).to_ascii_lowercase();
            let length = text.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.and_then(|length| length.parse().ok()).unwrap_or(0);
            if header_end + 4 + length <= bytes.len() {
                return Some(String::from_utf8_lossy(&bytes[header_end + 4..]).into_owned());
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

/// Timeouts that no call reaches, also on a busy machine.
pub(crate) const LONG_TIMEOUTS: CallTimeouts = CallTimeouts {
    connect: Duration::from_mins(2),
    first_byte: Duration::from_mins(2),
    idle: Duration::from_mins(2),
    total: Duration::from_mins(2),
    retry_delay: Duration::from_millis(5),
};

/// A model of that API at an address.
pub(crate) fn provider_at(wire: ModelApi, address: &str) -> Provider {
    provider_with_timeouts(wire, address, LONG_TIMEOUTS)
}

pub(crate) fn provider_with_timeouts(
    wire: ModelApi,
    address: &str,
    timeouts: CallTimeouts,
) -> Provider {
    let model = Model {
        api: wire,
        base_url: format!("http://{address}"),
        name: "heron-2".to_owned(),
        key: None,
        max_tokens: 100,
        thinking_tokens: None,
        thought_replay: ThoughtReplay::Omit,
        extra_params: serde_json::Map::new(),
    };
    Provider::for_model(model, timeouts, &[]).unwrap()
}

/// One reply of a chat model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScriptedReply {
    pub(crate) text: &'static str,
    /// A tool and its arguments.
    pub(crate) call: Option<(&'static str, &'static str)>,
    pub(crate) input_tokens: u64,
}

impl ScriptedReply {
    fn to_sse_frames(self) -> String {
        let mut delta = json!({"content": self.text});
        if let Some((name, arguments)) = self.call {
            let function = json!({"name": name, "arguments": arguments});
            delta["tool_calls"] = json!([{"index": 0, "id": "c1", "function": function}]);
        }
        let finish_reason = if self.call.is_some() { "tool_calls" } else { "stop" };
        let usage = json!({"prompt_tokens": self.input_tokens, "completion_tokens": 10});
        let frames = [
            json!({"choices": [{"index": 0, "delta": delta}]}),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": finish_reason}], "usage": usage}),
        ];
        format!("data: {}\n\ndata: {}\n\ndata: [DONE]\n\n", frames[0], frames[1])
    }
}

/// Bodies of the requests received, in order.
pub(crate) type RecordedRequests = Arc<Mutex<Vec<Value>>>;

/// Serves these replies in order, then repeats the last one.
pub(crate) async fn serve_replies(replies: Vec<ScriptedReply>) -> (Provider, RecordedRequests) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let requests = RecordedRequests::default();
    let recorded = Arc::clone(&requests);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let Some(body) = read_request(&mut stream).await else { continue };
            let reply = {
                let mut recorded = recorded.lock().unwrap();
                recorded.push(serde_json::from_str(&body).unwrap());
                replies[(recorded.len() - 1).min(replies.len() - 1)]
            };
            let _gone = stream
                .write_all((HTTP_OK_HEAD.to_owned() + &reply.to_sse_frames()).as_bytes())
                .await;
        }
    });
    (provider_at(ModelApi::Chat, &address), requests)
}
