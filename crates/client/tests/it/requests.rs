//! Requests and their errors.

use millpond_client::RequestError;
use millpond_client::blobs::DownloadError;
use millpond_client::error::Refusal;
use millpond_client::limits::BLOB_BYTES_MAX;
use millpond_client::messages::{Delivery, NewMessage};
use millpond_client::runs::{AnswerError, CancelError, RunState};
use millpond_engine::event::Outcome;
use millpond_engine::run::SourceOptions;
use tokio::sync::mpsc;

use crate::server::{End, Script, refusal, response, start_server};

#[tokio::test]
async fn a_status_is_an_error_of_its_own_kind() {
    let kind = |error: &RequestError| match error {
        RequestError::InvalidUrl(_) => "invalid URL",
        RequestError::Unreachable(_) => "unreachable",
        RequestError::Unavailable(_) => "unavailable",
        RequestError::Unauthorized(_) => "unauthorized",
        RequestError::NotFound(_) => "not found",
        RequestError::Conflict(_) => "conflict",
        RequestError::Refused(_) => "refused",
        RequestError::InvalidResponse(_) => "invalid",
    };
    for (script, expected, is_transient) in [
        (refusal(401, "no_token"), "unauthorized", false),
        (refusal(403, "forbidden"), "refused", false),
        (refusal(404, "not_found"), "not found", false),
        (refusal(408, "slow"), "unavailable", true),
        (refusal(409, "run_going"), "conflict", false),
        (refusal(429, "busy"), "unavailable", true),
        (refusal(500, "internal"), "unavailable", true),
        (response(503, "<html>"), "unavailable", true),
        (response(200, "{\"agent\":"), "invalid", false),
        (Script { chunks: vec![], end: End::Reset }, "unreachable", true),
        (
            Script {
                chunks: vec![b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{\"ag".to_vec()],
                end: End::Reset,
            },
            "unreachable",
            true,
        ),
    ] {
        let (client, _requests) = start_server(vec![script]).await;
        let error = client.fetch_agent_description().await.unwrap_err();
        assert_eq!(kind(&error), expected, "{error}");
        assert_eq!(error.is_transient(), is_transient, "{error}");
    }
}

#[tokio::test]
async fn a_refusal_has_its_status_code_and_message() {
    let (client, _requests) = start_server(vec![refusal(404, "not_found")]).await;
    let error = client.fetch_session("s1").await.unwrap_err();
    let message = "No: not_found.".to_owned();
    assert_eq!(error.to_string(), message);
    let refusal = Refusal { status: 404, code: "not_found".to_owned(), message };
    assert_eq!(error, RequestError::NotFound(refusal));
    let (client, _requests) = start_server(vec![response(502, "proxy")]).await;
    let error = client.fetch_session("s1").await.unwrap_err();
    assert_eq!(error.to_string(), "the gateway returned HTTP 502");
}

#[tokio::test]
async fn a_run_is_cancelled_answered_and_asked_for() {
    let (client, mut requests) = start_server(vec![
        refusal(409, "run_ended"),
        refusal(409, "other"),
        response(200, "{}"),
        refusal(409, "answered_already"),
        refusal(404, "not_found"),
        response(204, ""),
        refusal(404, "not_found"),
        response(200, "{\"outcome\":null}"),
        response(200, "{\"outcome\":\"failed\"}"),
    ])
    .await;
    assert_eq!(client.cancel_run("r1").await, Err(CancelError::RunEnded));
    let other = client.cancel_run("r1").await;
    assert!(matches!(other, Err(CancelError::Request(RequestError::Conflict(_)))), "{other:?}");
    assert_eq!(client.cancel_run("r1").await, Ok(()));
    assert_eq!(client.answer_ask("r1", "a1", "yes").await, Err(AnswerError::AnsweredAlready));
    let gone = client.answer_ask("r1", "a1", "yes").await;
    assert!(matches!(gone, Err(AnswerError::Request(RequestError::NotFound(_)))), "{gone:?}");
    assert_eq!(client.answer_ask("r1", "a1", "yes").await, Ok(()));
    assert_eq!(client.fetch_run_state("r1").await, Ok(RunState::NotStarted));
    assert_eq!(client.fetch_run_state("r1").await, Ok(RunState::Active));
    assert_eq!(client.fetch_run_state("r1").await, Ok(RunState::Ended(Outcome::Failed)));
    let first = requests.recv().await.unwrap();
    assert!(first.head.starts_with("post /v1/runs/r1/cancel http/1.1"), "{}", first.head);
    assert_eq!(first.header("authorization"), Some("bearer secret"));
    let answer = [requests.recv().await, requests.recv().await, requests.recv().await];
    assert_eq!(answer[2].as_ref().unwrap().body, "{\"answer\":\"yes\"}");
}

#[tokio::test]
async fn messages_are_sent_with_their_key_and_the_queue_is_shortened() {
    let queue = "{\"queue\":[{\"id\":\"a\",\"text\":\"1\"},{\"id\":\"b\",\"text\":\"2\"}]}";
    let rest = "{\"queue\":[{\"id\":\"b\",\"text\":\"2\"}]}";
    let scripts = [response(202, "{\"run\":\"r7\"}"), response(202, "{\"run\":\"r8\"}")];
    let scripts = scripts.into_iter().chain([response(200, queue), response(200, rest)]);
    let (client, mut requests) = start_server(scripts.collect()).await;
    let message = |delivery| NewMessage {
        text: "hello".to_owned(),
        delivery,
        idempotency_key: "key-1".to_owned(),
    };
    assert_eq!(client.send_message("s1", &message(Delivery::Queue)).await.unwrap(), "r7");
    assert_eq!(client.send_message("s1", &message(Delivery::JoinRun)).await.unwrap(), "r8");
    let left = client.remove_from_queue("s1", &["a".to_owned(), "gone".to_owned()]).await.unwrap();
    assert_eq!(left.len(), 1);
    let sent = requests.recv().await.unwrap();
    assert_eq!(sent.header("idempotency-key"), Some("key-1"));
    assert_eq!(sent.body, "{\"text\":\"hello\"}");
    assert_eq!(requests.recv().await.unwrap().body, "{\"join\":true,\"text\":\"hello\"}");
    requests.recv().await.unwrap();
    let put = requests.recv().await.unwrap();
    assert_eq!(put.body, "{\"order\":[\"b\"],\"removed\":[\"a\"]}");
}

#[tokio::test]
async fn sessions_and_login_links_are_fetched() {
    let session = "{\"id\":\"s1\",\"title\":\"A pond\",\"changed_ms\":7,\"run\":\"r1\",\"asks\":2}";
    let (client, mut requests) = start_server(vec![
        response(200, &format!("{{\"sessions\":[{session}]}}")),
        response(200, "{\"path\":\"/login?code=c\"}"),
    ])
    .await;
    let listed = client.list_sessions("a b&c", 3).await.unwrap();
    assert_eq!((listed[0].title.as_str(), listed[0].asks), ("A pond", 2));
    assert_eq!(client.web_url(Some(&listed[0])), format!("{}/s/s1", client.base_url()));
    let link = client.create_login_link().await.unwrap();
    assert_eq!(link, format!("{}/login?code=c", client.base_url()));
    let first = requests.recv().await.unwrap();
    assert!(first.head.starts_with("get /v1/sessions?limit=3&query=a+b%26c "), "{}", first.head);
}

#[tokio::test]
async fn a_blob_is_downloaded_up_to_its_limit() {
    for (len, expected) in
        [(BLOB_BYTES_MAX, Ok(BLOB_BYTES_MAX)), (BLOB_BYTES_MAX + 1, Err(DownloadError::TooLarge))]
    {
        let (client, _requests) = start_server(vec![response(200, &"x".repeat(len))]).await;
        let got = client.download_blob("s1", "d1").await.map(|bytes| bytes.len());
        assert_eq!(got, expected);
    }
}

#[tokio::test]
async fn a_stream_is_ingested_chunk_by_chunk() {
    let answer = "{\"session\":\"s1\",\"run\":\"r1\",\"outcome\":\"completed\"}";
    let (client, mut requests) =
        start_server(vec![response(200, answer), refusal(409, "run_going")]).await;
    for expected in [true, false] {
        let (chunks, queued) = mpsc::channel(2);
        chunks.send(b"data: 1".to_vec()).await.unwrap();
        chunks.send(b"\n\n".to_vec()).await.unwrap();
        drop(chunks);
        let done =
            client.ingest_stream("auto", Some("s1"), &SourceOptions::default(), queued).await;
        assert_eq!(done.is_ok(), expected, "{done:?}");
        let request = requests.recv().await.unwrap();
        assert!(request.head.starts_with("post /v1/ingest/auto?session=s1 "), "{}", request.head);
        assert!(request.body.contains("data: 1") && request.body.contains("\n\n"));
    }
}
