//! A process killed at any moment loses nothing that it acknowledged.
//!
//! The test runs itself as a child that appends and reports, and kills it.

use std::io::{BufRead, BufReader, Write, stderr};
use std::process::{Command, Stdio};

use super::*;

const SESSIONS: u8 = 3;
const DIR_VARIABLE: &str = "MILLPOND_CRASH_DIR";
const SEED_VARIABLE: &str = "MILLPOND_CRASH_SEED";

/// Pseudo-random numbers of a seed.
struct SeededRandom(u64);

impl SeededRandom {
    fn next_below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

fn fast_background_options() -> StoreOptions {
    StoreOptions {
        sync_window: Duration::from_millis(2),
        checkpoint_every: Duration::from_millis(3),
        ..options_without_background_work()
    }
}

/// Begins a new run every few batches, so that rows are merged all the time.
fn next_batch(
    random: &mut SeededRandom,
    session: u8,
    head: u64,
    open_run: &mut Option<RunId>,
) -> Batch {
    let run = open_run.unwrap_or_else(|| RunId::new(head, [session; 10]));
    let began = open_run.is_none().then_some(RunBoundary::Began { seq: head });
    *open_run = Some(run);
    let len = 1 + random.next_below(8);
    let ends = random.next_below(4) == 0;
    let last = head + len - 1;
    let event =
        |seq| if ends && seq == last { end_event(Outcome::Completed) } else { text_event("x") };
    let lines: String = (head..head + len).map(|seq| line(seq, run, event(seq))).collect();
    let mut boundaries: Vec<RunBoundary> = began.into_iter().collect();
    if ends {
        let (outcome, used) = (Outcome::Completed, TokenUsage::default());
        boundaries.push(RunBoundary::Ended { seq: last, outcome, usage: used });
        *open_run = None;
    }
    let chunk = Chunk { epoch: 1, first: head, len, lines: lines.into() };
    Batch {
        run,
        chunk,
        run_boundaries: boundaries,
        searchable_texts: vec![format!("word{head}")],
        ..batch(session, 0, head, 0)
    }
}

/// The child: appends until it is killed. Does nothing as a test.
#[test]
fn child() {
    let (Ok(dir), Ok(seed)) = (std::env::var(DIR_VARIABLE), std::env::var(SEED_VARIABLE)) else {
        return;
    };
    let mut random = SeededRandom(seed.parse().unwrap());
    let store =
        SqliteStore::open_or_create_with_options(Path::new(&dir), fast_background_options())
            .unwrap();
    let mut heads = Vec::new();
    for n in 0..SESSIONS {
        if store.load_session_even_deleted(session_id(n)).unwrap().is_none() {
            store.create_session(&session(n)).unwrap();
        }
        let head = store.load_session_even_deleted(session_id(n)).unwrap().unwrap().head;
        let open_run =
            store.list_open_runs().unwrap().into_iter().find(|run| run.session == session_id(n));
        heads.push((head, open_run.map(|run| run.id)));
    }
    loop {
        let n = u8::try_from(random.next_below(u64::from(SESSIONS))).unwrap();
        let (head, open_run) = &mut heads[usize::from(n)];
        let batch = next_batch(&mut random, n, *head, open_run);
        *head += batch.chunk.len;
        store.append(&[batch]).unwrap();
        // In one write, so that an acknowledgement is whole or missing.
        stderr().write_all(format!("{n} {head}\n").as_bytes()).unwrap();
    }
}

/// Lets a child run until some acknowledgement, kills it, and returns what it acknowledged.
fn run_and_kill_child(dir: &Path, seed: u64) -> Vec<u64> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "store::crash::child", "--nocapture"])
        .env(DIR_VARIABLE, dir)
        .env(SEED_VARIABLE, seed.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut acknowledged = vec![0; usize::from(SESSIONS)];
    let kill_at = SeededRandom(!seed).next_below(200);
    let stderr = BufReader::new(child.stderr.take().unwrap());
    for (line_index, line) in (0..).zip(stderr.lines()) {
        let line = line.unwrap();
        let (n, head) = line
            .split_once(' ')
            .unwrap_or_else(|| panic!("unexpected line from the child: {line}"));
        acknowledged[n.parse::<usize>().unwrap()] = head.parse().unwrap();
        if line_index == kill_at {
            // Acknowledgements written before the child exits still count.
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
    let home = temp_dir();
    let mut total = 0;
    let mut slowest = Duration::ZERO;
    for seed in 0..kills {
        // A new log from time to time, so that the test's cost stays linear.
        let dir = home.path().join((seed / 20).to_string());
        let acknowledged = run_and_kill_child(&dir, seed);
        let start = Instant::now();
        let store =
            SqliteStore::open_or_create_with_options(&dir, fast_background_options()).unwrap();
        slowest = slowest.max(start.elapsed());
        for (n, acknowledged) in (0..SESSIONS).zip(acknowledged) {
            let lines = match store.load_session_even_deleted(session_id(n)).unwrap() {
                Some(_) => read_lines(&store, n),
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
