//! The `OpenAPI` document, compared with the API.

use std::collections::BTreeSet;
use std::sync::Arc;

use reqwest::Method;
use serde_json::{Value, json};

use super::schema::schema_errors;
use super::support::{
    TestGateway, read_fixture, script_agent, start_gateway, start_gateway_in, streaming_body,
};

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

async fn fetch_document(gateway: &TestGateway) -> Value {
    let answer = gateway.client.get(format!("{}/openapi.json", gateway.base)).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    answer.json().await.unwrap()
}

/// Fills the parameters of a path with unknown ids.
fn fill_with_unknown_ids(path: &str) -> String {
    let fill =
        |part: &str| if part.starts_with('{') { "nothing".to_owned() } else { part.to_owned() };
    path.split('/').map(fill).collect::<Vec<_>>().join("/")
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_and_method_is_described_and_no_other() {
    let gateway = start_gateway().await;
    let document = fetch_document(&gateway).await;
    let mut routed_operations = BTreeSet::new();
    for path in millpond_gateway::http::route_paths() {
        for method in METHODS {
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            let answer =
                gateway.request(method.clone(), &fill_with_unknown_ids(path)).send().await.unwrap();
            if answer.status() != 405 {
                routed_operations.insert((path.to_owned(), method.as_str().to_lowercase()));
            }
        }
    }
    let paths = document["paths"].as_object().unwrap();
    let documented: BTreeSet<(String, String)> = paths
        .iter()
        .flat_map(|(path, operations)| {
            let methods = operations.as_object().unwrap().keys();
            methods.map(|method| (path.clone(), method.clone()))
        })
        .collect();
    assert_eq!(routed_operations, documented);
    assert!(30 < routed_operations.len());
}

/// A client that checks every response against the document.
struct CheckedClient<'a> {
    served: &'a TestGateway,
    document: Value,
    seen: BTreeSet<(String, String)>,
}

impl CheckedClient<'_> {
    fn check(&self, schema: &Value, answer: &Value, context: &str) {
        let faults = schema_errors(&self.document, schema, answer);
        assert!(faults.is_empty(), "{context}: {faults:?} in {answer}");
    }

    /// `words` are the values of the parameters of `path`.
    async fn request_and_check(
        &mut self,
        method: Method,
        path: &str,
        parameters: &[&str],
        body: Value,
    ) -> Value {
        let mut parameters = parameters.iter();
        let fill_parameter = |part: &str| match part.strip_prefix('{') {
            Some(_) => (*parameters.next().unwrap()).to_owned(),
            None => part.to_owned(),
        };
        let actual = path.split('/').map(fill_parameter).collect::<Vec<_>>().join("/");
        let mut request = self.served.request(method.clone(), &actual);
        request = match body {
            Value::Null => request,
            Value::String(raw) => request.body(raw),
            body => request.json(&body),
        };
        self.ingest_and_check(method, path, request).await
    }

    async fn ingest_and_check(
        &mut self,
        method: Method,
        path: &str,
        request: reqwest::RequestBuilder,
    ) -> Value {
        let name = method.as_str().to_lowercase();
        let context = format!("{method} {path}");
        let answer = request.send().await.unwrap();
        let responses = &self.document["paths"][path][&name]["responses"];
        let status = answer.status().as_u16().to_string();
        let response_schema =
            responses.get(&status).unwrap_or_else(|| panic!("{context}: {status}"));
        self.seen.insert((path.to_owned(), name));
        let Some(media_types) = response_schema.get("content") else { return Value::Null };
        let kind = answer.headers()["content-type"].to_str().unwrap().to_owned();
        let kind = kind.split(';').next().unwrap();
        let schema = media_types.get(kind).or(media_types.get("*/*"));
        let schema = schema.unwrap_or_else(|| panic!("{context}: {kind}")).clone();
        if kind != "application/json" {
            return Value::Null;
        }
        let answer: Value = answer.json().await.unwrap();
        self.check(&schema["schema"], &answer, &context);
        answer
    }
}

