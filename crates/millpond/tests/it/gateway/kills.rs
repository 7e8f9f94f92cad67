//! A gateway killed at any moment loses nothing that a reader has seen.
//!
//! Kills after each of 500 events, and 200 times at random; `scripts/campaign.sh kills` does 2,000.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::client::{
    EventStream, GatewayClient, PATCHES, SseEvent, apply_patches, is_run_end, text_delta,
};
use super::process::{GatewayProcess, temp_home};

const EVENTS: u64 = 500;
const SEED: u64 = 4;

#[derive(Clone, Copy, Debug)]
struct Kill {
    /// Number of events sent before the kill.
    events_sent: u64,
    time: KillTime,
}

#[derive(Clone, Copy, Debug)]
enum KillTime {
    /// As soon as a reader has seen the last event.
    WhenSeen,
    /// This long after the last event was sent: any moment, whatever the gateway is doing. The
    /// claim holds at each of them, so no moment is waited for.
    AfterDelay(Duration),
}

/// Pseudo-random numbers from a seed.
struct SeededRandom(u64);

impl SeededRandom {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn next_kill(&mut self) -> Kill {
        let later = KillTime::AfterDelay(Duration::from_micros(self.below(60_000)));
        Kill { events_sent: 1 + self.below(EVENTS), time: later }
    }
}

fn planned_kills() -> Vec<Kill> {
    let asked = std::env::var("MILLPOND_KILLS").ok().and_then(|kills| kills.parse().ok());
    let random: u64 = asked.unwrap_or(200);
    let mut dice = SeededRandom(SEED);
    let each = (1..=EVENTS).map(|after| Kill { events_sent: after, time: KillTime::WhenSeen });
    each.chain((0..random).map(|_| dice.next_kill())).collect()
}

fn numbered_word(n: u64) -> String {
    format!("{n},")
}

fn numbered_words(to: u64) -> String {
    (1..=to).map(numbered_word).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_any_event_it_has_all_that_a_reader_saw_each_once() {
    let kills = planned_kills();
    let http = reqwest::Client::new();
    let mut working = Vec::new();
    for part in kills.chunks(kills.len().div_ceil(3)) {
        let (part, http) = (part.to_vec(), http.clone());
        working.push(tokio::spawn(async move {
            let mut home = temp_home();
            for (at, kill) in part.into_iter().enumerate() {
                if at % 100 == 99 {
                    home = temp_home();
                }
                kill_once(home.path(), &http, kill).await;
            }
        }));
    }
    for worker in working {
        worker.await.unwrap();
    }
    println!("{} kills, seed {SEED}", kills.len());
}

async fn kill_once(home: &Path, http: &reqwest::Client, kill: Kill) {
    let mut process = GatewayProcess::start(home);
    let caller = GatewayClient::for_process(&process, http);
    let session = caller.create_session().await;
    let mut events = caller.open_stream(&session, PATCHES, "").await;
    let sending = caller.start_ingest(&session);
    for n in 1..=kill.events_sent {
        assert!(sending.send_chunk(text_delta(&numbered_word(n))).await);
    }
    let mut seen = match kill.time {
        KillTime::WhenSeen => read_until_text(&mut events, &numbered_word(kill.events_sent)).await,
        KillTime::AfterDelay(wait) => {
            tokio::time::sleep(wait).await;
            Vec::new()
        }
    };
    process.kill();
    // Frames still in flight count as seen.
    seen.extend(events.read_to_end().await);
    drop(sending);

    let process = GatewayProcess::start(home);
    let caller = GatewayClient::for_process(&process, http);
    check_log_after_kill(&caller, &session, kill, &seen).await;
}

/// Reads events until one contains this word.
async fn read_until_text(events: &mut EventStream, last: &str) -> Vec<SseEvent> {
    let (all, last) = (format!(",{last}"), format!("\"{last}"));
    events.read_until(|got| got.data.contains(&all) || got.data.contains(&last)).await
}

/// Checks that the log is dense, has everything that was seen, and ends once.
async fn check_log_after_kill(
    caller: &GatewayClient,
    session: &str,
    kill: Kill,
    seen: &[SseEvent],
) {
    let log = caller.read_log(session).await;
    for (seq, record) in log.iter().enumerate() {
        assert_eq!(record["seq"], Value::from(seq), "{kill:?}");
    }
    let text: String = log.iter().filter_map(|record| record["text"].as_str()).collect();
    assert!(numbered_words(kill.events_sent).starts_with(&text), "{kill:?}: {text}");
    if matches!(kill.time, KillTime::WhenSeen) {
        assert_eq!(text, numbered_words(kill.events_sent), "{kill:?}");
    }
    let endings: Vec<&Value> = log.iter().filter(|record| record["type"] == "run_ended").collect();
    let begun = usize::from(!log.is_empty());
    assert_eq!(endings.len(), begun, "{kill:?}: {log:?}");
    if let Some(last) = log.last() {
        assert_eq!(last["outcome"], "interrupted", "{kill:?}: {last}");
        check_resume(caller, session, kill, seen).await;
    } else {
        assert!(seen.is_empty(), "{kill:?}: {seen:?}");
    }
}

/// Checks that a reader resumes after the last frame it saw, with nothing missing or repeated.
async fn check_resume(caller: &GatewayClient, session: &str, kill: Kill, seen: &[SseEvent]) {
    let last = seen.last().map_or("", |got| &*got.id);
    let mut events = caller.open_stream(session, PATCHES, last).await;
    if !last.is_empty() {
        let hello = events.next_event().await.unwrap();
        assert!(hello.data.contains("\"recovered\":true"), "{kill:?}: {}", hello.data);
    }
    let rest = events.read_until(is_run_end).await;
    let all = [seen, &rest].concat();
    let ids: BTreeSet<&str> = all.iter().map(|got| &*got.id).collect();
    assert_eq!(ids.len(), all.len(), "{kill:?}: a frame came twice");
    assert_eq!(apply_patches(&all), caller.fetch_page(session).await, "{kill:?}");
}
