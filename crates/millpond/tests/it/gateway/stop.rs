//! A stopping gateway ends its runs and tells readers where to resume.

use rustix::process::Signal;

use super::client::{GatewayClient, PATCHES, apply_patches, is_run_end, text_delta};
use super::process::{GatewayProcess, temp_home};

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_ends_runs_as_interrupted_and_readers_go_on_after_a_start() {
    let http = reqwest::Client::new();
    for signal in [Signal::TERM, Signal::INT] {
        let home = temp_home();
        let process = GatewayProcess::start(home.path());
        let caller = GatewayClient::for_process(&process, &http);
        let session = caller.create_session().await;
        let mut events = caller.open_stream(&session, PATCHES, "").await;
        let sending = caller.start_ingest(&session);
        assert!(sending.send_chunk(text_delta("half a ")).await);
        let mut seen = events.read_until(|got| got.data.contains("half a ")).await;
        process.send_signal(signal);
        seen.extend(events.read_to_end().await);
        let closed = seen.pop().unwrap();
        assert_eq!((&*closed.event, &*closed.data), ("closed", "{\"reason\":\"stopping\"}"));
        let answer = sending.response.await.unwrap().unwrap();
        let taken: serde_json::Value = answer.json().await.unwrap();
        assert_eq!(taken["outcome"], "interrupted", "{signal:?}");
        let (status, log) = process.terminate();
        assert!(status.success(), "{signal:?}: {status} {log}");
        assert!(!log.contains("did not close in time"), "{signal:?}: {log}");

        let process = GatewayProcess::start(home.path());
        let caller = GatewayClient::for_process(&process, &http);
        let log = caller.read_log(&session).await;
        assert_eq!(log.last().unwrap()["outcome"], "interrupted", "{signal:?}: {log:?}");
        // The reader may have received the ending before the stream closed.
        if !seen.last().is_some_and(is_run_end) {
            let last = &seen.last().unwrap().id;
            let mut events = caller.open_stream(&session, PATCHES, last).await;
            let hello = events.next_event().await.unwrap();
            assert!(hello.data.contains("\"recovered\":true"), "{signal:?}: {}", hello.data);
            seen.extend(events.read_until(is_run_end).await);
        }
        assert_eq!(apply_patches(&seen), caller.fetch_page(&session).await, "{signal:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_stops_takes_nothing_new() {
    let home = temp_home();
    let process = GatewayProcess::start(home.path());
    let caller = GatewayClient::for_process(&process, &reqwest::Client::new());
    let base = caller.base.clone();
    assert!(process.terminate().0.success());
    let refused = reqwest::get(format!("{base}/healthz")).await;
    assert!(refused.is_err_and(|error| error.is_connect()));
}
