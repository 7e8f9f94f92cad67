//! A process killed at any moment loses nothing that it had acknowledged.
//!
//! This test runs itself again as a child that appends and says so, and kills it.

use std::io::{BufRead, BufReader, Write, stderr};
use std::process::{Command, Stdio};

use super::*;

const SESSIONS: u8 = 3;
const DIR: &str = "MILLPOND_CRASH_DIR";
const SEED: &str = "MILLPOND_CRASH_SEED";

/// Numbers without a pattern, the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

fn options() -> Options {
    Options {
        sync_window: Duration::from_millis(2),
        checkpoint_every: Duration::from_millis(3),
        ..quiet()
    }
}

/// As a run of its own for every few batches, so that rows are put together all the time.
fn next_batch(dice: &mut Dice, session: u8, head: u64, open: &mut Option<RunId>) -> Batch {
    let run = open.unwrap_or_else(|| RunId::new(head, [session; 10]));
    let began = open.is_none().then_some(Turn::Began { run, seq: head });
    *open = Some(run);
    let len = 1 + dice.below(8);
    let ends = dice.below(4) == 0;
    let last = head + len - 1;
    let event =
        |seq| if ends && seq == last { end_event(Outcome::Completed) } else { text_event("x") };
    let lines: String = (head..head + len).map(|seq| line(seq, run, event(seq))).collect();
    let mut turns: Vec<Turn> = began.into_iter().collect();
    if ends {
        let (outcome, used) = (Outcome::Completed, Used::default());
        turns.push(Turn::Ended { run, seq: last, outcome, used });
        *open = None;
    }
    let chunk = Chunk { first: head, len, lines: lines.into() };
    Batch { chunk, turns, texts: vec![format!("word{head}")], ..batch(session, 0, head, 0) }
}

/// The child: appends until it is killed. As a test of its own it does nothing.
#[test]
fn child() {
    let (Ok(dir), Ok(seed)) = (std::env::var(DIR), std::env::var(SEED)) else { return };
    let mut dice = Dice(seed.parse().unwrap());
    let store = SqliteStore::open_with(Path::new(&dir), options()).unwrap();
    let mut heads = Vec::new();
    for n in 0..SESSIONS {
        if store.session(session_id(n)).unwrap().is_none() {
            store.create(&session(n)).unwrap();
        }
        let head = store.session(session_id(n)).unwrap().unwrap().head;
        let open = store.open_runs().unwrap().into_iter().find(|run| run.session == session_id(n));
        heads.push((head, open.map(|run| run.id)));
    }
    loop {
        let n = u8::try_from(dice.below(u64::from(SESSIONS))).unwrap();
        let (head, open) = &mut heads[usize::from(n)];
        let batch = next_batch(&mut dice, n, *head, open);
        *head += batch.chunk.len;
        store.append(&[batch]).unwrap();
        // In one write, so that an acknowledgement is whole or not there.
        stderr().write_all(format!("{n} {head}\n").as_bytes()).unwrap();
    }
}

/// Lets a child work until some acknowledgement, kills it, and says what it acknowledged.
fn kill_one(dir: &Path, seed: u64) -> Vec<u64> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "store::crash::child", "--nocapture"])
        .env(DIR, dir)
        .env(SEED, seed.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut acknowledged = vec![0; usize::from(SESSIONS)];
    let kill_at = Dice(!seed).below(200);
    let told = BufReader::new(child.stderr.take().unwrap());
    for (at, told) in (0..).zip(told.lines()) {
        let told = told.unwrap();
        let (n, head) = told.split_once(' ').unwrap_or_else(|| panic!("the child said: {told}"));
        acknowledged[n.parse::<usize>().unwrap()] = head.parse().unwrap();
        if at == kill_at {
            // What it says until it is gone still counts.
            child.kill().unwrap();
        }
    }
    let status = child.wait().unwrap();
    assert_eq!(status.code(), None, "seed {seed}: the child ended by itself");
    acknowledged
}

#[test]
fn a_killed_process_loses_nothing_that_it_acknowledged() {
    let kills = std::env::var("MILLPOND_KILLS").ok().and_then(|kills| kills.parse().ok());
    let kills: u64 = kills.unwrap_or(20);
    let home = dir();
    let mut total = 0;
    let mut slowest = Duration::ZERO;
    for seed in 0..kills {
        // A new log from time to time, so that the test does not grow with its square.
        let dir = home.path().join((seed / 20).to_string());
        let acknowledged = kill_one(&dir, seed);
        let start = Instant::now();
        let store = SqliteStore::open_with(&dir, options()).unwrap();
        slowest = slowest.max(start.elapsed());
        for (n, acknowledged) in (0..SESSIONS).zip(acknowledged) {
            let lines = match store.session(session_id(n)).unwrap() {
                Some(_) => lines(&store, n),
                None => Vec::new(),
            };
            assert!(lines.len() as u64 >= acknowledged, "seed {seed}: session {n} lost records");
            for (line, seq) in lines.iter().zip(0..) {
                let record: Record<'_> = serde_json::from_str(line).unwrap();
                assert_eq!(record.seq, seq, "seed {seed}: session {n}");
            }
            total += lines.len();
        }
        let report = store.check().unwrap();
        assert!(report.is_sound(), "seed {seed}: {report:?}");
    }
    eprintln!("{kills} kills, {total} records compared, slowest recovery {slowest:?}");
}
