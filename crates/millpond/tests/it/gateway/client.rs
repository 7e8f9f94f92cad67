//! HTTP client of a gateway for tests: requests, streaming uploads, and raw server-sent events.

use std::pin::Pin;
use std::time::Duration;

use futures_util::StreamExt;
use millpond_engine::view::Page;
use millpond_engine::wire::patch::decode;
use reqwest::{Method, RequestBuilder};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::process::GatewayProcess;

/// Longest wait for an event.
pub(super) const WAIT_MAX: Duration = Duration::from_mins(1);

/// Query of the stream that most tests follow: the transcript as patches, from the start.
pub(super) const PATCHES: &str = "view=transcript&format=patch&from=start&protocol=2";

#[derive(Clone)]
pub(super) struct GatewayClient {
    pub(super) http: reqwest::Client,
    pub(super) base: String,
    pub(super) token: String,
}

/// One server-sent event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SseEvent {
    pub(super) id: String,
    pub(super) event: String,
    pub(super) data: String,
}

/// Open stream of server-sent events.
pub(super) struct EventStream {
    body: Pin<Box<dyn futures_util::Stream<Item = reqwest::Result<Vec<u8>>> + Send>>,
    buffer: String,
}

/// Ingest request whose body is sent chunk by chunk.
pub(super) struct IngestUpload {
    chunks: mpsc::Sender<Vec<u8>>,
    pub(super) response: JoinHandle<reqwest::Result<reqwest::Response>>,
}

impl GatewayClient {
    pub(super) fn for_process(process: &GatewayProcess, http: &reqwest::Client) -> GatewayClient {
        let base = format!("http://{}", process.address);
        GatewayClient { http: http.clone(), base, token: process.token.clone() }
    }

    pub(super) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base)).bearer_auth(&self.token)
    }

    pub(super) async fn get_json(&self, path: &str) -> Value {
        let answer = self.request(Method::GET, path).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        answer.json().await.unwrap()
    }

    /// Fetches the records of a session.
    pub(super) async fn read_log(&self, session: &str) -> Vec<Value> {
        let path = format!("/v1/sessions/{session}/log");
        let answer = self.request(Method::GET, &path).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        let text = answer.text().await.unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Fetches the page of a session in the view of `PATCHES`.
    pub(super) async fn fetch_page(&self, session: &str) -> Value {
        self.get_json(&format!("/v1/sessions/{session}/snapshot?{PATCHES}")).await["data"]["page"]
            .take()
    }

    pub(super) async fn create_session(&self) -> String {
        let request = self.request(Method::POST, "/v1/sessions").json(&serde_json::json!({}));
        let answer: Value = request.send().await.unwrap().json().await.unwrap();
        answer["id"].as_str().unwrap().to_owned()
    }

    pub(super) fn start_ingest(&self, session: &str) -> IngestUpload {
        let (pieces, waiting) = mpsc::channel(1024);
        let body = futures_util::stream::unfold(waiting, |mut waiting| async {
            let piece: Vec<u8> = waiting.recv().await?;
            Some((Ok::<_, std::io::Error>(piece), waiting))
        });
        let path = format!("/v1/ingest/openai-chat?session={session}");
        let request = self.request(Method::POST, &path).body(reqwest::Body::wrap_stream(body));
        IngestUpload { chunks: pieces, response: tokio::spawn(request.send()) }
    }

    pub(super) async fn open_stream(
        &self,
        session: &str,
        query: &str,
        last_id: &str,
    ) -> EventStream {
        let mut request =
            self.request(Method::GET, &format!("/v1/sessions/{session}/stream?{query}"));
        if !last_id.is_empty() {
            request = request.header("last-event-id", last_id);
        }
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 200);
        let body = answer.bytes_stream().map(|bytes| bytes.map(|bytes| bytes.to_vec()));
        EventStream { body: Box::pin(body), buffer: String::new() }
    }
}

impl IngestUpload {
    /// Sends a chunk; false if the request has ended.
    pub(super) async fn send_chunk(&self, bytes: Vec<u8>) -> bool {
        self.chunks.send(bytes).await.is_ok()
    }

    /// Ends the body and waits for the response.
    pub(super) async fn finish(self) -> Value {
        drop(self.chunks);
        let answer = self.response.await.unwrap().unwrap();
        assert_eq!(answer.status(), 200);
        answer.json().await.unwrap()
    }
}

impl EventStream {
    /// Next event, without comments; `None` when the stream has ended or failed.
    pub(super) async fn next_event(&mut self) -> Option<SseEvent> {
        loop {
            while let Some(end) = self.buffer.find("\n\n") {
                let block: String = self.buffer.drain(..end + 2).collect();
                if let Some(got) = parse_sse_block(&block) {
                    return Some(got);
                }
            }
            let next = tokio::time::timeout(WAIT_MAX, self.body.next()).await;
            let bytes = next.unwrap_or_else(|_| panic!("nothing came"))?.ok()?;
            self.buffer.push_str(std::str::from_utf8(&bytes).unwrap());
        }
    }

    /// Reads events up to and including the first that satisfies `last`.
    pub(super) async fn read_until(&mut self, last: impl Fn(&SseEvent) -> bool) -> Vec<SseEvent> {
        let mut all = Vec::new();
        loop {
            let got =
                self.next_event().await.unwrap_or_else(|| panic!("the stream ended: {all:?}"));
            let is_last = last(&got);
            all.push(got);
            if is_last {
                return all;
            }
        }
    }

    /// Reads events until the stream ends.
    pub(super) async fn read_to_end(mut self) -> Vec<SseEvent> {
        let mut all = Vec::new();
        while let Some(got) = self.next_event().await {
            all.push(got);
        }
        all
    }
}

fn parse_sse_block(block: &str) -> Option<SseEvent> {
    let mut got = SseEvent::default();
    for line in block.trim_end().lines() {
        let (field, value) = line.split_once(':')?;
        match field {
            "id" => value.clone_into(&mut got.id),
            "event" => value.clone_into(&mut got.event),
            "data" => value.clone_into(&mut got.data),
            _ => return None,
        }
    }
    Some(got)
}

/// Parses all complete events of a text.
pub(super) fn parse_sse_events(text: &str) -> Vec<SseEvent> {
    let blocks = text.split_inclusive("\n\n").filter(|block| block.ends_with("\n\n"));
    blocks.filter_map(parse_sse_block).collect()
}

/// Returns true if this patch ends the run.
pub(super) fn is_run_end(got: &SseEvent) -> bool {
    got.data.starts_with("{\"ended\"")
}

/// Page that results from these patches, as JSON.
pub(super) fn apply_patches(all: &[SseEvent]) -> Value {
    let mut page = Page::default();
    for got in all {
        let patch = decode(&got.data, &page).unwrap_or_else(|_| panic!("{}", got.data));
        page.apply(&patch);
    }
    serde_json::to_value(&page).unwrap()
}

/// One text delta of an OpenAI chat stream.
pub(super) fn text_delta(text: &str) -> Vec<u8> {
    crate::support::unfinished_chat_stream(&[text])
}
