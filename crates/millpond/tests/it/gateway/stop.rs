//! Asked to stop, a gateway ends what is going and says where to go on.

use super::client::{Caller, PATCHES, delta, ends, page_of};
use super::process::{Process, home};

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_ends_runs_as_interrupted_and_readers_go_on_after_a_start() {
    let http = reqwest::Client::new();
    for signal in ["TERM", "INT"] {
        let home = home();
        let process = Process::start(home.path());
        let caller = Caller::of(&process, &http);
        let session = caller.new_session().await;
        let mut events = caller.follow(&session, PATCHES, "").await;
        let sending = caller.send(&session);
        assert!(sending.piece(delta("half a ")).await);
        let mut seen = events.until(|got| got.data.contains("half a ")).await;
        process.signal(signal);
        seen.extend(events.rest().await);
        let closed = seen.pop().unwrap();
        assert_eq!((&*closed.event, &*closed.data), ("closed", "{\"reason\":\"stopping\"}"));
        let answer = sending.answer.await.unwrap().unwrap();
        let taken: serde_json::Value = answer.json().await.unwrap();
        assert_eq!(taken["outcome"], "interrupted", "{signal}");
        let (status, said) = process.terminate();
        assert!(status.success(), "{signal}: {status} {said}");
        assert!(!said.contains("did not close in time"), "{signal}: {said}");

        let process = Process::start(home.path());
        let caller = Caller::of(&process, &http);
        let log = caller.log(&session).await;
        assert_eq!(log.last().unwrap()["outcome"], "interrupted", "{signal}: {log:?}");
        // The reader may have had the ending before it was closed.
        if !seen.last().is_some_and(ends) {
            let last = &seen.last().unwrap().id;
            let mut events = caller.follow(&session, PATCHES, last).await;
            let hello = events.next().await.unwrap();
            assert!(hello.data.contains("\"recovered\":true"), "{signal}: {}", hello.data);
            seen.extend(events.until(ends).await);
        }
        assert_eq!(page_of(&seen), caller.page(&session).await, "{signal}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_stops_takes_nothing_new() {
    let home = home();
    let process = Process::start(home.path());
    let caller = Caller::of(&process, &reqwest::Client::new());
    let base = caller.base.clone();
    assert!(process.terminate().0.success());
    let refused = reqwest::get(format!("{base}/healthz")).await;
    assert!(refused.is_err_and(|error| error.is_connect()));
}
