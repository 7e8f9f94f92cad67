//! Files of a session: who gets them, as what, and when they are gone.

use std::sync::Arc;
use std::time::Duration;

use millpond_log::agent::script::ScriptAgent;
use millpond_log::limits::BLOB_BYTES_MAX;
use millpond_log::store::Store;
use reqwest::Method;
use serde_json::{Value, json};

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::support::{
    TestGateway, read_fixture, start_gateway, start_gateway_in, status_and_json, streaming_body,
};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nnot much of a picture";

async fn upload_file(
    gateway: &TestGateway,
    session: &str,
    kind: &str,
    bytes: &[u8],
) -> (u16, Value) {
    let path = format!("/v1/sessions/{session}/blobs");
    let request = gateway.request(Method::POST, &path).header("content-type", kind);
    status_and_json(request.body(bytes.to_vec())).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_comes_back_as_it_was_and_only_as_what_may_be_shown() {
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
    for (kind, served_type, disposition) in [
        ("image/png", "image/png", "inline"),
        ("IMAGE/PNG; charset=x", "image/png", "inline"),
        ("image/svg+xml", "application/octet-stream", "attachment"),
        ("text/html", "application/octet-stream", "attachment"),
        ("application/xhtml+xml", "application/octet-stream", "attachment"),
    ] {
        let (status, upload) = upload_file(&gateway, &session, kind, PNG).await;
        assert_eq!((status, &upload["bytes"]), (201, &json!(PNG.len())), "{upload}");
        let answer = gateway.get(upload["path"].as_str().unwrap()).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(
            (&*header("content-type"), &*header("content-disposition")),
            (served_type, disposition)
        );
        assert_eq!(header("content-security-policy"), "default-src 'none'; sandbox");
        assert_eq!(header("x-content-type-options"), "nosniff");
        let tag = header("etag");
        assert_eq!(answer.bytes().await.unwrap(), PNG);
        let revalidation =
            gateway.get(upload["path"].as_str().unwrap()).header("if-none-match", &tag);
        assert_eq!(revalidation.send().await.unwrap().status(), 304);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_only_for_whoever_may_see_a_session_that_has_it() {
    let gateway = start_gateway().await;
    let (session, other_session) = (gateway.new_session().await, gateway.new_session().await);
    let (_, upload) = upload_file(&gateway, &session, "image/png", PNG).await;
    let (path, digest) = (upload["path"].as_str().unwrap(), upload["digest"].as_str().unwrap());
    let status = async |gateway: &TestGateway, path: &str| {
        gateway.get(path).send().await.unwrap().status().as_u16()
    };
    assert_eq!(
        status(&gateway, &format!("/v1/sessions/{other_session}/blobs/{digest}")).await,
        404
    );
    let share_request = gateway.post(&format!("/v1/sessions/{session}/shares"), &json!({}));
    let guest_token = status_and_json(share_request).await.1["token"].as_str().unwrap().to_owned();
    let guest_client = TestGateway { token: guest_token, ..gateway.clone_client() };
    assert_eq!(status(&guest_client, path).await, 200);
    assert_eq!(
        upload_file(&guest_client, &session, "image/png", PNG).await.0,
        404,
        "a guest adds nothing"
    );
    let owner = millpond_log::id::OwnerId::new(1, [9; 10]);
    let (_, secret) = gateway.gateway.issue_token(owner, "other").await.unwrap();
    let other_client = TestGateway { token: secret.reveal().to_owned(), ..gateway.clone_client() };
    assert_eq!(status(&other_client, path).await, 404);
    assert_eq!(upload_file(&other_client, &session, "image/png", PNG).await.0, 404);
    for digest_text in ["..", "%2e%2e", "0", &digest.to_uppercase(), &format!("{digest}0")] {
        assert_eq!(
            status(&gateway, &format!("/v1/sessions/{session}/blobs/{digest_text}")).await,
            404
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_are_empty_too_large_or_of_no_kind_are_refused() {
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
    let (status, error_body) = upload_file(&gateway, &session, "image/png", b"").await;
    assert_eq!((status, &error_body["error"]["code"]), (400, &json!("bad_request")));
    let (status, _) = upload_file(&gateway, &session, "not a kind", PNG).await;
    assert_eq!(status, 400);
    let max_bytes = vec![0; BLOB_BYTES_MAX];
    assert_eq!(upload_file(&gateway, &session, "image/png", &max_bytes).await.0, 201);
    let (chunk_sender, body) = streaming_body();
    let path = format!("/v1/sessions/{session}/blobs");
    let request = gateway.request(Method::POST, &path).header("content-type", "image/png");
    let answer = tokio::spawn(status_and_json(request.body(body)));
    chunk_sender.send(max_bytes).await.unwrap();
    chunk_sender.send(vec![0]).await.unwrap();
    let (status, error_body) = answer.await.unwrap();
    assert_eq!((status, &error_body["error"]["code"]), (413, &json!("too_large")), "{error_body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_says_it_is_too_large_is_not_waited_for() {
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
    let address = gateway.base.trim_start_matches("http://").to_owned();
    let mut stream = tokio::net::TcpStream::connect(&address).await.unwrap();
    let head = format!(
        "POST /v1/sessions/{session}/blobs HTTP/1.1\r\nHost: {address}\r\n\
         Authorization: Bearer {}\r\nContent-Length: {}\r\n\r\n",
        gateway.token,
        BLOB_BYTES_MAX + 1
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_uploads_with_its_cookie_what_no_form_of_another_site_can_send() {
    let gateway = start_gateway().await;
    let session = gateway.new_session().await;
    let url = format!("{}/v1/sessions/{session}/blobs", gateway.base);
    for (kind, status) in [
        ("image/png", 201),
        ("application/octet-stream", 201),
        ("text/plain", 415),
        ("multipart/form-data; boundary=x", 415),
        ("Application/X-WWW-Form-Urlencoded", 415),
    ] {
        let request =
            gateway.client.post(&url).header("cookie", format!("millpond={}", gateway.token));
        let answer = request.header("content-type", kind).body(PNG).send().await.unwrap();
        assert_eq!(answer.status(), status, "{kind}");
    }
}

/// Digests of the images in a log, and whether one is still inline.
fn image_digests(log: &str) -> (Vec<String>, bool) {
    let events = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let images: Vec<Value> = events.filter(|event| event["type"] == "image_received").collect();
    let digests = images.iter().filter_map(|image| image["kept"]["digest"].as_str());
    let digests = digests.map(str::to_owned).collect();
    (digests, images.iter().any(|image| image.get("inline").is_some()))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_picture_in_a_stream_is_kept_once_beside_the_log_and_named_in_it() {
    let gateway = start_gateway().await;
    let bytes = read_fixture("gemini/code-execution-and-image.sse");
    let (first, second) = (gateway.new_session().await, gateway.new_session().await);
    gateway.ingest(&first, bytes.clone()).await;
    gateway.ingest(&first, bytes.clone()).await;
    gateway.ingest(&second, bytes).await;
    let (named, inline) = image_digests(&gateway.read_log(&first).await);
    assert!(!inline && 2 <= named.len(), "{named:?}");
    let digest = named[0].clone();
    let path = |session: &str| format!("/v1/sessions/{session}/blobs/{digest}");
    let image_response = gateway.get(&path(&first)).send().await.unwrap();
    assert_eq!(image_response.status(), 200);
    assert_eq!(
        millpond_log::digest::Digest::sha256(&image_response.bytes().await.unwrap()).to_string(),
        digest
    );
    let page = gateway.get(&format!("/v1/sessions/{first}/snapshot?view=bubbles"));
    let page = page.send().await.unwrap().text().await.unwrap();
    assert!(page.contains(&format!("sha256:{digest}")), "{page}");
    let erase = async |session: &str| {
        let id = session.parse().unwrap();
        gateway
            .gateway
            .log
            .call_store(move |store: &dyn Store| store.erase_session(id))
            .await
            .unwrap();
    };
    erase(&first).await;
    assert_eq!(
        gateway.get(&path(&second)).send().await.unwrap().status(),
        200,
        "the other session still refers to it"
    );
    erase(&second).await;
    let blob_count = {
        let file = gateway.folder.path().join("millpond.db");
        let raw = rusqlite::Connection::open(file).unwrap();
        raw.query_row("SELECT count(*) FROM blobs", [], |row| row.get::<_, u64>(0)).unwrap()
    };
    assert_eq!(blob_count, 0, "no session refers to the blob");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_attached_is_a_picture_of_the_session_and_waits_with_its_message() {
    let endless_agent = ScriptAgent {
        bytes: b"x".to_vec(),
        chunk_bytes: 1,
        pause_per_chunk: Duration::from_hours(1),
    };
    let gateway =
        start_gateway_in(Arc::new(tempfile::tempdir().unwrap()), Some(Arc::new(endless_agent)))
            .await;
    let (session, other_session) = (gateway.new_session().await, gateway.new_session().await);
    let (_, upload) = upload_file(&gateway, &session, "text/plain", PNG).await;
    let (_, invalid_image) = upload_file(&gateway, &session, "image/png", b"MZ").await;
    let (_, foreign_image) =
        upload_file(&gateway, &other_session, "image/png", b"\xff\xd8\xff").await;
    let path = format!("/v1/sessions/{session}/messages");
    let send = async |body: Value| status_and_json(gateway.post(&path, &body)).await;
    for (attachments, expected) in [
        (json!([invalid_image["digest"]]), "PNG, JPEG, GIF or WebP"),
        (json!([foreign_image["digest"]]), "not in this session"),
        (json!(["nonsense"]), "not in this session"),
        (json!(vec![&upload["digest"]; 9]), "at most 8"),
    ] {
        let (status, error_body) =
            send(json!({ "text": "Look", "attachments": attachments })).await;
        let message = error_body["error"]["message"].as_str().unwrap_or_default();
        assert!(status == 400 && message.contains(expected), "{error_body}");
    }
    assert_eq!(send(json!({ "text": " " })).await.0, 400);

    // The first is running; the second is queued.
    assert_eq!(send(json!({ "text": "first" })).await.0, 202);
    let (status, queued) = send(json!({ "text": "", "attachments": [upload["digest"]] })).await;
    assert_eq!(status, 202, "{queued}");
    let queue = format!("/v1/sessions/{session}/queue");
    let (_, listed) = status_and_json(gateway.get(&queue)).await;
    let name = format!("sha256:{}", upload["digest"].as_str().unwrap());
    let images = json!([{ "ref": name, "mediaType": "image/png" }]);
    assert_eq!(listed["queue"][0]["images"], images, "the media type is detected from the bytes");
    let response = gateway.get(upload["path"].as_str().unwrap()).send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "image/png", "also when downloaded");
    let id = queued["id"].as_str().unwrap();
    let edit = json!({ "order": [id], "texts": { id: "Look" } });
    let (status, queue_after) =
        status_and_json(gateway.request(Method::PUT, &queue).json(&edit)).await;
    assert_eq!((status, &queue_after["queue"][0]["images"]), (200, &images), "{queue_after}");
}
