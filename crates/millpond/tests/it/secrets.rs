//! The log of a gateway has what an operator needs and no secrets.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, Stdio};

use reqwest::{Client, Method, RequestBuilder, Response};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{chat_stream, millpond_command, send_signal};

/// Text that only a user or a model writes.
const CANARY: &str = "zq9canary7x";

struct LoggedGateway {
    child: Child,
    stderr: BufReader<ChildStderr>,
    log: String,
    base: String,
    token: String,
    client: Client,
}

fn start_gateway(folder: &std::path::Path) -> LoggedGateway {
    let folder = folder.to_str().unwrap();
    let mut child = millpond_command(&["serve", "--listen", "127.0.0.1:0", "--data", folder])
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
    LoggedGateway { child, stderr, log: said, base, token, client }
}

impl LoggedGateway {
    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base)).bearer_auth(&self.token)
    }

    async fn post_json(&self, path: &str, body: &Value) -> Value {
        let answer = self.request(Method::POST, path).json(body).send().await.unwrap();
        answer.json().await.unwrap()
    }

    /// Stops it with SIGTERM and returns its standard error.
    fn stop_and_read_log(mut self) -> String {
        send_signal(self.child.id(), Signal::TERM);
        for line in self.stderr.lines() {
            self.log.push_str(&line.unwrap());
            self.log.push('\n');
        }
        assert!(self.child.wait().unwrap().success());
        self.log
    }
}

fn session_cookie(answer: &Response) -> String {
    let cookie = answer.headers()["set-cookie"].to_str().unwrap();
    cookie.split(['=', ';']).nth(1).unwrap().to_owned()
}

/// Calls every endpoint that handles secrets or texts. Returns the secrets.
async fn use_every_secret(gateway: &LoggedGateway) -> Vec<String> {
    let session = gateway.post_json("/v1/sessions", &json!({ "title": CANARY })).await;
    let session = session["id"].as_str().unwrap();
    let path = format!("/v1/ingest/auto?session={session}");
    let request = gateway.request(Method::POST, &path).body(chat_stream(&[CANARY]));
    assert_eq!(request.send().await.unwrap().status(), 200);
    let path = format!("/v1/sessions/{session}/messages");
    gateway.post_json(&path, &json!({ "text": CANARY })).await;
    let path = format!("/v1/sessions?query={CANARY}");
    assert_eq!(gateway.request(Method::GET, &path).send().await.unwrap().status(), 200);
    let path = format!("/v1/sessions/{session}/{CANARY}");
    assert_eq!(gateway.request(Method::GET, &path).send().await.unwrap().status(), 404);
    let request = gateway.request(Method::POST, "/v1/sessions").body(format!("{{\"{CANARY}"));
    let answer = request.header("content-type", "application/json").send().await.unwrap();
    assert_eq!(answer.status(), 400);
    let share = gateway.post_json(&format!("/v1/sessions/{session}/shares"), &json!({})).await;
    let token = gateway.post_json("/v1/tokens", &json!({ "label": "tab" })).await;
    let link = gateway.post_json("/v1/login-link", &json!({})).await;
    let link = link["path"].as_str().unwrap();
    let browser = gateway.client.get(format!("{}{link}", gateway.base)).send().await.unwrap();
    let cookie = session_cookie(&browser);
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
    let gateway = start_gateway(folder.path());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let secrets = runtime.block_on(use_every_secret(&gateway));
    let said = gateway.stop_and_read_log();
    for secret in secrets.iter().map(|secret| &**secret).chain([CANARY, "Bearer", "/login?"]) {
        assert!(!said.contains(secret), "{secret} is in\n{said}");
    }
    let lines = said.lines().filter(|line| !line.starts_with("millpond: "));
    let lines: Vec<Value> = lines.map(|line| serde_json::from_str(line).expect(line)).collect();
    let has = |key: &str, value: &str| lines.iter().any(|line| line[key] == value);
    assert!(has("message", "run ended") && has("outcome", "Completed"), "{said}");
    let sent =
        |line: &Value| line["route"] == "/v1/sessions/{session}/messages" && line["status"] == 202;
    assert!(lines.iter().any(sent), "{said}");
    assert!(has("route", "/login") && has("code", "link_used"), "{said}");
}
