//! A provider that says what it is told to, and remembers what it was asked.

use std::sync::{Arc, Mutex};

use agent::model::Wire;
use agent::provider::Provider;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use crate::faults::{OK, provider, read_request};

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
        let frames: String = frames.iter().map(|frame| format!("data: {frame}\n\n")).collect();
        frames + "data: [DONE]\n\n"
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
