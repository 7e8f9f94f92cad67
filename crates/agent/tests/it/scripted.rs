//! A provider that says what it is told to, and remembers what it was asked.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent::model::{Model, Thoughts, Wire};
use agent::provider::{Patience, Provider};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub(crate) const OK: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/// Reads a whole request, so that the answer does not come too early.
pub(crate) async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let head = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        if let Some(head) = head {
            let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
            let length = text.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.and_then(|length| length.parse().ok()).unwrap_or(0);
            if head + 4 + length <= bytes.len() {
                return Some(String::from_utf8_lossy(&bytes[head + 4..]).into_owned());
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

/// A model of that protocol at an address, called without much patience.
pub(crate) fn provider(wire: Wire, address: &str) -> Provider {
    let model = Model {
        wire,
        base: format!("http://{address}"),
        name: "heron-2".to_owned(),
        key: None,
        max_tokens: 100,
        thinking_tokens: None,
        thoughts: Thoughts::Drop,
        extra: serde_json::Map::new(),
    };
    let patience = Patience {
        connect: Duration::from_secs(2),
        first_byte: Duration::from_millis(400),
        idle: Duration::from_millis(400),
        total: Duration::from_secs(3),
        retry: Duration::from_millis(5),
    };
    Provider::model(model, patience, &[]).unwrap()
}

/// One reply of a chat model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reply {
    pub(crate) text: &'static str,
    /// A tool and its arguments.
    pub(crate) call: Option<(&'static str, &'static str)>,
    pub(crate) input_tokens: u64,
}

impl Reply {
    fn bytes(&self) -> String {
        let mut delta = json!({"content": self.text});
        if let Some((name, arguments)) = self.call {
            let function = json!({"name": name, "arguments": arguments});
            delta["tool_calls"] = json!([{"index": 0, "id": "c1", "function": function}]);
        }
        let why = if self.call.is_some() { "tool_calls" } else { "stop" };
        let usage = json!({"prompt_tokens": self.input_tokens, "completion_tokens": 10});
        let frames = [
            json!({"choices": [{"index": 0, "delta": delta}]}),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": why}], "usage": usage}),
        ];
        format!("data: {}\n\ndata: {}\n\ndata: [DONE]\n\n", frames[0], frames[1])
    }
}

/// What the provider was asked, in order.
pub(crate) type Asked = Arc<Mutex<Vec<Value>>>;

/// Says these, one after the other, and the last again and again.
pub(crate) async fn saying(replies: Vec<Reply>) -> (Provider, Asked) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let asked = Asked::default();
    let heard = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let Some(body) = read_request(&mut stream).await else { continue };
            let reply = {
                let mut heard = heard.lock().unwrap();
                heard.push(serde_json::from_str(&body).unwrap());
                replies[(heard.len() - 1).min(replies.len() - 1)]
            };
            let _gone = stream.write_all((OK.to_owned() + &reply.bytes()).as_bytes()).await;
        }
    });
    (provider(Wire::Chat, &address), asked)
}
