//! Folders written by earlier versions: every build opens a copy and loses nothing in it.
//!
//! `tests/fixtures/folder-VERSION.tar.gz` is the working folder and the data folder of a gateway that
//! was killed with SIGKILL; `folder-VERSION.json` is what that version said of it before. A fixture is
//! written once, by its version, and never again. Its clock stood in the year 2090, so that its open
//! ask does not expire.

use std::path::{Path, PathBuf};
use std::process::Command;

use reqwest::Method;
use serde_json::{Value, json};

use super::agents::{post_answer, post_message};
use super::client::{GatewayClient, is_run_end};
use super::process::{GatewayProcess, data_folder, isolated_command, temp_home};
use crate::support::has_git;

const VERSIONS: [&str; 1] = ["0.1.0"];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Unpacks the folder of a version into `to`; returns what that version said of it.
fn unpack(version: &str, to: &Path) -> Value {
    let archive = fixture(&format!("folder-{version}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(archive).arg("-C").arg(to);
    assert!(tar.status().unwrap().success());
    let text = std::fs::read_to_string(fixture(&format!("folder-{version}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Id of a session of the fixture, by the name that the fixture gives it.
fn id<'a>(expected: &'a Value, session: &str) -> &'a str {
    expected["sessions"][session]["id"].as_str().unwrap()
}

/// Checks that the log begins with the records that the earlier version had; returns the rest.
async fn records_after(caller: &GatewayClient, expected: &Value, session: &str) -> Vec<Value> {
    let before = expected["sessions"][session]["log"].as_array().unwrap();
    let mut records = caller.read_log(id(expected, session)).await;
    let rest = records.split_off(before.len());
    assert_eq!(&records, before, "{session}");
    rest
}

#[tokio::test(flavor = "multi_thread")]
async fn every_earlier_version_s_folder_opens_and_goes_on() {
    for version in VERSIONS {
        let home = temp_home();
        let expected = unpack(version, home.path());
        let http = reqwest::Client::new();
        let process = GatewayProcess::start(home.path());
        let caller = GatewayClient::for_process(&process, &http);
        assert_eq!(process.token, expected["token"], "the owner's token");

        ended_sessions_are_unchanged(&caller, &expected).await;
        the_run_that_was_cut_is_interrupted(&caller, &expected).await;
        the_share_reads_its_session_only(&caller, &expected).await;
        the_open_ask_is_answered_and_the_queue_goes_on(&caller, &expected).await;
        what_was_always_allowed_runs_without_an_ask(&caller, &expected, home.path()).await;
        checkpoints_are_listed(home.path());
    }
}

async fn ended_sessions_are_unchanged(caller: &GatewayClient, expected: &Value) {
    for session in ["always", "branch"] {
        assert_eq!(records_after(caller, expected, session).await, Vec::<Value>::new());
        let page = caller.fetch_page(id(expected, session)).await;
        assert_shows_the_same(&page, &expected["sessions"][session]["page"]);
    }
    let listed = caller.get_json("/v1/sessions").await;
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 4);
    let blob = expected["blob"]["path"].as_str().unwrap();
    let image = caller.request(Method::GET, blob).send().await.unwrap();
    assert_eq!(image.headers()["content-type"], "image/png");
    assert_eq!(image.bytes().await.unwrap().len() as u64, expected["blob"]["bytes"]);
}

async fn the_run_that_was_cut_is_interrupted(caller: &GatewayClient, expected: &Value) {
    let rest = records_after(caller, expected, "cut").await;
    assert_eq!(rest.last().unwrap()["type"], "run_ended");
    assert_eq!(rest.last().unwrap()["outcome"], "interrupted", "{rest:?}");
}

async fn the_share_reads_its_session_only(caller: &GatewayClient, expected: &Value) {
    let token = expected["share"]["token"].as_str().unwrap().to_owned();
    let guest = GatewayClient { token, ..caller.clone() };
    let page = guest.fetch_page(id(expected, "always")).await;
    assert_shows_the_same(&page, &expected["sessions"]["always"]["page"]);
    let other = format!("/v1/sessions/{}/log", id(expected, "waiting"));
    assert_eq!(guest.request(Method::GET, &other).send().await.unwrap().status(), 404);
}

async fn the_open_ask_is_answered_and_the_queue_goes_on(caller: &GatewayClient, expected: &Value) {
    let session = id(expected, "waiting");
    assert_eq!(records_after(caller, expected, "waiting").await, Vec::<Value>::new());
    let queue = caller.get_json(&format!("/v1/sessions/{session}/queue")).await;
    let ids: Vec<&Value> =
        queue["queue"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!(json!(ids), expected["queue"]);
    let (run, ask) = (expected["ask_run"].as_str().unwrap(), expected["ask"].as_str().unwrap());
    assert_eq!(post_answer(caller, run, ask, "allow").await.0, 202);
    let mut events = caller.open_stream(session, "view=latest&format=patch&from=start", "").await;
    events.read_until(is_run_end).await;
    // The queued `list` runs by itself, and the queued `compute` asks.
    events.read_until(is_run_end).await;
    let mut events = caller.open_stream(session, "view=transcript&from=start", "").await;
    let queued = expected["queue"][1].as_str().unwrap();
    events.read_until(|got| got.event == "ask" && got.data.contains(queued)).await;
}

async fn what_was_always_allowed_runs_without_an_ask(
    caller: &GatewayClient,
    expected: &Value,
    home: &Path,
) {
    let session = id(expected, "always");
    let run = post_message(caller, session, "write deep water").await;
    let mut events = caller.open_stream(session, "view=transcript&from=start", "").await;
    let ended = |got: &super::client::SseEvent| got.event == "completed" && got.data.contains(&run);
    let all = events.read_until(ended).await;
    let asks = all.iter().filter(|got| got.event == "ask" && got.data.contains(&run));
    assert_eq!(asks.count(), 0);
    assert_eq!(std::fs::read_to_string(home.join("demo-note.txt")).unwrap(), "deep water\n");
}

fn checkpoints_are_listed(home: &Path) {
    if !has_git() {
        return;
    }
    let data = data_folder(home);
    let output =
        isolated_command(&["restore", "--data", data.to_str().unwrap()], home).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!output.stdout.is_empty());
}

/// Checks that a page shows each text that the earlier version showed, once, and the same ending.
/// Ids, descriptions and the place of a call's output may differ.
fn assert_shows_the_same(page: &Value, before: &Value) {
    assert_eq!(sorted_texts(page), sorted_texts(before));
    assert_eq!(page["ended"], before["ended"]);
}

fn sorted_texts(page: &Value) -> Vec<&str> {
    let items = page["items"].as_object().unwrap().values();
    let texts = items.filter_map(|item| item["text"].as_str());
    let mut texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
    texts.sort_unstable();
    texts
}
