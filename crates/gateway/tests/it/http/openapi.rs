//! The description of the API, held against the API.

use std::collections::BTreeSet;
use std::sync::Arc;

use reqwest::Method;
use serde_json::{Value, json};

use super::schema::faults;
use super::support::{Served, body_in_pieces, fixture, script, serve, serve_in};

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

async fn document(served: &Served) -> Value {
    let answer = served.client.get(format!("{}/openapi.json", served.base)).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    answer.json().await.unwrap()
}

/// A path with something in the place of its parameters that is not there.
fn filled(path: &str) -> String {
    let fill =
        |part: &str| if part.starts_with('{') { "nothing".to_owned() } else { part.to_owned() };
    path.split('/').map(fill).collect::<Vec<_>>().join("/")
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_and_method_is_described_and_no_other() {
    let served = serve().await;
    let document = document(&served).await;
    let mut routed = BTreeSet::new();
    for path in gateway::http::paths() {
        for method in METHODS {
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            let answer = served.request(method.clone(), &filled(path)).send().await.unwrap();
            if answer.status() != 405 {
                routed.insert((path.to_owned(), method.as_str().to_lowercase()));
            }
        }
    }
    let paths = document["paths"].as_object().unwrap();
    let described: BTreeSet<(String, String)> = paths
        .iter()
        .flat_map(|(path, operations)| {
            let methods = operations.as_object().unwrap().keys();
            methods.map(|method| (path.clone(), method.clone()))
        })
        .collect();
    assert_eq!(routed, described);
    assert!(30 < routed.len());
}

/// Asks, and checks every answer against what the document says about it.
struct Checked<'a> {
    served: &'a Served,
    document: Value,
    seen: BTreeSet<(String, String)>,
}

