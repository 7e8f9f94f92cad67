//! The web site, and pages of other sites.

use std::io::Write as _;
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;
use reqwest::Method;
use reqwest::header::HeaderMap;

use super::support::{TestGateway, start_tuned_gateway};

const PAGE: &[u8] = b"<!doctype html><title>Pond</title>";
const SCRIPT: &[u8] = b"// as it is";

async fn start_gateway_with_site() -> TestGateway {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    start_tuned_gateway(folder, None, |gateway| {
        gateway.site.add_file("/index.html", Some(PAGE), None, None);
        gateway.site.add_file("/theatre.html", Some(b"theatre"), None, None);
        gateway.site.add_file("/assets/a-1.js", Some(SCRIPT), Some(b"gz"), Some(b"br"));
        gateway.site.add_file("/assets/b-2.js", None, Some(compress(SCRIPT)), None);
        gateway.site.add_file("/embed.js", Some(SCRIPT), None, None);
    })
    .await
}

fn compress(content: &[u8]) -> &'static [u8] {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap().leak()
}

async fn get_path(
    gateway: &TestGateway,
    path: &str,
    headers: &[(&str, &str)],
) -> (u16, HeaderMap, Vec<u8>) {
    let mut request = gateway.client.get(format!("{}{path}", gateway.base));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let answer = request.send().await.unwrap();
    let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
    (status, headers, answer.bytes().await.unwrap().to_vec())
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_come_to_anybody_under_a_strict_policy_and_hold_nothing_of_anybody() {
    let gateway = start_gateway_with_site().await;
    for path in ["/", "/s/01ARZ3NDEKTSV4RRFFQ69G5FAV", "/share/anything", "/index.html"] {
        let (status, headers, body) = get_path(&gateway, path, &[]).await;
        assert_eq!((status, body.as_slice()), (200, PAGE), "{path}");
        let policy = headers["content-security-policy"].to_str().unwrap();
        for part in ["default-src 'none'", "script-src 'self';", "frame-ancestors 'none'"] {
            assert!(policy.contains(part), "{policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(headers["cache-control"], "no-cache");
        let tag = headers["etag"].to_str().unwrap();
        let (status, _, body) = get_path(&gateway, path, &[("if-none-match", tag)]).await;
        assert_eq!((status, body.len()), (304, 0));
    }
    assert_eq!(get_path(&gateway, "/theatre/01ARZ", &[]).await.2, b"theatre");
    for path in ["/nothing", "/assets/a-2.js", "/s"] {
        assert_eq!(get_path(&gateway, path, &[]).await.0, 404, "{path}");
    }
    let post_response = gateway.client.post(format!("{}/", gateway.base)).send().await.unwrap();
    assert_eq!(post_response.status(), 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_comes_as_small_as_the_caller_can_read_it_and_is_kept_for_good() {
    let gateway = start_gateway_with_site().await;
    for (accept_encoding, expected_encoding, body) in [
        ("gzip, deflate, br", Some("br"), &b"br"[..]),
        ("gzip", Some("gzip"), b"gz"),
        ("br;q=0, gzip;q=0.5", Some("gzip"), b"gz"),
        ("identity", None, SCRIPT),
    ] {
        let (_, headers, received) =
            get_path(&gateway, "/assets/a-1.js", &[("accept-encoding", accept_encoding)]).await;
        assert_eq!(
            headers.get("content-encoding").map(|value| value.to_str().unwrap()),
            expected_encoding
        );
        assert_eq!(received, body, "{accept_encoding}");
        assert_eq!(headers["cache-control"], "public, max-age=31536000, immutable");
        assert_eq!(headers["content-type"], "text/javascript; charset=utf-8");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_kept_compressed_comes_uncompressed_to_those_who_ask_so() {
    let gateway = start_gateway_with_site().await;
    for _ in 0..2 {
        let (status, headers, received) =
            get_path(&gateway, "/assets/b-2.js", &[("accept-encoding", "identity")]).await;
        assert_eq!((status, received.as_slice()), (200, SCRIPT));
        assert!(!headers.contains_key("content-encoding"));
    }
    let (_, headers, received) =
        get_path(&gateway, "/assets/b-2.js", &[("accept-encoding", "gzip")]).await;
    assert_eq!(
        (&headers["content-encoding"], received.as_slice()),
        (&"gzip".parse().unwrap(), compress(SCRIPT))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_link_that_was_used_brings_a_person_to_a_page_that_says_so() {
    let gateway = start_gateway_with_site().await;
    let client =
        reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let login = |is_navigation: bool| {
        let request = client.get(format!("{}/login?code=mp_0", gateway.base));
        if is_navigation { request.header("sec-fetch-mode", "navigate") } else { request }
    };
    let answer = login(true).send().await.unwrap();
    assert_eq!(
        (answer.status().as_u16(), &answer.headers()["location"]),
        (303, &"/?link=used".parse().unwrap())
    );
    assert_eq!(login(false).send().await.unwrap().status(), 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_picture_from_elsewhere_is_alone_on_a_page_that_may_load_it_and_nothing_else() {
    let gateway = start_gateway_with_site().await;
    let (status, headers, body) =
        get_path(&gateway, "/remote-image?src=https%3A%2F%2Fpond.example%2Fa%26b.png", &[]).await;
    assert_eq!(status, 200);
    let policy = headers["content-security-policy"].to_str().unwrap();
    assert!(
        policy.contains("img-src https://pond.example;") && policy.contains("sandbox"),
        "{policy}"
    );
    let framers = policy.split_once("frame-ancestors 'self' ").unwrap().1;
    assert!(framers.split(' ').any(|origin| origin == gateway.base), "{policy}");
    let body = String::from_utf8(body).unwrap();
    assert!(body.contains(r#"<img src="https://pond.example/a&amp;b.png""#), "{body}");
    assert_eq!(get_path(&gateway, "/remote-image?src=javascript:alert(1)", &[]).await.0, 400);
    assert_eq!(get_path(&gateway, "/remote-image", &[]).await.0, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_an_allowed_site_may_read_with_a_token_and_no_others() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let gateway = start_tuned_gateway(folder, None, |gateway| {
        gateway.site.add_file("/embed.js", Some(SCRIPT), None, None);
        gateway.origin_policy.allow_origin("https://shop.example");
    })
    .await;
    let send_request = |method: Method, origin: &'static str| {
        let url = format!("{}/v1/sessions", gateway.base);
        gateway.client.request(method, url).header("origin", origin)
    };
    let preflight = send_request(Method::OPTIONS, "https://shop.example")
        .header("access-control-request-method", "GET")
        .header("access-control-request-headers", "authorization");
    let answer = preflight.send().await.unwrap();
    assert_eq!(answer.status(), 204);
    assert_eq!(answer.headers()["access-control-allow-origin"], "https://shop.example");
    assert!(
        answer.headers()["access-control-allow-headers"]
            .to_str()
            .unwrap()
            .contains("authorization")
    );
    let answer = send_request(Method::GET, "https://shop.example")
        .bearer_auth(&gateway.token)
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["access-control-allow-origin"], "https://shop.example");
    assert!(answer.headers().get("access-control-allow-credentials").is_none(), "no cookies");
    let script = gateway.client.get(format!("{}/embed.js", gateway.base));
    let script =
        script.header("origin", "https://shop.example").header("sec-fetch-site", "cross-site");
    assert_eq!(
        script.send().await.unwrap().headers()["access-control-allow-origin"],
        "https://shop.example"
    );
    let answer = send_request(Method::GET, "https://evil.example")
        .bearer_auth(&gateway.token)
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 403);
    assert!(answer.headers().get("access-control-allow-origin").is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cookie_counts_only_for_our_own_pages() {
    let gateway = start_gateway_with_site().await;
    let send_request = |site: &'static str| {
        let request = gateway.client.get(format!("{}/v1/sessions", gateway.base));
        let request = request.header("origin", gateway.base.clone()).header("sec-fetch-site", site);
        request.header("cookie", format!("millpond={}", gateway.token)).send()
    };
    assert_eq!(send_request("same-origin").await.unwrap().status(), 200);
    for site in ["same-site", "cross-site"] {
        assert_eq!(send_request(site).await.unwrap().status(), 401, "{site}");
    }
}