fn string_value(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

impl CheckedClient<'_> {
    async fn exercise_sessions(&mut self) -> String {
        let session = self.request_and_check(Method::POST, "/v1/sessions", &[], json!({})).await;
        let session = string_value(&session["id"]);
        self.request_and_check(Method::GET, "/v1/sessions", &[], Value::Null).await;
        self.request_and_check(Method::GET, "/v1/sessions/stream", &[], Value::Null).await;
        let session_path = "/v1/sessions/{session}";
        self.request_and_check(Method::GET, session_path, &[&session], Value::Null).await;
        self.request_and_check(
            Method::PATCH,
            session_path,
            &[&session],
            json!({ "title": "Ponds" }),
        )
        .await;
        let branch = format!("{session_path}/branch");
        let branch = self.request_and_check(Method::POST, &branch, &[&session], json!({})).await;
        let branch = string_value(&branch["id"]);
        self.request_and_check(Method::DELETE, session_path, &[&branch], Value::Null).await;
        self.request_and_check(Method::GET, session_path, &[&branch], Value::Null).await;
        self.request_and_check(
            Method::POST,
            &format!("{session_path}/restore"),
            &[&branch],
            json!({}),
        )
        .await;
        session
    }

    async fn exercise_runs(&mut self, session: &str) {
        let session_path = "/v1/sessions/{session}";
        let messages = format!("{session_path}/messages");
        let message = json!({ "text": "what is it?" });
        let accepted = self.request_and_check(Method::POST, &messages, &[session], message).await;
        let run = string_value(&accepted["run"]);
        self.served.wait_until_ended(session, &run).await;
        self.request_and_check(Method::GET, "/v1/runs/{run}", &[&run], Value::Null).await;
        self.request_and_check(Method::POST, "/v1/runs/{run}/cancel", &[&run], json!({})).await;
        let again =
            self.request_and_check(Method::POST, "/v1/runs/{run}/retry", &[&run], json!({})).await;
        self.served.wait_until_ended(session, &string_value(&again["run"])).await;
        self.request_and_check(Method::GET, "/v1/usage", &[], Value::Null).await;
        self.request_and_check(Method::GET, "/v1/agent", &[], Value::Null).await;
        let stream = String::from_utf8(read_fixture("anthropic/cut-off.sse")).unwrap();
        let ingested = self
            .request_and_check(Method::POST, "/v1/ingest/{dialect}", &["auto"], stream.into())
            .await;
        let run = string_value(&ingested["run"]);
        self.request_and_check(Method::GET, "/v1/runs/{run}", &[&run], Value::Null).await;
        self.request_and_check(
            Method::GET,
            &format!("{session_path}/stream"),
            &[session],
            Value::Null,
        )
        .await;
        self.request_and_check(
            Method::GET,
            &format!("{session_path}/theatre"),
            &[session],
            Value::Null,
        )
        .await;
        self.request_and_check(
            Method::GET,
            &format!("{session_path}/snapshot"),
            &[session],
            Value::Null,
        )
        .await;
        self.request_and_check(
            Method::GET,
            &format!("{session_path}/log"),
            &[session],
            Value::Null,
        )
        .await;
    }

    /// A non-empty queue, in a session with an active run.
    async fn exercise_queue(&mut self) {
        let session = self.served.new_session().await;
        let (chunk_sender, body) = streaming_body();
        let path = format!("/v1/ingest/auto?session={session}");
        let ingest_task = tokio::spawn(self.served.request(Method::POST, &path).body(body).send());
        let mut events = self.served.follow_stream(&session, "view=latest&format=patch", "").await;
        chunk_sender.send(read_fixture("anthropic/cut-off.sse")).await.unwrap();
        events.events_until(|event| event.data.contains("\"writing\"")).await;
        let session_path = "/v1/sessions/{session}";
        let session_body =
            self.request_and_check(Method::GET, session_path, &[&session], Value::Null).await;
        self.request_and_check(
            Method::GET,
            "/v1/runs/{run}",
            &[&string_value(&session_body["run"])],
            Value::Null,
        )
        .await;
        let message = json!({ "text": "later" });
        let id = self
            .request_and_check(
                Method::POST,
                &format!("{session_path}/messages"),
                &[&session],
                message,
            )
            .await;
        let queue = format!("{session_path}/queue");
        self.request_and_check(Method::GET, &queue, &[&session], Value::Null).await;
        let order = json!({ "order": [id["id"]], "removed": [] });
        self.request_and_check(Method::PUT, &queue, &[&session], order).await;
        drop(chunk_sender);
        ingest_task.await.unwrap().unwrap();
    }

    async fn exercise_files_and_access(&mut self, session: &str) {
        let session_path = "/v1/sessions/{session}";
        let upload = self
            .request_and_check(
                Method::POST,
                &format!("{session_path}/blobs"),
                &[session],
                "pond".into(),
            )
            .await;
        let digest = string_value(&upload["digest"]);
        let path = format!("{session_path}/blobs/{{digest}}");
        self.request_and_check(Method::GET, &path, &[session, &digest], Value::Null).await;
        let shares = format!("{session_path}/shares");
        let share = self.request_and_check(Method::POST, &shares, &[session], json!({})).await;
        self.request_and_check(Method::GET, &shares, &[session], Value::Null).await;
        let path = format!("{shares}/{{share}}");
        self.request_and_check(
            Method::DELETE,
            &path,
            &[session, &string_value(&share["id"])],
            Value::Null,
        )
        .await;
        let token = self
            .request_and_check(Method::POST, "/v1/tokens", &[], json!({ "label": "tab" }))
            .await;
        self.request_and_check(Method::GET, "/v1/tokens", &[], Value::Null).await;
        let token = string_value(&token["id"]);
        self.request_and_check(Method::DELETE, "/v1/tokens/{token}", &[&token], Value::Null).await;
        self.request_and_check(Method::POST, "/v1/login-link", &[], json!({})).await;
        for path in ["/healthz", "/readyz", "/metrics", "/openapi.json"] {
            self.request_and_check(Method::GET, path, &[], Value::Null).await;
        }
    }

    async fn exercise_compat_clients(&mut self) {
        let messages = json!([{ "role": "user", "content": "what is it?" }]);
        let body = json!({ "model": "m", "messages": messages });
        self.request_and_check(Method::POST, "/v1/chat/completions", &[], body).await;
        let body = json!({ "model": "m", "input": "what is it?" });
        self.request_and_check(Method::POST, "/v1/responses", &[], body).await;
        let part = json!({ "type": "text", "text": "what is it?" });
        let message = json!({ "id": "1", "role": "user", "parts": [part] });
        let body = json!({ "id": "chat", "messages": [message] });
        self.request_and_check(Method::POST, "/api/chat", &[], body).await;
        self.request_and_check(Method::GET, "/api/chat/{chat}/stream", &["none"], Value::Null)
            .await;
        self.request_and_check(Method::DELETE, "/api/chat/{chat}/stream", &["none"], Value::Null)
            .await;
        let message = json!({ "id": "1", "role": "user", "content": "what is it?" });
        let body = json!({ "threadId": "t", "runId": "r", "messages": [message] });
        self.request_and_check(Method::POST, "/agui", &[], body).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn real_answers_are_as_described() {
    let gateway =
        start_gateway_in(Arc::new(tempfile::tempdir().unwrap()), Some(script_agent())).await;
    let document = fetch_document(&gateway).await;
    let mut checked = CheckedClient { served: &gateway, document, seen: BTreeSet::new() };
    let session = checked.exercise_sessions().await;
    checked.exercise_runs(&session).await;
    checked.exercise_queue().await;
    checked.exercise_files_and_access(&session).await;
    checked.exercise_compat_clients().await;
    // The others need more than one request: an open ask, a WebSocket, a browser.
    let tested_elsewhere = ["/v1/runs/{run}/asks/{ask}/answer", "/v1/ws", "/login"];
    for (path, operations) in checked.document["paths"].as_object().unwrap() {
        for method in operations.as_object().unwrap().keys() {
            let seen = checked.seen.contains(&(path.clone(), method.clone()));
            assert!(seen || tested_elsewhere.contains(&&**path), "not covered: {method} {path}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_refusal_is_a_code_and_a_sentence_as_described() {
    let gateway = start_gateway().await;
    let document = fetch_document(&gateway).await;
    let checked = CheckedClient { served: &gateway, document, seen: BTreeSet::new() };
    let error = json!({ "$ref": "#/components/schemas/Error" });
    let mut refusals = 0;
    for (path, operations) in checked.document["paths"].as_object().unwrap() {
        for method in operations.as_object().unwrap().keys() {
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            let url = format!("{}{}", gateway.base, fill_with_unknown_ids(path));
            let with =
                gateway.request(method.clone(), &fill_with_unknown_ids(path)).body("{").send();
            let without = gateway.client.request(method.clone(), &url).body("{").send();
            for answer in [with.await.unwrap(), without.await.unwrap()] {
                if answer.status().is_client_error() || answer.status().is_server_error() {
                    refusals += 1;
                    let error_body = answer.json().await.unwrap_or(Value::Null);
                    checked.check(&error, &error_body, &format!("{method} {path}"));
                }
            }
        }
    }
    assert!(60 < refusals, "{refusals}");
}