impl Checked<'_> {
    fn check(&self, schema: &Value, answer: &Value, what: &str) {
        let faults = faults(&self.document, schema, answer);
        assert!(faults.is_empty(), "{what}: {faults:?} in {answer}");
    }

    /// `words` take the places of the parameters of `path`.
    async fn ask(&mut self, method: Method, path: &str, words: &[&str], body: Value) -> Value {
        let mut words = words.iter();
        let place = |part: &str| match part.strip_prefix('{') {
            Some(_) => (*words.next().unwrap()).to_owned(),
            None => part.to_owned(),
        };
        let actual = path.split('/').map(place).collect::<Vec<_>>().join("/");
        let mut request = self.served.request(method.clone(), &actual);
        request = match body {
            Value::Null => request,
            Value::String(raw) => request.body(raw),
            body => request.json(&body),
        };
        self.take(method, path, request).await
    }

    async fn take(
        &mut self,
        method: Method,
        path: &str,
        request: reqwest::RequestBuilder,
    ) -> Value {
        let name = method.as_str().to_lowercase();
        let what = format!("{method} {path}");
        let answer = request.send().await.unwrap();
        let responses = &self.document["paths"][path][&name]["responses"];
        let status = answer.status().as_u16().to_string();
        let described = responses.get(&status).unwrap_or_else(|| panic!("{what}: {status}"));
        self.seen.insert((path.to_owned(), name));
        let Some(content) = described.get("content") else { return Value::Null };
        let kind = answer.headers()["content-type"].to_str().unwrap().to_owned();
        let kind = kind.split(';').next().unwrap();
        let content = content.get(kind).or(content.get("*/*"));
        let content = content.unwrap_or_else(|| panic!("{what}: {kind}")).clone();
        if kind != "application/json" {
            return Value::Null;
        }
        let answer: Value = answer.json().await.unwrap();
        self.check(&content["schema"], &answer, &what);
        answer
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

impl Checked<'_> {
    async fn sessions(&mut self) -> String {
        let session = self.ask(Method::POST, "/v1/sessions", &[], json!({})).await;
        let session = text(&session["id"]);
        self.ask(Method::GET, "/v1/sessions", &[], Value::Null).await;
        self.ask(Method::GET, "/v1/sessions/stream", &[], Value::Null).await;
        let one = "/v1/sessions/{session}";
        self.ask(Method::GET, one, &[&session], Value::Null).await;
        self.ask(Method::PATCH, one, &[&session], json!({ "title": "Ponds" })).await;
        let branch = format!("{one}/branch");
        let branch = self.ask(Method::POST, &branch, &[&session], json!({})).await;
        let branch = text(&branch["id"]);
        self.ask(Method::DELETE, one, &[&branch], Value::Null).await;
        self.ask(Method::GET, one, &[&branch], Value::Null).await;
        self.ask(Method::POST, &format!("{one}/restore"), &[&branch], json!({})).await;
        session
    }

    async fn runs(&mut self, session: &str) {
        let one = "/v1/sessions/{session}";
        let messages = format!("{one}/messages");
        let said = json!({ "text": "what is it?" });
        let accepted = self.ask(Method::POST, &messages, &[session], said).await;
        let run = text(&accepted["run"]);
        self.served.ended(session, &run).await;
        self.ask(Method::GET, "/v1/runs/{run}", &[&run], Value::Null).await;
        self.ask(Method::POST, "/v1/runs/{run}/cancel", &[&run], json!({})).await;
        let again = self.ask(Method::POST, "/v1/runs/{run}/retry", &[&run], json!({})).await;
        self.served.ended(session, &text(&again["run"])).await;
        self.ask(Method::GET, "/v1/usage", &[], Value::Null).await;
        self.ask(Method::GET, "/v1/agent", &[], Value::Null).await;
        let stream = String::from_utf8(fixture("anthropic/cut-off.sse")).unwrap();
        let taken = self.ask(Method::POST, "/v1/ingest/{dialect}", &["auto"], stream.into()).await;
        let run = text(&taken["run"]);
        self.ask(Method::GET, "/v1/runs/{run}", &[&run], Value::Null).await;
        self.ask(Method::GET, &format!("{one}/stream"), &[session], Value::Null).await;
        self.ask(Method::GET, &format!("{one}/theatre"), &[session], Value::Null).await;
        self.ask(Method::GET, &format!("{one}/snapshot"), &[session], Value::Null).await;
        self.ask(Method::GET, &format!("{one}/log"), &[session], Value::Null).await;
    }

    /// A queue with something in it, and a session whose run is going.
    async fn queue(&mut self) {
        let session = self.served.new_session().await;
        let (pieces, body) = body_in_pieces();
        let path = format!("/v1/ingest/auto?session={session}");
        let taking = tokio::spawn(self.served.request(Method::POST, &path).body(body).send());
        let mut events = self.served.follow(&session, "view=latest&format=patch", "").await;
        pieces.send(fixture("anthropic/cut-off.sse")).await.unwrap();
        events.until(|got| got.data.contains("\"writing\"")).await;
        let one = "/v1/sessions/{session}";
        let shown = self.ask(Method::GET, one, &[&session], Value::Null).await;
        self.ask(Method::GET, "/v1/runs/{run}", &[&text(&shown["run"])], Value::Null).await;
        let said = json!({ "text": "later" });
        let id = self.ask(Method::POST, &format!("{one}/messages"), &[&session], said).await;
        let queue = format!("{one}/queue");
        self.ask(Method::GET, &queue, &[&session], Value::Null).await;
        let order = json!({ "order": [id["id"]], "removed": [] });
        self.ask(Method::PUT, &queue, &[&session], order).await;
        drop(pieces);
        taking.await.unwrap().unwrap();
    }

    async fn files_and_access(&mut self, session: &str) {
        let one = "/v1/sessions/{session}";
        let kept = self.ask(Method::POST, &format!("{one}/blobs"), &[session], "pond".into()).await;
        let digest = text(&kept["digest"]);
        let path = format!("{one}/blobs/{{digest}}");
        self.ask(Method::GET, &path, &[session, &digest], Value::Null).await;
        let shares = format!("{one}/shares");
        let share = self.ask(Method::POST, &shares, &[session], json!({})).await;
        self.ask(Method::GET, &shares, &[session], Value::Null).await;
        let path = format!("{shares}/{{share}}");
        self.ask(Method::DELETE, &path, &[session, &text(&share["id"])], Value::Null).await;
        let token = self.ask(Method::POST, "/v1/tokens", &[], json!({ "label": "tab" })).await;
        self.ask(Method::GET, "/v1/tokens", &[], Value::Null).await;
        let token = text(&token["id"]);
        self.ask(Method::DELETE, "/v1/tokens/{token}", &[&token], Value::Null).await;
        self.ask(Method::POST, "/v1/login-link", &[], json!({})).await;
        for path in ["/healthz", "/readyz", "/metrics", "/openapi.json"] {
            self.ask(Method::GET, path, &[], Value::Null).await;
        }
    }

    async fn other_clients(&mut self) {
        let said = json!([{ "role": "user", "content": "what is it?" }]);
        let body = json!({ "model": "m", "messages": said });
        self.ask(Method::POST, "/v1/chat/completions", &[], body).await;
        let body = json!({ "model": "m", "input": "what is it?" });
        self.ask(Method::POST, "/v1/responses", &[], body).await;
        let part = json!({ "type": "text", "text": "what is it?" });
        let message = json!({ "id": "1", "role": "user", "parts": [part] });
        let body = json!({ "id": "chat", "messages": [message] });
        self.ask(Method::POST, "/api/chat", &[], body).await;
        self.ask(Method::GET, "/api/chat/{chat}/stream", &["none"], Value::Null).await;
        self.ask(Method::DELETE, "/api/chat/{chat}/stream", &["none"], Value::Null).await;
        let message = json!({ "id": "1", "role": "user", "content": "what is it?" });
        let body = json!({ "threadId": "t", "runId": "r", "messages": [message] });
        self.ask(Method::POST, "/agui", &[], body).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn real_answers_are_as_described() {
    let served = serve_in(Arc::new(tempfile::tempdir().unwrap()), Some(script())).await;
    let document = document(&served).await;
    let mut checked = Checked { served: &served, document, seen: BTreeSet::new() };
    let session = checked.sessions().await;
    checked.runs(&session).await;
    checked.queue().await;
    checked.files_and_access(&session).await;
    checked.other_clients().await;
    // The rest needs more than one request: an ask that is open, a WebSocket, a browser.
    let elsewhere = ["/v1/runs/{run}/asks/{ask}/answer", "/v1/ws", "/login"];
    for (path, operations) in checked.document["paths"].as_object().unwrap() {
        for method in operations.as_object().unwrap().keys() {
            let seen = checked.seen.contains(&(path.clone(), method.clone()));
            assert!(seen || elsewhere.contains(&&**path), "nobody asked {method} {path}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_refusal_is_a_code_and_a_sentence_as_described() {
    let served = serve().await;
    let document = document(&served).await;
    let checked = Checked { served: &served, document, seen: BTreeSet::new() };
    let error = json!({ "$ref": "#/components/schemas/Error" });
    let mut refusals = 0;
    for (path, operations) in checked.document["paths"].as_object().unwrap() {
        for method in operations.as_object().unwrap().keys() {
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            let url = format!("{}{}", served.base, filled(path));
            let with = served.request(method.clone(), &filled(path)).body("{").send();
            let without = served.client.request(method.clone(), &url).body("{").send();
            for answer in [with.await.unwrap(), without.await.unwrap()] {
                if answer.status().is_client_error() || answer.status().is_server_error() {
                    refusals += 1;
                    let told = answer.json().await.unwrap_or(Value::Null);
                    checked.check(&error, &told, &format!("{method} {path}"));
                }
            }
        }
    }
    assert!(60 < refusals, "{refusals}");
}
