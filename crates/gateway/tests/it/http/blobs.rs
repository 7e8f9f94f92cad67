//! Files of a session: who gets them, as what, and when they are gone.

use std::sync::Arc;
use std::time::Duration;

use gateway::agent::script::Script;
use gateway::limits::BLOB_BYTES_MAX;
use gateway::store::Store;
use reqwest::Method;
use serde_json::{Value, json};

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::support::{Served, answer_to, body_in_pieces, fixture, serve, serve_in};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nnot much of a picture";

async fn upload(served: &Served, session: &str, kind: &str, bytes: &[u8]) -> (u16, Value) {
    let path = format!("/v1/sessions/{session}/blobs");
    let request = served.request(Method::POST, &path).header("content-type", kind);
    answer_to(request.body(bytes.to_vec())).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_comes_back_as_it_was_and_only_as_what_may_be_shown() {
    let served = serve().await;
    let session = served.new_session().await;
    for (kind, shown, how) in [
        ("image/png", "image/png", "inline"),
        ("IMAGE/PNG; charset=x", "image/png", "inline"),
        ("image/svg+xml", "application/octet-stream", "attachment"),
        ("text/html", "application/octet-stream", "attachment"),
        ("application/xhtml+xml", "application/octet-stream", "attachment"),
    ] {
        let (status, kept) = upload(&served, &session, kind, PNG).await;
        assert_eq!((status, &kept["bytes"]), (201, &json!(PNG.len())), "{kept}");
        let answer = served.get(kept["path"].as_str().unwrap()).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
        assert_eq!((&*header("content-type"), &*header("content-disposition")), (shown, how));
        assert_eq!(header("content-security-policy"), "default-src 'none'; sandbox");
        assert_eq!(header("x-content-type-options"), "nosniff");
        let tag = header("etag");
        assert_eq!(answer.bytes().await.unwrap(), PNG);
        let again = served.get(kept["path"].as_str().unwrap()).header("if-none-match", &tag);
        assert_eq!(again.send().await.unwrap().status(), 304);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_only_for_whoever_may_see_a_session_that_has_it() {
    let served = serve().await;
    let (session, other) = (served.new_session().await, served.new_session().await);
    let (_, kept) = upload(&served, &session, "image/png", PNG).await;
    let (path, digest) = (kept["path"].as_str().unwrap(), kept["digest"].as_str().unwrap());
    let status = async |served: &Served, path: &str| {
        served.get(path).send().await.unwrap().status().as_u16()
    };
    assert_eq!(status(&served, &format!("/v1/sessions/{other}/blobs/{digest}")).await, 404);
    let given = served.post(&format!("/v1/sessions/{session}/shares"), &json!({}));
    let guest = answer_to(given).await.1["token"].as_str().unwrap().to_owned();
    let guest = Served { token: guest, ..served.again() };
    assert_eq!(status(&guest, path).await, 200);
    assert_eq!(upload(&guest, &session, "image/png", PNG).await.0, 404, "a guest adds nothing");
    let owner = gateway::id::OwnerId::new(1, [9; 10]);
    let (_, secret) = served.gateway.issue(owner, "other").await.unwrap();
    let stranger = Served { token: secret.reveal().to_owned(), ..served.again() };
    assert_eq!(status(&stranger, path).await, 404);
    assert_eq!(upload(&stranger, &session, "image/png", PNG).await.0, 404);
    for word in ["..", "%2e%2e", "0", &digest.to_uppercase(), &format!("{digest}0")] {
        assert_eq!(status(&served, &format!("/v1/sessions/{session}/blobs/{word}")).await, 404);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_are_empty_too_large_or_of_no_kind_are_refused() {
    let served = serve().await;
    let session = served.new_session().await;
    let (status, told) = upload(&served, &session, "image/png", b"").await;
    assert_eq!((status, &told["error"]["code"]), (400, &json!("bad_request")));
    let (status, _) = upload(&served, &session, "not a kind", PNG).await;
    assert_eq!(status, 400);
    let all = vec![0; BLOB_BYTES_MAX];
    assert_eq!(upload(&served, &session, "image/png", &all).await.0, 201);
    let (pieces, body) = body_in_pieces();
    let path = format!("/v1/sessions/{session}/blobs");
    let request = served.request(Method::POST, &path).header("content-type", "image/png");
    let answer = tokio::spawn(answer_to(request.body(body)));
    pieces.send(all).await.unwrap();
    pieces.send(vec![0]).await.unwrap();
    let (status, told) = answer.await.unwrap();
    assert_eq!((status, &told["error"]["code"]), (413, &json!("too_large")), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_says_it_is_too_large_is_not_waited_for() {
    let served = serve().await;
    let session = served.new_session().await;
    let address = served.base.trim_start_matches("http://").to_owned();
    let mut stream = tokio::net::TcpStream::connect(&address).await.unwrap();
    let head = format!(
        "POST /v1/sessions/{session}/blobs HTTP/1.1\r\nHost: {address}\r\n\
         Authorization: Bearer {}\r\nContent-Length: {}\r\n\r\n",
        served.token,
        BLOB_BYTES_MAX + 1
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_uploads_with_its_cookie_what_no_form_of_another_site_can_send() {
    let served = serve().await;
    let session = served.new_session().await;
    let url = format!("{}/v1/sessions/{session}/blobs", served.base);
    for (kind, status) in [
        ("image/png", 201),
        ("application/octet-stream", 201),
        ("text/plain", 415),
        ("multipart/form-data; boundary=x", 415),
        ("Application/X-WWW-Form-Urlencoded", 415),
    ] {
        let request =
            served.client.post(&url).header("cookie", format!("millpond={}", served.token));
        let answer = request.header("content-type", kind).body(PNG).send().await.unwrap();
        assert_eq!(answer.status(), status, "{kind}");
    }
}

/// The pictures that a log names, and whether one is still written into it.
fn pictures(log: &str) -> (Vec<String>, bool) {
    let events = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let images: Vec<Value> = events.filter(|event| event["type"] == "image_received").collect();
    let named = images.iter().filter_map(|image| image["kept"]["digest"].as_str());
    let named = named.map(str::to_owned).collect();
    (named, images.iter().any(|image| image.get("inline").is_some()))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_picture_in_a_stream_is_kept_once_beside_the_log_and_named_in_it() {
    let served = serve().await;
    let bytes = fixture("gemini/code-execution-and-image.sse");
    let (one, two) = (served.new_session().await, served.new_session().await);
    served.ingest(&one, bytes.clone()).await;
    served.ingest(&one, bytes.clone()).await;
    served.ingest(&two, bytes).await;
    let (named, inline) = pictures(&served.log(&one).await);
    assert!(!inline && 2 <= named.len(), "{named:?}");
    let digest = named[0].clone();
    let path = |session: &str| format!("/v1/sessions/{session}/blobs/{digest}");
    let picture = served.get(&path(&one)).send().await.unwrap();
    assert_eq!(picture.status(), 200);
    assert_eq!(gateway::digest::Digest::of(&picture.bytes().await.unwrap()).to_string(), digest);
    let page = served.get(&format!("/v1/sessions/{one}/snapshot?view=bubbles"));
    let page = page.send().await.unwrap().text().await.unwrap();
    assert!(page.contains(&format!("sha256:{digest}")), "{page}");
    let erase = async |session: &str| {
        let id = session.parse().unwrap();
        served.gateway.log.blocking(move |store: &dyn Store| store.erase(id)).await.unwrap();
    };
    erase(&one).await;
    assert_eq!(served.get(&path(&two)).send().await.unwrap().status(), 200, "the other has it too");
    erase(&two).await;
    let left = {
        let file = served.folder.path().join("millpond.db");
        let raw = rusqlite::Connection::open(file).unwrap();
        raw.query_row("SELECT count(*) FROM blobs", [], |row| row.get::<_, u64>(0)).unwrap()
    };
    assert_eq!(left, 0, "nobody has it");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_attached_is_a_picture_of_the_session_and_waits_with_its_message() {
    let endless = Script { bytes: b"x".to_vec(), piece: 1, pause: Duration::from_hours(1) };
    let served = serve_in(Arc::new(tempfile::tempdir().unwrap()), Some(Arc::new(endless))).await;
    let (session, other) = (served.new_session().await, served.new_session().await);
    let (_, kept) = upload(&served, &session, "text/plain", PNG).await;
    let (_, no_picture) = upload(&served, &session, "image/png", b"MZ").await;
    let (_, elsewhere) = upload(&served, &other, "image/png", b"\xff\xd8\xff").await;
    let path = format!("/v1/sessions/{session}/messages");
    let send = async |body: Value| answer_to(served.post(&path, &body)).await;
    for (attachments, words) in [
        (json!([no_picture["digest"]]), "PNG, JPEG, GIF and WebP"),
        (json!([elsewhere["digest"]]), "not in this session"),
        (json!(["nonsense"]), "not in this session"),
        (json!(vec![&kept["digest"]; 9]), "at most 8"),
    ] {
        let (status, refused) = send(json!({ "text": "Look", "attachments": attachments })).await;
        let message = refused["error"]["message"].as_str().unwrap_or_default();
        assert!(status == 400 && message.contains(words), "{refused}");
    }
    assert_eq!(send(json!({ "text": " " })).await.0, 400);

    // The first is worked on; the second waits.
    assert_eq!(send(json!({ "text": "first" })).await.0, 202);
    let (status, waits) = send(json!({ "text": "", "attachments": [kept["digest"]] })).await;
    assert_eq!(status, 202, "{waits}");
    let queue = format!("/v1/sessions/{session}/queue");
    let (_, listed) = answer_to(served.get(&queue)).await;
    let name = format!("sha256:{}", kept["digest"].as_str().unwrap());
    let images = json!([{ "ref": name, "mediaType": "image/png" }]);
    assert_eq!(listed["queue"][0]["images"], images, "its kind is what its bytes say");
    let shown = served.get(kept["path"].as_str().unwrap()).send().await.unwrap();
    assert_eq!(shown.headers()["content-type"], "image/png", "also where it is read");
    let id = waits["id"].as_str().unwrap();
    let anew = json!({ "order": [id], "texts": { id: "Look" } });
    let (status, arranged) = answer_to(served.request(Method::PUT, &queue).json(&anew)).await;
    assert_eq!((status, &arranged["queue"][0]["images"]), (200, &images), "{arranged}");
}
