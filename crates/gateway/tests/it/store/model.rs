//! Whatever is done to it, the store is as a plain list would be.

use std::collections::BTreeMap;

use gateway::store::{Change, Query};
use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Command {
    Create(u8),
    /// A batch at this distance from the head; two of them share a transaction.
    Append {
        session: u8,
        other: u8,
        ahead: u64,
        len: u64,
        turn: WhichTurn,
    },
    Read {
        session: u8,
        from: u64,
        bytes_max: usize,
    },
    Rename(u8, String),
    Delete(u8),
    Branch {
        from: u8,
        to: u8,
        end: u64,
    },
    Erase(u8),
    Compact,
    Checkpoint,
    Restart,
    BreakAndReopen,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WhichTurn {
    None,
    Begin,
    End,
}

#[derive(Clone, Debug)]
struct Log {
    lines: Vec<String>,
    title: String,
    changed_ms: u64,
    deleted: bool,
    run: Option<u8>,
    runs: usize,
}

#[derive(Default)]
struct Model {
    logs: BTreeMap<u8, Log>,
    next_run: u8,
    now: u64,
}

fn command() -> impl Strategy<Value = Command> {
    let session = || 0..4_u8;
    let turn = prop_oneof![
        3 => Just(WhichTurn::None), 2 => Just(WhichTurn::Begin), 2 => Just(WhichTurn::End)
    ];
    let ahead = prop_oneof![9 => Just(0_u64), 1 => 1..3_u64];
    prop_oneof![
        3 => session().prop_map(Command::Create),
        12 => (session(), session(), ahead, 0..6_u64, turn).prop_map(
            |(session, other, ahead, len, turn)| Command::Append { session, other, ahead, len, turn }
        ),
        4 => (session(), 0..40_u64, 0..2000_usize)
            .prop_map(|(session, from, bytes_max)| Command::Read { session, from, bytes_max }),
        1 => (session(), "[a-z]{1,8}").prop_map(|(session, title)| Command::Rename(session, title)),
        1 => session().prop_map(Command::Delete),
        2 => (session(), session(), 0..30_u64)
            .prop_map(|(from, to, end)| Command::Branch { from, to, end }),
        1 => session().prop_map(Command::Erase),
        2 => Just(Command::Compact),
        1 => Just(Command::Checkpoint),
        1 => Just(Command::Restart),
        1 => Just(Command::BreakAndReopen),
    ]
}

impl Model {
    fn create(&mut self, store: &SqliteStore, n: u8) {
        self.now += 1;
        let made = Session { changed_ms: self.now, ..session(n) };
        assert_eq!(store.create(&made).is_ok(), !self.logs.contains_key(&n));
        self.logs.entry(n).or_insert_with(|| Log {
            lines: Vec::new(),
            title: made.title,
            changed_ms: made.changed_ms,
            deleted: false,
            run: None,
            runs: 0,
        });
    }

    /// The batch that a command means, and the log after it.
    fn batch(&mut self, n: u8, ahead: u64, len: u64, turn: WhichTurn) -> (Batch, Option<Log>) {
        let Some(log) = self.logs.get(&n) else { return (batch(n, 0, 0, len.max(1)), None) };
        let mut log = log.clone();
        let head = log.lines.len() as u64;
        let mut one = match (turn, log.run) {
            (WhichTurn::Begin, None) if len > 0 => {
                self.next_run = self.next_run.wrapping_add(1);
                log.run = Some(self.next_run);
                log.runs += 1;
                beginning(n, self.next_run, head + ahead, len)
            }
            (WhichTurn::End, Some(run)) => {
                log.run = None;
                ending(n, run, head + ahead)
            }
            (_, run) => batch(n, run.unwrap_or(0), head + ahead, len),
        };
        self.now += 1;
        one.at_ms = self.now;
        if !one.turns.is_empty() {
            log.changed_ms = self.now;
        }
        log.lines.extend(one.chunk.lines.lines().map(str::to_owned));
        (one, (ahead == 0).then_some(log))
    }

    fn append(
        &mut self,
        store: &SqliteStore,
        sessions: [u8; 2],
        ahead: u64,
        len: u64,
        turn: WhichTurn,
    ) {
        let (first, first_log) = self.batch(sessions[0], ahead, len, turn);
        if sessions[0] == sessions[1] {
            assert_eq!(store.append(&[first]).is_ok(), first_log.is_some());
            self.logs.extend(first_log.map(|log| (sessions[0], log)));
            return;
        }
        let (second, second_log) = self.batch(sessions[1], 0, len, turn);
        let both = first_log.zip(second_log);
        assert_eq!(store.append(&[first, second]).is_ok(), both.is_some());
        if let Some((first, second)) = both {
            self.logs.extend([(sessions[0], first), (sessions[1], second)]);
        }
    }

    fn branch(&mut self, store: &SqliteStore, from: u8, to: u8, end: u64) {
        self.now += 1;
        let made = Session { changed_ms: self.now, ..session(to) };
        let end_at = usize::try_from(end).unwrap();
        let parent = self.logs.get(&from).filter(|log| log.lines.len() >= end_at);
        let possible = parent.filter(|_| !self.logs.contains_key(&to)).cloned();
        assert_eq!(store.branch(session_id(from), end, &made, None).is_ok(), possible.is_some());
        if let Some(mut log) = possible {
            log.lines.truncate(end_at);
            let (title, changed_ms) = (made.title, self.now);
            let log = Log { title, changed_ms, deleted: false, run: None, runs: 0, ..log };
            self.logs.insert(to, log);
        }
    }

    fn change(&mut self, store: &SqliteStore, n: u8, change: &Change) {
        self.now += 1;
        let done = store.change(session_id(n), change, self.now);
        assert_eq!(done.is_ok(), self.logs.contains_key(&n));
        if let Some(log) = self.logs.get_mut(&n) {
            log.title = change.title.clone().unwrap_or_else(|| log.title.clone());
            log.deleted |= change.deleted_ms.is_some();
            log.changed_ms = self.now;
        }
    }

    fn read(&self, store: &SqliteStore, n: u8, from: u64, bytes_max: usize) {
        let read = lines_from(store, session_id(n), from, bytes_max);
        match self.logs.get(&n) {
            None => assert_eq!(read, Err(StoreError::NoSession(session_id(n)))),
            Some(log) => {
                let from = usize::try_from(from).unwrap().min(log.lines.len());
                assert_eq!(read.unwrap(), log.lines[from..]);
            }
        }
    }

    fn compare(&self, store: &SqliteStore) {
        for n in 0..4 {
            self.read(store, n, 0, ALL);
        }
        for (n, log) in &self.logs {
            let session = store.session(session_id(*n)).unwrap().unwrap();
            assert_eq!((session.head, &session.title), (log.lines.len() as u64, &log.title));
            assert_eq!(store.runs(session_id(*n)).unwrap().len(), log.runs);
        }
        let open = store.open_runs().unwrap().into_iter().map(|run| run.id);
        let mut open: Vec<_> = open.collect();
        open.sort();
        let mut expected: Vec<_> =
            self.logs.values().filter_map(|log| log.run).map(run_id).collect();
        expected.sort();
        assert_eq!(open, expected);
        let listed = store.sessions(owner(1), &Query { limit: 99, ..Query::default() }).unwrap();
        let listed: Vec<_> = listed.into_iter().map(|session| session.id).collect();
        let mut shown: Vec<_> = self.logs.iter().filter(|(_, log)| !log.deleted).collect();
        shown.sort_by_key(|(n, log)| std::cmp::Reverse((log.changed_ms, **n)));
        assert_eq!(listed, shown.into_iter().map(|(n, _)| session_id(*n)).collect::<Vec<_>>());
    }
}

fn obey(kept: Kept, model: &mut Model, command: Command) -> Kept {
    let store = &kept.store;
    match command {
        Command::Create(n) => model.create(store, n),
        Command::Append { session, other, ahead, len, turn } => {
            model.append(store, [session, other], ahead, len, turn);
        }
        Command::Read { session, from, bytes_max } => model.read(store, session, from, bytes_max),
        Command::Rename(n, title) => {
            model.change(store, n, &Change { title: Some(title), ..Change::default() });
        }
        Command::Delete(n) => {
            model.change(store, n, &Change { deleted_ms: Some(Some(1)), ..Change::default() });
        }
        Command::Branch { from, to, end } => model.branch(store, from, to, end),
        Command::Erase(n) => {
            let erased = store.erase(session_id(n)).is_ok();
            assert_eq!(erased, model.logs.remove(&n).is_some());
        }
        Command::Compact => store.compact().unwrap(),
        Command::Checkpoint => assert!(store.checkpoint().is_ok()),
        Command::Restart => return kept.reopened(),
        Command::BreakAndReopen => {
            let epoch = store.epoch();
            assert_eq!(store.reopen(), Ok(epoch + 1));
        }
    }
    kept
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_store_is_as_a_plain_list_would_be(commands in prop::collection::vec(command(), 1..60)) {
        let mut kept = open();
        let mut model = Model::default();
        for command in commands {
            kept = obey(kept, &mut model, command);
            model.compare(&kept.store);
        }
        prop_assert!(kept.store.check().unwrap().is_sound());
    }
}
