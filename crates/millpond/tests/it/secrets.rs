//! What a gateway says about itself: enough to look after it, and nothing that is a secret.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, Stdio};

use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::{Value, json};

use crate::support::{chat, millpond};

/// Nobody but a person or a model writes this.
const WORDS: &str = "zq9canary7x";

struct Gateway {
    child: Child,
    stderr: BufReader<ChildStderr>,
    said: String,
    base: String,
    token: String,
    client: Client,
}

fn start(folder: &std::path::Path) -> Gateway {
    let folder = folder.to_str().unwrap();
    let mut child = millpond(&["serve", "--listen", "127.0.0.1:0", "--data", folder])
        .env("MILLPOND_LOG", "debug")
        .env("MILLPOND_LOG_FORMAT", "json")
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains("listening on ") {
        assert_ne!(stderr.read_line(&mut said).unwrap(), 0, "{said}");
    }
    let base = said.split("listening on ").nth(1).unwrap().trim().to_owned();
    let token = std::fs::read_to_string(format!("{folder}/token")).unwrap().trim().to_owned();
    let policy = reqwest::redirect::Policy::none();
    let client = Client::builder().redirect(policy).build().unwrap();
    Gateway { child, stderr, said, base, token, client }
}

impl Gateway {
    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base)).bearer_auth(&self.token)
    }

    async fn post(&self, path: &str, body: &Value) -> Value {
        let answer = self.request(Method::POST, path).json(body).send().await.unwrap();
        answer.json().await.unwrap()
    }

    /// Stops it as a person would, and returns all that it said.
    fn stop(mut self) -> String {
        let id = self.child.id().to_string();
        assert!(std::process::Command::new("kill").arg(id).status().unwrap().success());
        for line in self.stderr.lines() {
            self.said.push_str(&line.unwrap());
            self.said.push('\n');
        }
        assert!(self.child.wait().unwrap().success());
        self.said
    }
}

fn cookie(answer: &Response) -> String {
    let cookie = answer.headers()["set-cookie"].to_str().unwrap();
    cookie.split(['=', ';']).nth(1).unwrap().to_owned()
}

/// Uses all that has to do with secrets and texts. Returns the secrets.
async fn use_all(gateway: &Gateway) -> Vec<String> {
    let session = gateway.post("/v1/sessions", &json!({ "title": WORDS })).await;
    let session = session["id"].as_str().unwrap();
    let path = format!("/v1/ingest/auto?session={session}");
    let request = gateway.request(Method::POST, &path).body(chat(&[WORDS]));
    assert_eq!(request.send().await.unwrap().status(), 200);
    let path = format!("/v1/sessions/{session}/messages");
    gateway.post(&path, &json!({ "text": WORDS })).await;
    let path = format!("/v1/sessions?query={WORDS}");
    assert_eq!(gateway.request(Method::GET, &path).send().await.unwrap().status(), 200);
    let path = format!("/v1/sessions/{session}/{WORDS}");
    assert_eq!(gateway.request(Method::GET, &path).send().await.unwrap().status(), 404);
    let request = gateway.request(Method::POST, "/v1/sessions").body(format!("{{\"{WORDS}"));
    let answer = request.header("content-type", "application/json").send().await.unwrap();
    assert_eq!(answer.status(), 400);
    let share = gateway.post(&format!("/v1/sessions/{session}/shares"), &json!({})).await;
    let token = gateway.post("/v1/tokens", &json!({ "label": "tab" })).await;
    let link = gateway.post("/v1/login-link", &json!({})).await;
    let link = link["path"].as_str().unwrap();
    let browser = gateway.client.get(format!("{}{link}", gateway.base)).send().await.unwrap();
    let cookie = cookie(&browser);
    let again = gateway.client.get(format!("{}{link}", gateway.base)).send().await.unwrap();
    assert_eq!(again.status(), 401, "it was used");
    let wrong = format!("mp_{}", "7".repeat(64));
    let url = format!("{}/v1/sessions", gateway.base);
    let refused = gateway.client.get(url).bearer_auth(&wrong).send().await.unwrap();
    assert_eq!(refused.status(), 401);
    let code = link.split('=').nth(1).unwrap().to_owned();
    let given = |of: &Value| of["token"].as_str().unwrap().to_owned();
    vec![gateway.token.clone(), given(&share), given(&token), code, cookie, wrong]
}

#[test]
fn the_log_of_a_gateway_has_no_secrets_and_nothing_that_anybody_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let gateway = start(folder.path());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let secrets = runtime.block_on(use_all(&gateway));
    let said = gateway.stop();
    for secret in secrets.iter().map(|secret| &**secret).chain([WORDS, "Bearer", "/login?"]) {
        assert!(!said.contains(secret), "{secret} is in\n{said}");
    }
    let lines = said.lines().filter(|line| !line.starts_with("millpond: "));
    let lines: Vec<Value> = lines.map(|line| serde_json::from_str(line).expect(line)).collect();
    let has = |key: &str, value: &str| lines.iter().any(|line| line[key] == value);
    assert!(has("message", "a run has ended") && has("outcome", "Completed"), "{said}");
    let sent =
        |line: &Value| line["route"] == "/v1/sessions/{session}/messages" && line["status"] == 202;
    assert!(lines.iter().any(sent), "{said}");
    assert!(has("route", "/login") && has("code", "link_used"), "{said}");
}
