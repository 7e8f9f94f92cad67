//! Every endpoint and every kind of caller: who may not is told nothing, not even that there is
//! something.

use std::net::Ipv4Addr;

use serde_json::{Value, json};

use super::raw::{Answer, request};
use super::support::{Served, fixture, serve};

/// Every route that needs a credential, with a body that would do.
const ROUTES: &[(&str, &str, &str)] = &[
    ("POST", "/v1/sessions", "{}"),
    ("GET", "/v1/sessions", ""),
    ("GET", "/v1/sessions/stream", ""),
    ("GET", "/v1/sessions/{session}", ""),
    ("PATCH", "/v1/sessions/{session}", "{\"title\":\"stolen\"}"),
    ("DELETE", "/v1/sessions/{session}", ""),
    ("POST", "/v1/sessions/{session}/restore", "{}"),
    ("POST", "/v1/sessions/{session}/branch", "{}"),
    ("POST", "/v1/sessions/{session}/messages", "{\"text\":\"x\"}"),
    ("GET", "/v1/sessions/{session}/queue", ""),
    ("PUT", "/v1/sessions/{session}/queue", "{\"order\":[]}"),
    ("GET", "/v1/sessions/{session}/stream", ""),
    ("GET", "/v1/sessions/{session}/theatre", ""),
    ("GET", "/v1/sessions/{session}/snapshot", ""),
    ("GET", "/v1/sessions/{session}/log", ""),
    ("POST", "/v1/sessions/{session}/blobs", "{}"),
    ("GET", "/v1/sessions/{session}/blobs/{digest}", ""),
    ("POST", "/v1/sessions/{session}/shares", "{}"),
    ("GET", "/v1/sessions/{session}/shares", ""),
    ("DELETE", "/v1/sessions/{session}/shares/{share}", ""),
    ("POST", "/v1/tokens", "{\"label\":\"x\"}"),
    ("GET", "/v1/tokens", ""),
    ("DELETE", "/v1/tokens/{token}", ""),
    ("POST", "/v1/login-link", "{}"),
    ("GET", "/v1/runs/{run}", ""),
    ("POST", "/v1/runs/{run}/cancel", "{}"),
    ("POST", "/v1/runs/{run}/retry", "{}"),
    ("POST", "/v1/runs/{run}/asks/{ask}/answer", "{\"answer\":\"yes\"}"),
    ("GET", "/v1/ws?session={session}", ""),
    ("GET", "/v1/agent", ""),
    ("GET", "/v1/usage", ""),
    ("GET", "/v1/usage?session={session}", ""),
    ("POST", "/v1/ingest/{dialect}", "data: [DONE]\n\n"),
    ("POST", "/v1/ingest/auto?session={session}", "data: [DONE]\n\n"),
    ("POST", "/api/chat", "{\"id\":\"x\",\"messages\":[]}"),
    ("GET", "/api/chat/{chat}/stream", ""),
    ("DELETE", "/api/chat/{chat}/stream", ""),
    ("GET", "/metrics", ""),
    ("POST", "/agui", "{}"),
    ("POST", "/v1/chat/completions", "{}"),
    ("POST", "/v1/responses", "{}"),
];

/// Those that anybody may ask.
const OPEN: &[&str] = &["/healthz", "/readyz", "/login", "/openapi.json"];

/// What a guest may do with the session of its link.
const FOR_GUESTS: &[&str] = &[
    "/v1/sessions/{session}",
    "/v1/sessions/{session}/stream",
    "/v1/sessions/{session}/theatre",
    "/v1/sessions/{session}/snapshot",
    "/v1/ws?session={session}",
];

const NOWHERE: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

