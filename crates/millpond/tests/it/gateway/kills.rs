//! Killed at any moment, a gateway has lost nothing that a reader saw.
//!
//! After each of 500 events, and 200 times at random; `scripts/campaign.sh kills` does 2,000.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::client::{Caller, Events, Got, PATCHES, delta, ends, page_of};
use super::process::{Process, home};

const EVENTS: u64 = 500;
const SEED: u64 = 4;

#[derive(Clone, Copy, Debug)]
struct Kill {
    /// How many events are sent.
    after: u64,
    when: When,
}

#[derive(Clone, Copy, Debug)]
enum When {
    /// A reader has seen the last of them.
    Seen,
    /// So long after the last one left, whoever has seen what.
    Later(Duration),
}

/// Numbers without a pattern, the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn kill(&mut self) -> Kill {
        let later = When::Later(Duration::from_micros(self.below(60_000)));
        Kill { after: 1 + self.below(EVENTS), when: later }
    }
}

fn kills() -> Vec<Kill> {
    let asked = std::env::var("MILLPOND_KILLS").ok().and_then(|kills| kills.parse().ok());
    let random: u64 = asked.unwrap_or(200);
    let mut dice = Dice(SEED);
    let each = (1..=EVENTS).map(|after| Kill { after, when: When::Seen });
    each.chain((0..random).map(|_| dice.kill())).collect()
}

fn word(n: u64) -> String {
    format!("{n},")
}

fn words(to: u64) -> String {
    (1..=to).map(word).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_any_event_it_has_all_that_a_reader_saw_each_once() {
    let kills = kills();
    let http = reqwest::Client::new();
    let mut working = Vec::new();
    for part in kills.chunks(kills.len().div_ceil(3)) {
        let (part, http) = (part.to_vec(), http.clone());
        working.push(tokio::spawn(async move {
            let mut home = home();
            for (at, kill) in part.into_iter().enumerate() {
                if at % 100 == 99 {
                    home = self::home();
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
    let mut process = Process::start(home);
    let caller = Caller::of(&process, http);
    let session = caller.new_session().await;
    let mut events = caller.follow(&session, PATCHES, "").await;
    let sending = caller.send(&session);
    for n in 1..=kill.after {
        assert!(sending.piece(delta(&word(n))).await);
    }
    let mut seen = match kill.when {
        When::Seen => see(&mut events, &word(kill.after)).await,
        When::Later(wait) => {
            tokio::time::sleep(wait).await;
            Vec::new()
        }
    };
    process.kill();
    // What was on its way has been seen, too.
    seen.extend(events.rest().await);
    drop(sending);

    let process = Process::start(home);
    let caller = Caller::of(&process, http);
    check(&caller, &session, kill, &seen).await;
}

/// Reads until this piece of text has come.
async fn see(events: &mut Events, last: &str) -> Vec<Got> {
    let (all, last) = (format!(",{last}"), format!("\"{last}"));
    events.until(|got| got.data.contains(&all) || got.data.contains(&last)).await
}

async fn check(caller: &Caller, session: &str, kill: Kill, seen: &[Got]) {
    let log = caller.log(session).await;
    for (seq, record) in log.iter().enumerate() {
        assert_eq!(record["seq"], Value::from(seq), "{kill:?}");
    }
    let text: String = log.iter().filter_map(|record| record["text"].as_str()).collect();
    assert!(words(kill.after).starts_with(&text), "{kill:?}: {text}");
    if matches!(kill.when, When::Seen) {
        assert_eq!(text, words(kill.after), "{kill:?}");
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

/// A reader goes on after the last frame that it saw: nothing is missing, nothing comes twice.
async fn check_resume(caller: &Caller, session: &str, kill: Kill, seen: &[Got]) {
    let last = seen.last().map_or("", |got| &*got.id);
    let mut events = caller.follow(session, PATCHES, last).await;
    if !last.is_empty() {
        let hello = events.next().await.unwrap();
        assert!(hello.data.contains("\"recovered\":true"), "{kill:?}: {}", hello.data);
    }
    let rest = events.until(ends).await;
    let all = [seen, &rest].concat();
    let ids: BTreeSet<&str> = all.iter().map(|got| &*got.id).collect();
    assert_eq!(ids.len(), all.len(), "{kill:?}: a frame came twice");
    assert_eq!(page_of(&all), caller.page(session).await, "{kill:?}");
}
