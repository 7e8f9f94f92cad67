//! Who is let in, and who is told nothing.

use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::support::{Served, fixture, serve};

/// The status that raw bytes get.
async fn raw(served: &Served, head: &str) -> String {
    let address = served.base.trim_start_matches("http://");
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let mut some = [0; 4096];
    while !answer.windows(4).any(|window| window == b"\r\n\r\n") {
        match stream.read(&mut some).await {
            Ok(0) | Err(_) => break,
            Ok(len) => answer.extend_from_slice(&some[..len]),
        }
    }
    let answer = String::from_utf8_lossy(&answer).into_owned();
    answer.split(' ').nth(1).unwrap_or("closed").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_and_origins_are_checked_on_every_route_before_the_body() {
    let served = serve().await;
    let port = served.base.rsplit(':').next().unwrap().to_owned();
    let session = served.new_session().await;
    let routes = [
        ("GET", "/healthz".to_owned()),
        ("GET", "/v1/sessions".to_owned()),
        ("POST", "/v1/sessions".to_owned()),
        ("GET", format!("/v1/sessions/{session}/stream")),
        ("GET", format!("/v1/ws?session={session}")),
        ("POST", "/v1/ingest/auto".to_owned()),
        ("GET", "/nothing/here".to_owned()),
    ];
    let strange = [
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
        for headers in &strange {
            // The body is announced and never sent: whoever waits for it hangs.
            let head = format!(
                "{method} {path} HTTP/1.1\r\n{headers}Authorization: Bearer {}\r\n\
                 Content-Type: application/json\r\nContent-Length: 100\r\n\r\n",
                served.token
            );
            let status = raw(&served, &head).await;
            assert!(matches!(&*status, "403" | "400"), "{method} {path} {headers:?}: {status}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_credential_of_its_owner_nothing_is_there() {
    let served = serve().await;
    let session = served.new_session().await;
    let taken = served.ingest(&session, fixture("anthropic/cut-off.sse")).await;
    let run = taken["run"].as_str().unwrap();
    let other = other_token(&served).await;
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
            let url = format!("{}{path}", served.base);
            let mut request = served.client.request(method.clone(), url);
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
        let wrong = format!("mp_{}", "0".repeat(64));
        let (code, _) = status(Some(&wrong)).await;
        assert!(matches!(code, 401 | 429), "{method} {path} with a wrong token: {code}");
        let theirs = status(Some(&other)).await;
        // A body that does not fit may be refused before anything is looked up; what is told must
        // be what is told about a session that is not there.
        let absent = path
            .replace(&session, "01ARZ3NDEKTSV4RRFFQ69G5FAV")
            .replace(run, "01ARZ3NDEKTSV4RRFFQ69G5FAV");
        let url = format!("{}{absent}", served.base);
        let mut request = served.client.request(method.clone(), url).bearer_auth(&other);
        if method != Method::GET {
            request = request.json(&json!({ "text": "x" }));
        }
        let answer = request.send().await.unwrap();
        let nothing = (answer.status().as_u16(), answer.text().await.unwrap());
        assert_eq!(theirs, nothing, "{method} {path} with another owner's token");
        assert!((400..500).contains(&theirs.0), "{method} {path}: {}", theirs.0);
    }
}

/// A token of somebody else.
async fn other_token(served: &Served) -> String {
    let owner = gateway::id::OwnerId::new(1, [9; 10]);
    let (_, secret) = served.gateway.issue(owner, "other").await.unwrap();
    secret.reveal().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_token_closes_what_it_had_opened() {
    let served = serve().await;
    let session = served.new_session().await;
    let given = served.post("/v1/tokens", &json!({ "label": "tab" })).send().await.unwrap();
    let given: Value = given.json().await.unwrap();
    let (id, token) = (given["id"].as_str().unwrap(), given["token"].as_str().unwrap());
    let tab = Served { token: token.to_owned(), ..served.again() };
    let mut events = tab.follow(&session, "view=latest", "").await;
    served.ingest(&session, fixture("anthropic/cut-off.sse")).await;
    assert!(events.next().await.is_some());
    let path = format!("/v1/tokens/{id}");
    let answer = served.request(Method::DELETE, &path).send().await.unwrap();
    assert_eq!(answer.status(), 204);
    let last = events.until(|got| got.event == "closed").await;
    assert!(last.last().unwrap().data.contains("revoked"));
    assert!(events.next().await.is_none(), "and nothing after it");
    let refused = tab.get(&format!("/v1/sessions/{session}")).send().await.unwrap();
    assert_eq!(refused.status(), 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shared_link_reads_one_session_and_changes_nothing() {
    let served = serve().await;
    let (session, other) = (served.new_session().await, served.new_session().await);
    let path = format!("/v1/sessions/{session}/shares");
    let given: Value = served.post(&path, &json!({})).send().await.unwrap().json().await.unwrap();
    let guest = Served { token: given["token"].as_str().unwrap().to_owned(), ..served.again() };
    let status = async |path: String| guest.get(&path).send().await.unwrap().status().as_u16();
    assert_eq!(status(format!("/v1/sessions/{session}")).await, 200);
    assert_eq!(status(format!("/v1/sessions/{session}/snapshot")).await, 200);
    assert_eq!(status(format!("/v1/sessions/{session}/log")).await, 404, "hidden text is in it");
    assert_eq!(status(format!("/v1/sessions/{other}")).await, 404);
    assert_eq!(status("/v1/sessions".to_owned()).await, 404);
    assert_eq!(status("/v1/tokens".to_owned()).await, 404);
    let path = format!("/v1/sessions/{session}");
    let refused = guest.request(Method::DELETE, &path).send().await.unwrap();
    assert_eq!(refused.status(), 404);
    let share = given["id"].as_str().unwrap();
    let path = format!("/v1/sessions/{session}/shares/{share}");
    assert_eq!(served.request(Method::DELETE, &path).send().await.unwrap().status(), 204);
    assert_eq!(status(format!("/v1/sessions/{session}")).await, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_link_lets_one_browser_in_once() {
    let served = serve().await;
    let link: Value =
        served.post("/v1/login-link", &json!({})).send().await.unwrap().json().await.unwrap();
    let url = format!("{}{}", served.base, link["path"].as_str().unwrap());
    let browser =
        reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let answer = browser.get(&url).send().await.unwrap();
    assert_eq!(answer.status(), 303);
    let cookie = answer.headers()["set-cookie"].to_str().unwrap().to_owned();
    for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let sessions = format!("{}/v1/sessions", served.base);
    let listed = browser.get(&sessions).header("cookie", &cookie).send().await.unwrap();
    assert_eq!(listed.status(), 200);
    // A form of another site could send a cookie along; it cannot send JSON.
    let forged = browser.post(&sessions).header("cookie", &cookie).body("{}").send().await.unwrap();
    assert_eq!(forged.status(), 415);
    assert_eq!(browser.get(&url).send().await.unwrap().status(), 401, "used");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_guesses_has_to_wait_and_a_right_token_does_not() {
    let served = serve().await;
    let mut last = 0;
    for guess in 0..12 {
        let wrong = format!("mp_{guess:064x}");
        let url = format!("{}/v1/sessions", served.base);
        last = served.client.get(url).bearer_auth(wrong).send().await.unwrap().status().as_u16();
    }
    assert_eq!(last, 429);
    assert_eq!(served.get("/v1/sessions").send().await.unwrap().status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn strange_ids_are_not_there_and_large_bodies_are_refused() {
    let served = serve().await;
    for word in [
        "..",
        "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "a",
        "%00",
        "..%5c..",
        "01ARZ3NDEKTSV4RRFFQ69G5FA'",
    ] {
        let answer = served.get(&format!("/v1/sessions/{word}/snapshot")).send().await.unwrap();
        assert_eq!(answer.status(), 404, "{word}");
    }
    for (method, path, body, status, code) in [
        (Method::POST, "/v1/sessions", "{\"titel\":1}", 422, "bad_request"),
        (Method::POST, "/v1/sessions", "{", 400, "bad_request"),
        (Method::GET, "/v1/sessions?limt=1", "", 400, "bad_request"),
        (Method::GET, "/v1/sessions/%ff", "", 404, "not_found"),
        (Method::PUT, "/v1/sessions", "", 405, "method_not_allowed"),
        (Method::GET, "/nothing", "", 404, "not_found"),
    ] {
        let request = served.request(method, path).header("content-type", "application/json");
        let answer = request.body(body).send().await.unwrap();
        assert_eq!(answer.status(), status, "{path} {body}");
        let told: Value = answer.json().await.unwrap();
        assert_eq!(told["error"]["code"], code, "{path} {body}");
    }
    let large = json!({ "title": "x".repeat(2 << 20) });
    let answer = served.post("/v1/sessions", &large).send().await.unwrap();
    assert_eq!(answer.status(), 413);
    let nested = "[".repeat(100_000);
    let answer = served
        .request(Method::POST, "/v1/sessions")
        .header("content-type", "application/json")
        .body(nested)
        .send()
        .await
        .unwrap();
    assert!((400..500).contains(&answer.status().as_u16()), "{}", answer.status());
}
