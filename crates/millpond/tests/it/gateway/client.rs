//! A caller of a gateway: commands, a stream that is sent piece by piece, events by the letter.

use std::pin::Pin;
use std::time::Duration;

use engine::view::Picture;
use engine::wire::patch::decode;
use futures_util::StreamExt;
use reqwest::{Method, RequestBuilder};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::process::Process;

/// Nothing here waits longer for what must come.
pub(super) const PATIENCE: Duration = Duration::from_mins(1);

/// What most tests follow: everything, as the smallest changes.
pub(super) const PATCHES: &str = "view=transcript&format=patch&from=start";

#[derive(Clone)]
pub(super) struct Caller {
    pub(super) http: reqwest::Client,
    pub(super) base: String,
    pub(super) token: String,
}

/// One server-sent event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Got {
    pub(super) id: String,
    pub(super) event: String,
    pub(super) data: String,
}

pub(super) struct Events {
    body: Pin<Box<dyn futures_util::Stream<Item = reqwest::Result<Vec<u8>>> + Send>>,
    buffer: String,
}

/// A stream that is being sent.
pub(super) struct Sending {
    pieces: mpsc::Sender<Vec<u8>>,
    pub(super) answer: JoinHandle<reqwest::Result<reqwest::Response>>,
}

impl Caller {
    pub(super) fn of(process: &Process, http: &reqwest::Client) -> Caller {
        let base = format!("http://{}", process.address);
        Caller { http: http.clone(), base, token: process.token.clone() }
    }

    pub(super) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base)).bearer_auth(&self.token)
    }

    pub(super) async fn json(&self, path: &str) -> Value {
        let answer = self.request(Method::GET, path).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        answer.json().await.unwrap()
    }

    /// The records of a session.
    pub(super) async fn log(&self, session: &str) -> Vec<Value> {
        let path = format!("/v1/sessions/{session}/log");
        let answer = self.request(Method::GET, &path).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        let text = answer.text().await.unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The page of `PATCHES`.
    pub(super) async fn page(&self, session: &str) -> Value {
        self.json(&format!("/v1/sessions/{session}/snapshot?{PATCHES}")).await["data"]["picture"]
            .take()
    }

    pub(super) async fn new_session(&self) -> String {
        let request = self.request(Method::POST, "/v1/sessions").json(&serde_json::json!({}));
        let answer: Value = request.send().await.unwrap().json().await.unwrap();
        answer["id"].as_str().unwrap().to_owned()
    }

    pub(super) fn send(&self, session: &str) -> Sending {
        let (pieces, waiting) = mpsc::channel(1024);
        let body = futures_util::stream::unfold(waiting, |mut waiting| async {
            let piece: Vec<u8> = waiting.recv().await?;
            Some((Ok::<_, std::io::Error>(piece), waiting))
        });
        let path = format!("/v1/ingest/openai-chat?session={session}");
        let request = self.request(Method::POST, &path).body(reqwest::Body::wrap_stream(body));
        Sending { pieces, answer: tokio::spawn(request.send()) }
    }

    pub(super) async fn follow(&self, session: &str, query: &str, last_id: &str) -> Events {
        let mut request =
            self.request(Method::GET, &format!("/v1/sessions/{session}/stream?{query}"));
        if !last_id.is_empty() {
            request = request.header("last-event-id", last_id);
        }
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 200);
        let body = answer.bytes_stream().map(|bytes| bytes.map(|bytes| bytes.to_vec()));
        Events { body: Box::pin(body), buffer: String::new() }
    }
}

impl Sending {
    /// Whether it was still taken.
    pub(super) async fn piece(&self, bytes: Vec<u8>) -> bool {
        self.pieces.send(bytes).await.is_ok()
    }

    /// Sends the end of the body, and waits for the answer.
    pub(super) async fn done(self) -> Value {
        drop(self.pieces);
        let answer = self.answer.await.unwrap().unwrap();
        assert_eq!(answer.status(), 200);
        answer.json().await.unwrap()
    }
}

impl Events {
    /// The next event; comments are passed over. Nothing when the stream has ended or broken.
    pub(super) async fn next(&mut self) -> Option<Got> {
        loop {
            while let Some(end) = self.buffer.find("\n\n") {
                let block: String = self.buffer.drain(..end + 2).collect();
                if let Some(got) = parse(&block) {
                    return Some(got);
                }
            }
            let next = tokio::time::timeout(PATIENCE, self.body.next()).await;
            let bytes = next.unwrap_or_else(|_| panic!("nothing came"))?.ok()?;
            self.buffer.push_str(std::str::from_utf8(&bytes).unwrap());
        }
    }

    /// Events up to and with the one that `last` says is the last.
    pub(super) async fn until(&mut self, last: impl Fn(&Got) -> bool) -> Vec<Got> {
        let mut all = Vec::new();
        loop {
            let got = self.next().await.unwrap_or_else(|| panic!("the stream ended: {all:?}"));
            let is_last = last(&got);
            all.push(got);
            if is_last {
                return all;
            }
        }
    }

    /// All that still comes.
    pub(super) async fn rest(mut self) -> Vec<Got> {
        let mut all = Vec::new();
        while let Some(got) = self.next().await {
            all.push(got);
        }
        all
    }
}

fn parse(block: &str) -> Option<Got> {
    let mut got = Got::default();
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

/// All whole events of a text that begins with one.
pub(super) fn parse_all(text: &str) -> Vec<Got> {
    let blocks = text.split_inclusive("\n\n").filter(|block| block.ends_with("\n\n"));
    blocks.filter_map(parse).collect()
}

/// Whether this patch ends the run.
pub(super) fn ends(got: &Got) -> bool {
    got.data.starts_with("{\"ended\"")
}

/// The page that a client has after these patches.
pub(super) fn page_of(all: &[Got]) -> Value {
    let mut page = Picture::default();
    for got in all {
        let patch = decode(&got.data, &page).unwrap_or_else(|_| panic!("{}", got.data));
        page.apply(&patch);
    }
    serde_json::to_value(&page).unwrap()
}

/// A piece of a chat that says `text`.
pub(super) fn delta(text: &str) -> Vec<u8> {
    crate::support::chat_without_end(&[text])
}
