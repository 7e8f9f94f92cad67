//! Access: who is let in, and who gets 404.

use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::support::{TestGateway, read_fixture, start_gateway};

/// Status of the response to raw bytes.
async fn raw_status(gateway: &TestGateway, head: &str) -> String {
    let address = gateway.base.trim_start_matches("http://");
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    while !answer.windows(4).any(|window| window == b"\r\n\r\n") {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => break,
            Ok(len) => answer.extend_from_slice(&buffer[..len]),
        }
    }
    let answer = String::from_utf8_lossy(&answer).into_owned();
    answer.split(' ').nth(1).unwrap_or("closed").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_and_origins_are_checked_on_every_route_before_the_body() {
    let gateway = start_gateway().await;
    let port = gateway.base.rsplit(':').next().unwrap().to_owned();
    let session = gateway.new_session().await;
    let routes = [
        ("GET", "/healthz".to_owned()),
        ("GET", "/v1/sessions".to_owned()),
        ("POST", "/v1/sessions".to_owned()),
        ("GET", format!("/v1/sessions/{session}/stream")),
        ("GET", format!("/v1/ws?session={session}")),
        ("POST", "/v1/ingest/auto".to_owned()),
        ("GET", "/nothing/here".to_owned()),
    ];
    let rejected_headers = [
        "Host: evil.com\r\n".to_owned(),
        format!("Host: evil.com:{port}\r\n"),
        "Host: localhost\r\n".to_owned(),
        format!("Host: 127.0.0.1.nip.io:{port}\r\n"),
        format!("Host: localhost:{port}\r\nOrigin: https://evil.com\r\n"),
        format!("Host: localhost:{port}\r\nOrigin: null\r\n"),
        format!("Host: localhost:{port}\r\nSec-Fetch-Site: cross-site\r\n"),
        format!("Host: localhost:{port}\r\nHost: evil.com\r\n"),
    ];
    for (method, path) in &routes {
        for headers in &rejected_headers {
            // The body is announced and never sent: a server that waits for it hangs.
            let head = format!(
                "{method} {path} HTTP/1.1\r\n{headers}Authorization: Bearer {}\r\n\
                 Content-Type: application/json\r\nContent-Length: 100\r\n\r\n",
                gateway.token
            );
            let status = raw_status(&gateway, &head).await;
            assert!(matches!(&*status, "403" | "400"), "{method} {path} {headers:?}: {status}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
#[allow(clippy::too_many_lines, reason = "one request per route")]
async fn without_a_credential_of_its_owner_nothing_is_there() {
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
    let ingested = gateway.ingest(&session, read_fixture("anthropic/cut-off.sse")).await;
    let run = ingested["run"].as_str().unwrap();
    let other_token = token_of_other_owner(&gateway).await;
    let routes = [
        (Method::GET, format!("/v1/sessions/{session}")),
        (Method::PATCH, format!("/v1/sessions/{session}")),
        (Method::DELETE, format!("/v1/sessions/{session}")),
        (Method::POST, format!("/v1/sessions/{session}/restore")),
        (Method::POST, format!("/v1/sessions/{session}/branch")),
        (Method::POST, format!("/v1/sessions/{session}/messages")),
        (Method::GET, format!("/v1/sessions/{session}/queue")),
        (Method::GET, format!("/v1/sessions/{session}/stream")),
        (Method::GET, format!("/v1/sessions/{session}/snapshot")),
        (Method::GET, format!("/v1/sessions/{session}/log")),
        (Method::GET, format!("/v1/sessions/{session}/shares")),
        (Method::POST, format!("/v1/sessions/{session}/shares")),
        (Method::GET, format!("/v1/runs/{run}")),
        (Method::POST, format!("/v1/runs/{run}/cancel")),
        (Method::POST, format!("/v1/ingest/auto?session={session}")),
    ];
    for (method, path) in routes {
        let status = async |token: Option<&str>| {
            let url = format!("{}{path}", gateway.base);
            let mut request = gateway.client.request(method.clone(), url);
            if let Some(token) = token {
                request = request.bearer_auth(token);
            }
            if method != Method::GET {
                request = request.json(&json!({ "text": "x" }));
            }
            let answer = request.send().await.unwrap();
            let status = answer.status().as_u16();
            (status, answer.text().await.unwrap())
        };
        assert_eq!(status(None).await.0, 401, "{method} {path} without a token");
        let wrong_token = format!("mp_{}", "0".repeat(64));
        let (code, _) = status(Some(&wrong_token)).await;
        assert!(matches!(code, 401 | 429), "{method} {path} with a wrong token: {code}");
        let other_owner_response = status(Some(&other_token)).await;
        // An invalid body may be rejected before the lookup; the response must be the same as for a
        // missing session.
        let absent = path
            .replace(&session, "01ARZ3NDEKTSV4RRFFQ69G5FAV")
            .replace(run, "01ARZ3NDEKTSV4RRFFQ69G5FAV");
        let url = format!("{}{absent}", gateway.base);
        let mut request = gateway.client.request(method.clone(), url).bearer_auth(&other_token);
        if method != Method::GET {
            request = request.json(&json!({ "text": "x" }));
        }
        let answer = request.send().await.unwrap();
        let missing_response = (answer.status().as_u16(), answer.text().await.unwrap());
        assert_eq!(
            other_owner_response, missing_response,
            "{method} {path} with another owner's token"
        );
        assert!(
            (400..500).contains(&other_owner_response.0),
            "{method} {path}: {}",
            other_owner_response.0
        );
    }
}

/// A token of another owner.
async fn token_of_other_owner(gateway: &TestGateway) -> String {
    let owner = millpond_log::id::OwnerId::new(1, [9; 10]);
    let (_, secret) = gateway.gateway.issue_token(owner, "other").await.unwrap();
    secret.reveal().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_token_closes_what_it_had_opened() {
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
    let created = gateway.post("/v1/tokens", &json!({ "label": "tab" })).send().await.unwrap();
    let created: Value = created.json().await.unwrap();
    let (id, token) = (created["id"].as_str().unwrap(), created["token"].as_str().unwrap());
    let tab_client = TestGateway { token: token.to_owned(), ..gateway.clone_client() };
    let mut events = tab_client.follow_stream(&session, "view=latest", "").await;
    gateway.ingest(&session, read_fixture("anthropic/cut-off.sse")).await;
    assert!(events.next_event().await.is_some());
    let path = format!("/v1/tokens/{id}");
    let answer = gateway.request(Method::DELETE, &path).send().await.unwrap();
    assert_eq!(answer.status(), 204);
    let last = events.events_until(|event| event.event == "closed").await;
    assert!(last.last().unwrap().data.contains("revoked"));
    assert!(events.next_event().await.is_none(), "and nothing after it");
    let response = tab_client.get(&format!("/v1/sessions/{session}")).send().await.unwrap();
    assert_eq!(response.status(), 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shared_link_reads_one_session_and_changes_nothing() {
    let gateway = start_gateway().await;
    let (session, other_session) = (gateway.new_session().await, gateway.new_session().await);
    let path = format!("/v1/sessions/{session}/shares");
    let created: Value =
        gateway.post(&path, &json!({})).send().await.unwrap().json().await.unwrap();
    let guest_client = TestGateway {
        token: created["token"].as_str().unwrap().to_owned(),
        ..gateway.clone_client()
    };
    let status =
        async |path: String| guest_client.get(&path).send().await.unwrap().status().as_u16();
    assert_eq!(status(format!("/v1/sessions/{session}")).await, 200);
    assert_eq!(status(format!("/v1/sessions/{session}/snapshot")).await, 200);
    assert_eq!(status(format!("/v1/sessions/{session}/log")).await, 404, "hidden text is in it");
    assert_eq!(status(format!("/v1/sessions/{other_session}")).await, 404);
    assert_eq!(status("/v1/sessions".to_owned()).await, 404);
    assert_eq!(status("/v1/tokens".to_owned()).await, 404);
    let path = format!("/v1/sessions/{session}");
    let response = guest_client.request(Method::DELETE, &path).send().await.unwrap();
    assert_eq!(response.status(), 404);
    let share = created["id"].as_str().unwrap();
    let path = format!("/v1/sessions/{session}/shares/{share}");
    assert_eq!(gateway.request(Method::DELETE, &path).send().await.unwrap().status(), 204);
    assert_eq!(status(format!("/v1/sessions/{session}")).await, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_link_lets_one_browser_in_once() {
    let gateway = start_gateway().await;
    let link: Value =
        gateway.post("/v1/login-link", &json!({})).send().await.unwrap().json().await.unwrap();
    let url = format!("{}{}", gateway.base, link["path"].as_str().unwrap());
    let browser =
        reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let answer = browser.get(&url).send().await.unwrap();
    assert_eq!(answer.status(), 303);
    let cookie = answer.headers()["set-cookie"].to_str().unwrap().to_owned();
    for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let sessions = format!("{}/v1/sessions", gateway.base);
    let listed = browser.get(&sessions).header("cookie", &cookie).send().await.unwrap();
    assert_eq!(listed.status(), 200);
    // A form of another site can send a cookie, but not JSON.
    let forged_response =
        browser.post(&sessions).header("cookie", &cookie).body("{}").send().await.unwrap();
    assert_eq!(forged_response.status(), 415);
    assert_eq!(browser.get(&url).send().await.unwrap().status(), 401, "used");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_guesses_has_to_wait_and_a_right_token_does_not() {
    let gateway = start_gateway().await;
    let mut last_status = 0;
    for attempt in 0..12 {
        let wrong_token = format!("mp_{attempt:064x}");
        let url = format!("{}/v1/sessions", gateway.base);
        last_status = gateway
            .client
            .get(url)
            .bearer_auth(wrong_token)
            .send()
            .await
            .unwrap()
            .status()
            .as_u16();
    }
    assert_eq!(last_status, 429);
    assert_eq!(gateway.get("/v1/sessions").send().await.unwrap().status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn strange_ids_are_not_there_and_large_bodies_are_refused() {
    let gateway = start_gateway().await;
    for raw_id in [
        "..",
        "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "a",
        "%00",
        "..%5c..",
        "01ARZ3NDEKTSV4RRFFQ69G5FA'",
    ] {
        let answer = gateway.get(&format!("/v1/sessions/{raw_id}/snapshot")).send().await.unwrap();
        assert_eq!(answer.status(), 404, "{raw_id}");
    }
    for (method, path, body, status, code) in [
        (Method::POST, "/v1/sessions", "{\"titel\":1}", 422, "bad_request"),
        (Method::POST, "/v1/sessions", "{", 400, "bad_request"),
        (Method::GET, "/v1/sessions?limt=1", "", 400, "bad_request"),
        (Method::GET, "/v1/sessions/%ff", "", 404, "not_found"),
        (Method::PUT, "/v1/sessions", "", 405, "method_not_allowed"),
        (Method::GET, "/nothing", "", 404, "not_found"),
    ] {
        let request = gateway.request(method, path).header("content-type", "application/json");
        let answer = request.body(body).send().await.unwrap();
        assert_eq!(answer.status(), status, "{path} {body}");
        let error_body: Value = answer.json().await.unwrap();
        assert_eq!(error_body["error"]["code"], code, "{path} {body}");
    }
    let large = json!({ "title": "x".repeat(2 << 20) });
    let answer = gateway.post("/v1/sessions", &large).send().await.unwrap();
    assert_eq!(answer.status(), 413);
    let nested = "[".repeat(100_000);
    let answer = gateway
        .request(Method::POST, "/v1/sessions")
        .header("content-type", "application/json")
        .body(nested)
        .send()
        .await
        .unwrap();
    assert!((400..500).contains(&answer.status().as_u16()), "{}", answer.status());
}
