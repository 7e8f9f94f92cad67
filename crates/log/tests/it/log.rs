//! The log: what a follower reads from memory is what the store has.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use millpond_engine::event::{Event, Millis, Record, Sink};
use millpond_engine::ingest::{Ingest, IngestOptions};
use millpond_engine::run::InputEnd;
use millpond_log::id::RunId;
use millpond_log::store::sqlite::{Durability, SqliteStore};
use millpond_log::store::{Session, Store};
use millpond_log::{Log, ReadRecord, TimedEvent};

use crate::support::owner;

#[derive(Default)]
struct Events(Vec<TimedEvent>);

impl Sink for Events {
    fn on_event(&mut self, at: Option<Millis>, event: Event<'_>) {
        self.0.push((at, event.into_owned()));
    }
}

/// The events of every fixture.
fn events_of_fixtures() -> Vec<(PathBuf, Vec<TimedEvent>)> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let folders = std::fs::read_dir(fixtures).unwrap().map(|folder| folder.unwrap().path());
    let streams = folders
        .filter(|folder| folder.is_dir())
        .flat_map(|folder| std::fs::read_dir(folder).unwrap())
        .map(|file| file.unwrap().path())
        .filter(|path| {
            matches!(path.extension().and_then(|end| end.to_str()), Some("sse" | "jsonl"))
        });
    let events = streams.map(|path| {
        let mut events = Events::default();
        let mut ingest = Ingest::new(&IngestOptions::default());
        ingest.push(&std::fs::read(&path).unwrap(), Some(7), &mut events);
        ingest.finish(InputEnd::EndOfInput, Some(8), &mut events);
        (path, events.0)
    });
    events.collect()
}

fn to_line(record: &Record<'_>) -> String {
    serde_json::to_string(record).unwrap() + "\n"
}

#[tokio::test]
async fn records_from_memory_equal_those_that_are_parsed_from_the_store() {
    let dir = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open(dir.path(), Durability::Window).unwrap());
    let log = Log::open(store.clone()).unwrap();
    let (mut decoded_count, mut parsed_count) = (0, 0);
    for (n, (path, events)) in (0_u64..).zip(events_of_fixtures()) {
        let created = Session::new(owner(1), "A fixture", n).unwrap();
        store.create_session(&created).unwrap();
        let log_end = log.watch_log_end(created.id).await.unwrap();
        let mut run = log.build_run_appender(created.id, RunId::new(n, [1; 10]));
        let mut head = 0;
        for events in events.chunks(3) {
            head = run.append(events.to_vec()).await.unwrap();
        }
        assert_eq!(*log_end.borrow(), head);
        let from_memory = log.read(created.id, 0).await.unwrap();
        let from_store = store.read(created.id, 0, usize::MAX).unwrap();
        let first_in_memory = from_memory.first().unwrap().first;
        let parsed = from_store.iter().flat_map(|chunk| chunk.parse_records_from(first_in_memory));
        let mut parsed: Vec<Record<'_>> = parsed.map(Result::unwrap).collect();
        let lines: String = parsed.iter().map(to_line).collect();
        let stored: String = from_store.iter().map(|chunk| &*chunk.lines).collect();
        assert!(
            stored.ends_with(&lines),
            "{}: lines are records as serde writes them",
            path.display()
        );
        for record in from_memory.iter().flat_map(|chunk| chunk.records_from(0)) {
            let record = record.unwrap();
            match &record {
                ReadRecord::Decoded(_) => decoded_count += 1,
                ReadRecord::Parsed(_) => parsed_count += 1,
            }
            assert_eq!(*record, parsed.remove(0), "{}", path.display());
        }
        assert_eq!(parsed, [], "{}", path.display());
    }
    assert!(1000 < decoded_count, "{decoded_count}");
    // Only of streams that are longer than a tail.
    assert!(parsed_count < decoded_count / 2, "{parsed_count} of {decoded_count}");
}