/// What the names in a route stand for.
#[derive(Clone)]
struct Ids([(&'static str, String); 7]);

impl Ids {
    fn nowhere() -> Ids {
        Ids::of(NOWHERE, NOWHERE, NOWHERE, NOWHERE)
    }

    fn of(session: &str, run: &str, share: &str, token: &str) -> Ids {
        Ids([
            ("{session}", session.to_owned()),
            ("{run}", run.to_owned()),
            ("{share}", share.to_owned()),
            ("{token}", token.to_owned()),
            ("{ask}", "ask".to_owned()),
            ("{chat}", "chat".to_owned()),
            ("{digest}", format!("sha256:{}", "0".repeat(64))),
        ])
    }

    fn put_into(&self, route: &str) -> String {
        let route = route.replace("{dialect}", "auto");
        self.0.iter().fold(route, |path, (name, id)| path.replace(name, id))
    }
}

/// Whether a route names something that belongs to somebody.
fn names_something(route: &str) -> bool {
    ["{session}", "{run}", "{token}"].iter().any(|name| route.contains(name))
}

#[test]
fn the_matrix_has_every_route_of_the_router() {
    for path in gateway::http::paths() {
        let known = ROUTES.iter().any(|(_, route, _)| route.split('?').next() == Some(path));
        assert!(known || OPEN.contains(&path), "{path} is in no row of the matrix");
    }
}

async fn ask(
    served: &Served,
    token: Option<&str>,
    from: Ipv4Addr,
    row: (&str, &str, &str),
) -> Answer {
    let (method, target, body) = row;
    let mut headers = vec![format!("Host: {}", served.address())];
    headers.extend(token.map(|token| format!("Authorization: Bearer {token}")));
    if target.starts_with("/v1/ws") {
        let upgrade = [
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        ];
        headers.extend(upgrade.map(str::to_owned));
    }
    headers.push("Content-Type: application/json".to_owned());
    served.raw_from(from, &request(method, target, &headers, body)).await
}

/// A session with a run and a share, of the first owner.
async fn something(served: &Served) -> Ids {
    let session = served.new_session().await;
    let taken = served.ingest(&session, fixture("anthropic/cut-off.sse")).await;
    let path = format!("/v1/sessions/{session}/shares");
    let share: Value = served.post(&path, &json!({})).send().await.unwrap().json().await.unwrap();
    let tokens: Value = served.get("/v1/tokens").send().await.unwrap().json().await.unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    Ids::of(&session, &text(&taken["run"]), &text(&share["id"]), &text(&tokens[0]["id"]))
}

async fn other_owner(served: &Served) -> String {
    let owner = gateway::id::OwnerId::new(1, [9; 10]);
    served.gateway.issue(owner, "other").await.unwrap().1.reveal().to_owned()
}

async fn revoked(served: &Served) -> String {
    let given = served.post("/v1/tokens", &json!({ "label": "old" })).send().await.unwrap();
    let given: Value = given.json().await.unwrap();
    let path = format!("/v1/tokens/{}", given["id"].as_str().unwrap());
    served.request(reqwest::Method::DELETE, &path).send().await.unwrap();
    given["token"].as_str().unwrap().to_owned()
}

async fn guest_of(served: &Served, session: &str) -> String {
    let path = format!("/v1/sessions/{session}/shares");
    let given: Value = served.post(&path, &json!({})).send().await.unwrap().json().await.unwrap();
    given["token"].as_str().unwrap().to_owned()
}

/// What is there of the first owner's, to see that nobody changed it.
async fn inventory(served: &Served, ids: &Ids) -> Vec<String> {
    let mut all = Vec::new();
    for route in [
        "/v1/sessions",
        "/v1/sessions/{session}/log",
        "/v1/sessions/{session}/shares",
        "/v1/sessions/{session}/queue",
        "/v1/tokens",
        "/v1/usage",
    ] {
        let answer = served.get(&ids.put_into(route)).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{route}");
        all.push(answer.text().await.unwrap());
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_good_credential_every_route_says_the_same_whatever_it_names() {
    let served = serve().await;
    let ids = something(&served).await;
    let (wrong, revoked) = (format!("mp_{}", "0".repeat(64)), revoked(&served).await);
    let before = inventory(&served, &ids).await;
    let mut first = None;
    for (row, (method, route, body)) in ROUTES.iter().enumerate() {
        for (column, token) in
            [None, Some(&*wrong), Some("nonsense"), Some(&*revoked)].into_iter().enumerate()
        {
            for ids in [&ids, &Ids::nowhere()] {
                let from = Ipv4Addr::new(
                    127,
                    1,
                    u8::try_from(row).unwrap(),
                    u8::try_from(column + 1).unwrap(),
                );
                let answer = ask(&served, token, from, (method, &ids.put_into(route), body)).await;
                assert_eq!(answer.status, 401, "{method} {route} {token:?}: {}", answer.body);
                let first = first.get_or_insert_with(|| answer.clone());
                assert_eq!(*first, answer, "{method} {route} {token:?}");
            }
        }
    }
    assert_eq!(inventory(&served, &ids).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_belongs_to_another_is_answered_as_if_it_were_not_there() {
    let served = serve().await;
    let ids = something(&served).await;
    let elsewhere = served.new_session().await;
    let strangers = [other_owner(&served).await, guest_of(&served, &elsewhere).await];
    let before = inventory(&served, &ids).await;
    let here = Ipv4Addr::LOCALHOST;
    for (method, route, body) in ROUTES.iter().filter(|(_, route, _)| names_something(route)) {
        for stranger in &strangers {
            let theirs = (*method, &*ids.put_into(route), *body);
            let theirs = ask(&served, Some(stranger), here, theirs).await;
            let nothing = (*method, &*Ids::nowhere().put_into(route), *body);
            let nothing = ask(&served, Some(stranger), here, nothing).await;
            assert_eq!(theirs, nothing, "{method} {route}");
            // What somebody has used of a session that is not there is nothing.
            let counts = route.starts_with("/v1/usage") && theirs.body.contains("\"tokens_in\":0");
            assert!(theirs.status == 404 || counts, "{method} {route}: {theirs:?}");
        }
    }
    assert_eq!(inventory(&served, &ids).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_sees_the_pages_of_one_session_and_nothing_else_is_there() {
    let served = serve().await;
    let ids = something(&served).await;
    let guest = guest_of(&served, &ids.0[0].1).await;
    let before = inventory(&served, &ids).await;
    let mut refused = None;
    for (method, route, body) in ROUTES {
        if *method == "GET" && FOR_GUESTS.contains(route) {
            continue;
        }
        let row = (*method, &*ids.put_into(route), *body);
        let answer = ask(&served, Some(&guest), Ipv4Addr::LOCALHOST, row).await;
        assert_eq!(answer.status, 404, "{method} {route}: {}", answer.body);
        let first = refused.get_or_insert_with(|| answer.clone());
        assert_eq!(*first, answer, "{method} {route}");
    }
    assert_eq!(inventory(&served, &ids).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn strange_words_in_the_place_of_an_id_name_nothing() {
    let served = serve().await;
    let long = "A".repeat(4000);
    let words = [
        "..",
        "../..",
        "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "..%5c..%5cwindows",
        "%00",
        "%ff%fe",
        "%0d%0aX-Injected:%201",
        "'%20OR%201=1--",
        "01ARZ3NDEKTSV4RRFFQ69G5FA%27",
        "01ARZ3NDEKTSV4RRFFQ69G5FAVV",
        "*",
        "{session}",
        "-1",
        "%F0%9F%A6%86",
        &long,
    ];
    let token = served.token.clone();
    for (method, route, body) in ROUTES.iter().filter(|(_, route, _)| names_something(route)) {
        for word in words {
            let ids = Ids::of(word, word, word, word);
            let row = (*method, &*ids.put_into(route), *body);
            let answer = ask(&served, Some(&token), Ipv4Addr::LOCALHOST, row).await;
            assert!(matches!(answer.status, 400 | 404), "{method} {route} {word}: {answer:?}");
            assert!(answer.body.contains("\"error\""), "{method} {route} {word}: {answer:?}");
        }
    }
    let answer = served.get("/readyz").send().await.unwrap();
    assert_eq!(answer.status(), 200);
}

/// Whether it may come in at all, by what a browser says about it.
const HOSTS: &[(&str, bool)] = &[
    ("Host: localhost:PORT", true),
    ("Host: 127.0.0.1:PORT", true),
    ("Host: LOCALHOST:PORT", true),
    ("Host: evil.com:PORT", false),
    ("Host: localhost", false),
    ("Host: 127.0.0.1.nip.io:PORT", false),
    ("Host: user@localhost:PORT", false),
    ("X-Host: none", false),
    ("X-Forwarded-Host: localhost:PORT", false),
];
const ORIGINS: &[(&str, bool)] = &[
    ("X-Origin: none", true),
    ("Origin: http://localhost:PORT", true),
    ("Origin: http://127.0.0.1:PORT", true),
    ("Origin: null", false),
    ("Origin: https://localhost:PORT", false),
    ("Origin: http://localhost", false),
    ("Origin: http://evil.com", false),
    ("Sec-Fetch-Site: cross-site", false),
];
const METHODS: &[&str] = &["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "BREW"];
const KINDS: &[(&str, bool)] = &[
    ("X-Kind: none", false),
    ("Content-Type: application/json", true),
    ("Content-Type: application/json; charset=utf-8", true),
    ("Content-Type: text/plain", false),
    ("Content-Type: application/x-www-form-urlencoded", false),
    ("Content-Type: multipart/form-data; boundary=x", false),
];

/// Statuses that `/v1/sessions` may answer to one that is let in.
fn expected(method: &str, json: bool, cookie: bool) -> &'static [u16] {
    match method {
        "GET" | "HEAD" => &[200],
        "POST" if json => &[201],
        "POST" => &[415],
        // A cookie with no JSON is refused before anybody looks for the method.
        "OPTIONS" => &[405],
        _ if cookie && !json => &[405, 415],
        _ => &[405],
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_origins_methods_and_kinds_of_content_in_every_combination() {
    let served = serve().await;
    let port = served.address().port().to_string();
    let credentials = [
        (format!("Authorization: Bearer {}", served.token), false),
        (format!("Cookie: millpond={}", served.token), true),
    ];
    for (host, host_good) in HOSTS {
        for (origin, origin_good) in ORIGINS {
            for method in METHODS {
                for (kind, json) in KINDS {
                    for (credential, cookie) in &credentials {
                        let headers = [host, origin, kind, &&**credential]
                            .map(|header| header.replace("PORT", &port));
                        let bytes = request(method, "/v1/sessions", &headers, "{}");
                        let status = served.raw(&bytes).await.status;
                        let wanted = if *host_good && *origin_good {
                            expected(method, *json, *cookie)
                        } else {
                            &[403]
                        };
                        assert!(wanted.contains(&status), "{method} {headers:?}: {status}");
                    }
                }
            }
        }
    }
}
