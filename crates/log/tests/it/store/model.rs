//! The store behaves as a plain list, whatever is done to it.

use std::collections::BTreeMap;

use millpond_log::store::{SessionQuery, SessionUpdate};
use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum StoreCommand {
    Create(u8),
    /// A batch at this distance from the head; two of them share a transaction.
    Append {
        session: u8,
        other: u8,
        ahead: u64,
        len: u64,
        turn: BoundaryChoice,
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
enum BoundaryChoice {
    None,
    Begin,
    End,
}

#[derive(Clone, Debug)]
struct ModelLog {
    lines: Vec<String>,
    title: String,
    changed_ms: u64,
    deleted: bool,
    run: Option<u8>,
    runs: usize,
}

#[derive(Default)]
struct StoreModel {
    logs: BTreeMap<u8, ModelLog>,
    next_run: u8,
    now: u64,
}

fn any_command() -> impl Strategy<Value = StoreCommand> {
    let session = || 0..4_u8;
    let turn = prop_oneof![
        3 => Just(BoundaryChoice::None), 2 => Just(BoundaryChoice::Begin), 2 => Just(BoundaryChoice::End)
    ];
    let ahead = prop_oneof![9 => Just(0_u64), 1 => 1..3_u64];
    prop_oneof![
        3 => session().prop_map(StoreCommand::Create),
        12 => (session(), session(), ahead, 0..6_u64, turn).prop_map(
            |(session, other, ahead, len, turn)| StoreCommand::Append { session, other, ahead, len, turn }
        ),
        4 => (session(), 0..40_u64, 0..2000_usize)
            .prop_map(|(session, from, bytes_max)| StoreCommand::Read { session, from, bytes_max }),
        1 => (session(), "[a-z]{1,8}").prop_map(|(session, title)| StoreCommand::Rename(session, title)),
        1 => session().prop_map(StoreCommand::Delete),
        2 => (session(), session(), 0..30_u64)
            .prop_map(|(from, to, end)| StoreCommand::Branch { from, to, end }),
        1 => session().prop_map(StoreCommand::Erase),
        2 => Just(StoreCommand::Compact),
        1 => Just(StoreCommand::Checkpoint),
        1 => Just(StoreCommand::Restart),
        1 => Just(StoreCommand::BreakAndReopen),
    ]
}

impl StoreModel {
    fn create(&mut self, store: &SqliteStore, n: u8) {
        self.now += 1;
        let new_session = Session { changed_ms: self.now, ..session(n) };
        assert_eq!(store.create_session(&new_session).is_ok(), !self.logs.contains_key(&n));
        self.logs.entry(n).or_insert_with(|| ModelLog {
            lines: Vec::new(),
            title: new_session.title,
            changed_ms: new_session.changed_ms,
            deleted: false,
            run: None,
            runs: 0,
        });
    }

    /// The batch of a command, and the log after it.
    fn batch(
        &mut self,
        n: u8,
        ahead: u64,
        len: u64,
        turn: BoundaryChoice,
    ) -> (Batch, Option<ModelLog>) {
        let Some(log) = self.logs.get(&n) else { return (batch(n, 0, 0, len.max(1)), None) };
        let mut log = log.clone();
        let head = log.lines.len() as u64;
        let mut next_batch = match (turn, log.run) {
            (BoundaryChoice::Begin, None) if len > 0 => {
                self.next_run = self.next_run.wrapping_add(1);
                log.run = Some(self.next_run);
                log.runs += 1;
                beginning_batch(n, self.next_run, head + ahead, len)
            }
            (BoundaryChoice::End, Some(run)) => {
                log.run = None;
                ending_batch(n, run, head + ahead)
            }
            (_, run) => batch(n, run.unwrap_or(0), head + ahead, len),
        };
        self.now += 1;
        next_batch.at_ms = self.now;
        if !next_batch.run_boundaries.is_empty() {
            log.changed_ms = self.now;
        }
        log.lines.extend(next_batch.chunk.lines.lines().map(str::to_owned));
        (next_batch, (ahead == 0).then_some(log))
    }

    fn append(
        &mut self,
        store: &SqliteStore,
        sessions: [u8; 2],
        ahead: u64,
        len: u64,
        turn: BoundaryChoice,
    ) {
        let (first, first_log) = self.batch(sessions[0], ahead, len, turn);
        if sessions[0] == sessions[1] {
            assert_eq!(store.append(&[first]).is_ok(), first_log.is_some());
            self.logs.extend(first_log.map(|log| (sessions[0], log)));
            return;
        }
        let (second, second_log) = self.batch(sessions[1], 0, len, turn);
        let new_logs = first_log.zip(second_log);
        assert_eq!(store.append(&[first, second]).is_ok(), new_logs.is_some());
        if let Some((first, second)) = new_logs {
            self.logs.extend([(sessions[0], first), (sessions[1], second)]);
        }
    }

    fn branch(&mut self, store: &SqliteStore, from: u8, to: u8, end: u64) {
        self.now += 1;
        let new_branch = Session { changed_ms: self.now, ..session(to) };
        let end_at = usize::try_from(end).unwrap();
        let parent = self.logs.get(&from).filter(|log| log.lines.len() >= end_at);
        let possible = parent.filter(|_| !self.logs.contains_key(&to)).cloned();
        assert_eq!(
            store.branch_session(session_id(from), end, &new_branch, None).is_ok(),
            possible.is_some()
        );
        if let Some(mut log) = possible {
            log.lines.truncate(end_at);
            let (title, changed_ms) = (new_branch.title, self.now);
            let log = ModelLog { title, changed_ms, deleted: false, run: None, runs: 0, ..log };
            self.logs.insert(to, log);
        }
    }

    fn change(&mut self, store: &SqliteStore, n: u8, change: &SessionUpdate) {
        self.now += 1;
        let result = store.update_session(session_id(n), change, self.now);
        assert_eq!(result.is_ok(), self.logs.contains_key(&n));
        if let Some(log) = self.logs.get_mut(&n) {
            log.title = change.title.clone().unwrap_or_else(|| log.title.clone());
            log.deleted |= change.deleted_ms.is_some();
            log.changed_ms = self.now;
        }
    }

    fn read(&self, store: &SqliteStore, n: u8, from: u64, bytes_max: usize) {
        let read = read_lines_from(store, session_id(n), from, bytes_max);
        match self.logs.get(&n) {
            None => assert_eq!(read, Err(StoreError::NoSession(session_id(n)))),
            Some(log) => {
                let start = usize::try_from(from).unwrap().min(log.lines.len());
                assert_eq!(read.unwrap(), log.lines[start..]);
            }
        }
    }

    fn compare(&self, store: &SqliteStore) {
        for n in 0..4 {
            self.read(store, n, 0, ALL_BYTES);
        }
        for (n, log) in &self.logs {
            let session = store.load_session_even_deleted(session_id(*n)).unwrap().unwrap();
            assert_eq!((session.head, &session.title), (log.lines.len() as u64, &log.title));
            assert_eq!(store.session_runs(session_id(*n)).unwrap().len(), log.runs);
        }
        let open_runs = store.list_open_runs().unwrap().into_iter().map(|run| run.id);
        let mut open_runs: Vec<_> = open_runs.collect();
        open_runs.sort();
        let mut expected: Vec<_> =
            self.logs.values().filter_map(|log| log.run).map(run_id).collect();
        expected.sort();
        assert_eq!(open_runs, expected);
        let listed = store
            .list_sessions_of_owner_by_query(
                owner(1),
                &SessionQuery { limit: 99, ..SessionQuery::default() },
            )
            .unwrap();
        let listed: Vec<_> = listed.into_iter().map(|session| session.id).collect();
        let mut undeleted: Vec<_> = self.logs.iter().filter(|(_, log)| !log.deleted).collect();
        undeleted.sort_by_key(|(n, log)| std::cmp::Reverse((log.changed_ms, **n)));
        assert_eq!(listed, undeleted.into_iter().map(|(n, _)| session_id(*n)).collect::<Vec<_>>());
    }
}

fn apply_command(
    test_store: TestStore,
    model: &mut StoreModel,
    command: StoreCommand,
) -> TestStore {
    let store = &test_store.store;
    match command {
        StoreCommand::Create(n) => model.create(store, n),
        StoreCommand::Append { session, other, ahead, len, turn } => {
            model.append(store, [session, other], ahead, len, turn);
        }
        StoreCommand::Read { session, from, bytes_max } => {
            model.read(store, session, from, bytes_max);
        }
        StoreCommand::Rename(n, title) => {
            model.change(
                store,
                n,
                &SessionUpdate { title: Some(title), ..SessionUpdate::default() },
            );
        }
        StoreCommand::Delete(n) => {
            model.change(
                store,
                n,
                &SessionUpdate { deleted_ms: Some(Some(1)), ..SessionUpdate::default() },
            );
        }
        StoreCommand::Branch { from, to, end } => model.branch(store, from, to, end),
        StoreCommand::Erase(n) => {
            let erased = store.erase_session(session_id(n)).is_ok();
            assert_eq!(erased, model.logs.remove(&n).is_some());
        }
        StoreCommand::Compact => store.compact_ended_runs().unwrap(),
        StoreCommand::Checkpoint => assert!(store.try_checkpoint_and_truncate_wal().is_ok()),
        StoreCommand::Restart => return test_store.reopen(),
        StoreCommand::BreakAndReopen => {
            let reopened = store.reopen_count();
            assert_eq!(store.reopen_file(), Ok(reopened + 1));
        }
    }
    test_store
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_store_is_as_a_plain_list_would_be(commands in prop::collection::vec(any_command(), 1..60)) {
        let mut test_store = open_test_store();
        let mut model = StoreModel::default();
        for command in commands {
            test_store = apply_command(test_store, &mut model, command);
            model.compare(&test_store.store);
        }
        prop_assert!(test_store.store.check().unwrap().is_sound());
    }
}
