//! Every route and every kind of caller: without access, the response does not reveal what exists.

use std::net::Ipv4Addr;

use serde_json::{Value, json};

use super::raw_requests::{RawResponse, request_bytes};
use super::support::{TestGateway, read_fixture, start_gateway};

/// Every route that needs a credential, with a valid body.
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

/// Public routes.
const PUBLIC_ROUTES: &[&str] = &["/healthz", "/readyz", "/login", "/openapi.json"];

/// Routes that a guest may use with the shared session.
const GUEST_ROUTES: &[&str] = &[
    "/v1/sessions/{session}",
    "/v1/sessions/{session}/stream",
    "/v1/sessions/{session}/theatre",
    "/v1/sessions/{session}/snapshot",
    "/v1/ws?session={session}",
];

const UNKNOWN_ID: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

/// Values of the parameters of a route.
#[derive(Clone)]
struct RouteIds([(&'static str, String); 7]);

impl RouteIds {
    fn unknown() -> RouteIds {
        RouteIds::new(UNKNOWN_ID, UNKNOWN_ID, UNKNOWN_ID, UNKNOWN_ID)
    }

    fn new(session: &str, run: &str, share: &str, token: &str) -> RouteIds {
        RouteIds([
            ("{session}", session.to_owned()),
            ("{run}", run.to_owned()),
            ("{share}", share.to_owned()),
            ("{token}", token.to_owned()),
            ("{ask}", "ask".to_owned()),
            ("{chat}", "chat".to_owned()),
            ("{digest}", format!("sha256:{}", "0".repeat(64))),
        ])
    }

    fn fill_route(&self, route: &str) -> String {
        let route = route.replace("{dialect}", "auto");
        self.0.iter().fold(route, |path, (name, id)| path.replace(name, id))
    }
}

/// True if a route names an owner's resource.
fn has_resource_id(route: &str) -> bool {
    ["{session}", "{run}", "{token}"].iter().any(|name| route.contains(name))
}

#[test]
fn the_matrix_has_every_route_of_the_router() {
    for path in millpond_gateway::http::route_paths() {
        let is_known = ROUTES.iter().any(|(_, route, _)| route.split('?').next() == Some(path));
        assert!(is_known || PUBLIC_ROUTES.contains(&path), "{path} is missing from the matrix");
    }
}

async fn request_route(
    gateway: &TestGateway,
    token: Option<&str>,
    from: Ipv4Addr,
    row: (&str, &str, &str),
) -> RawResponse {
    let (method, target, body) = row;
    let mut headers = vec![format!("Host: {}", gateway.address())];
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
    gateway.exchange_raw_from(from, &request_bytes(method, target, &headers, body)).await
}

/// Creates a session with a run and a share.
async fn create_resources(gateway: &TestGateway) -> RouteIds {
    let session = gateway.new_session().await;
    let ingested = gateway.ingest(&session, read_fixture("anthropic/cut-off.sse")).await;
    let path = format!("/v1/sessions/{session}/shares");
    let share: Value = gateway.post(&path, &json!({})).send().await.unwrap().json().await.unwrap();
    let tokens: Value = gateway.get("/v1/tokens").send().await.unwrap().json().await.unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    RouteIds::new(&session, &text(&ingested["run"]), &text(&share["id"]), &text(&tokens[0]["id"]))
}

async fn token_of_other_owner(gateway: &TestGateway) -> String {
    let owner = millpond_log::id::OwnerId::new(1, [9; 10]);
    gateway.gateway.issue_token(owner, "other").await.unwrap().1.reveal().to_owned()
}

async fn revoked_token(gateway: &TestGateway) -> String {
    let created = gateway.post("/v1/tokens", &json!({ "label": "old" })).send().await.unwrap();
    let created: Value = created.json().await.unwrap();
    let path = format!("/v1/tokens/{}", created["id"].as_str().unwrap());
    gateway.request(reqwest::Method::DELETE, &path).send().await.unwrap();
    created["token"].as_str().unwrap().to_owned()
}

async fn share_token(gateway: &TestGateway, session: &str) -> String {
    let path = format!("/v1/sessions/{session}/shares");
    let created: Value =
        gateway.post(&path, &json!({})).send().await.unwrap().json().await.unwrap();
    created["token"].as_str().unwrap().to_owned()
}

/// Lists the first owner's resources, to check that nothing changed.
async fn list_resources(gateway: &TestGateway, ids: &RouteIds) -> Vec<String> {
    let mut bodies = Vec::new();
    for route in [
        "/v1/sessions",
        "/v1/sessions/{session}/log",
        "/v1/sessions/{session}/shares",
        "/v1/sessions/{session}/queue",
        "/v1/tokens",
        "/v1/usage",
    ] {
        let answer = gateway.get(&ids.fill_route(route)).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{route}");
        bodies.push(answer.text().await.unwrap());
    }
    bodies
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_good_credential_every_route_says_the_same_whatever_it_names() {
    let gateway = start_gateway().await;
    let ids = create_resources(&gateway).await;
    let (wrong_token, revoked) = (format!("mp_{}", "0".repeat(64)), revoked_token(&gateway).await);
    let resources_before = list_resources(&gateway, &ids).await;
    let mut first_response = None;
    for (row, (method, route, body)) in ROUTES.iter().enumerate() {
        for (column, token) in
            [None, Some(&*wrong_token), Some("nonsense"), Some(&*revoked)].into_iter().enumerate()
        {
            for ids in [&ids, &RouteIds::unknown()] {
                let peer = Ipv4Addr::new(
                    127,
                    1,
                    u8::try_from(row).unwrap(),
                    u8::try_from(column + 1).unwrap(),
                );
                let answer =
                    request_route(&gateway, token, peer, (method, &ids.fill_route(route), body))
                        .await;
                assert_eq!(answer.status, 401, "{method} {route} {token:?}: {}", answer.body);
                let first_response = first_response.get_or_insert_with(|| answer.clone());
                assert_eq!(*first_response, answer, "{method} {route} {token:?}");
            }
        }
    }
    assert_eq!(list_resources(&gateway, &ids).await, resources_before);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_belongs_to_another_is_answered_as_if_it_were_not_there() {
    let gateway = start_gateway().await;
    let ids = create_resources(&gateway).await;
    let other_session = gateway.new_session().await;
    let other_tokens =
        [token_of_other_owner(&gateway).await, share_token(&gateway, &other_session).await];
    let resources_before = list_resources(&gateway, &ids).await;
    let peer = Ipv4Addr::LOCALHOST;
    for (method, route, body) in ROUTES.iter().filter(|(_, route, _)| has_resource_id(route)) {
        for other_token in &other_tokens {
            let existing_request = (*method, &*ids.fill_route(route), *body);
            let existing_response =
                request_route(&gateway, Some(other_token), peer, existing_request).await;
            let missing_request = (*method, &*RouteIds::unknown().fill_route(route), *body);
            let missing_response =
                request_route(&gateway, Some(other_token), peer, missing_request).await;
            assert_eq!(existing_response, missing_response, "{method} {route}");
            // Usage of a missing session is zero.
            let counts = route.starts_with("/v1/usage")
                && existing_response.body.contains("\"tokens_in\":0");
            assert!(
                existing_response.status == 404 || counts,
                "{method} {route}: {existing_response:?}"
            );
        }
    }
    assert_eq!(list_resources(&gateway, &ids).await, resources_before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_sees_the_pages_of_one_session_and_nothing_else_is_there() {
    let gateway = start_gateway().await;
    let ids = create_resources(&gateway).await;
    let guest_token = share_token(&gateway, &ids.0[0].1).await;
    let resources_before = list_resources(&gateway, &ids).await;
    let mut first_refusal = None;
    for (method, route, body) in ROUTES {
        if *method == "GET" && GUEST_ROUTES.contains(route) {
            continue;
        }
        let row = (*method, &*ids.fill_route(route), *body);
        let answer = request_route(&gateway, Some(&guest_token), Ipv4Addr::LOCALHOST, row).await;
        assert_eq!(answer.status, 404, "{method} {route}: {}", answer.body);
        let first = first_refusal.get_or_insert_with(|| answer.clone());
        assert_eq!(*first, answer, "{method} {route}");
    }
    assert_eq!(list_resources(&gateway, &ids).await, resources_before);
}

#[tokio::test(flavor = "multi_thread")]
async fn strange_words_in_the_place_of_an_id_name_nothing() {
    let gateway = start_gateway().await;
    let long_text = "A".repeat(4000);
    let invalid_ids = [
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
        &long_text,
    ];
    let token = gateway.token.clone();
    for (method, route, body) in ROUTES.iter().filter(|(_, route, _)| has_resource_id(route)) {
        for invalid_id in invalid_ids {
            let ids = RouteIds::new(invalid_id, invalid_id, invalid_id, invalid_id);
            let row = (*method, &*ids.fill_route(route), *body);
            let answer = request_route(&gateway, Some(&token), Ipv4Addr::LOCALHOST, row).await;
            assert!(
                matches!(answer.status, 400 | 404),
                "{method} {route} {invalid_id}: {answer:?}"
            );
            assert!(answer.body.contains("\"error\""), "{method} {route} {invalid_id}: {answer:?}");
        }
    }
    let answer = gateway.get("/readyz").send().await.unwrap();
    assert_eq!(answer.status(), 200);
}

/// Values of the header, and whether they are allowed.
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
const CONTENT_TYPES: &[(&str, bool)] = &[
    ("X-Kind: none", false),
    ("Content-Type: application/json", true),
    ("Content-Type: application/json; charset=utf-8", true),
    ("Content-Type: text/plain", false),
    ("Content-Type: application/x-www-form-urlencoded", false),
    ("Content-Type: multipart/form-data; boundary=x", false),
];

/// Allowed statuses of `/v1/sessions` for a caller with access.
fn expected_statuses(method: &str, json: bool, cookie: bool) -> &'static [u16] {
    match method {
        "GET" | "HEAD" => &[200],
        "POST" if json => &[201],
        "POST" => &[415],
        // A cookie without JSON is rejected before the method is checked.
        "OPTIONS" => &[405],
        _ if cookie && !json => &[405, 415],
        _ => &[405],
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_origins_methods_and_kinds_of_content_in_every_combination() {
    let gateway = start_gateway().await;
    let port = gateway.address().port().to_string();
    let credentials = [
        (format!("Authorization: Bearer {}", gateway.token), false),
        (format!("Cookie: millpond={}", gateway.token), true),
    ];
    for (host, is_host_allowed) in HOSTS {
        for (origin, is_origin_allowed) in ORIGINS {
            for method in METHODS {
                for (kind, json) in CONTENT_TYPES {
                    for (credential, cookie) in &credentials {
                        let headers = [host, origin, kind, &&**credential]
                            .map(|header| header.replace("PORT", &port));
                        let bytes = request_bytes(method, "/v1/sessions", &headers, "{}");
                        let status = gateway.exchange_raw(&bytes).await.status;
                        let expected = if *is_host_allowed && *is_origin_allowed {
                            expected_statuses(method, *json, *cookie)
                        } else {
                            &[403]
                        };
                        assert!(expected.contains(&status), "{method} {headers:?}: {status}");
                    }
                }
            }
        }
    }
}
