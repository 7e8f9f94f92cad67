//! Feeding streams to the engine, and recording the events.

use std::path::{Path, PathBuf};

use millpond_engine::event::{Event, Millis, Record, Sink};
use millpond_engine::ingest::{Ingest, IngestOptions};
use millpond_engine::run::InputEnd;

/// Sink that keeps every event with its time.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordedEvents(pub(crate) Vec<(Option<Millis>, Event<'static>)>);

impl Sink for RecordedEvents {
    fn on_event(&mut self, at: Option<Millis>, event: Event<'_>) {
        self.0.push((at, event.into_owned()));
    }
}

impl RecordedEvents {
    /// All events in order.
    pub(crate) fn events(&self) -> impl Iterator<Item = &Event<'static>> {
        self.0.iter().map(|(_, event)| event)
    }

    /// One JSON record per line.
    pub(crate) fn to_json_lines(&self) -> String {
        let mut lines = String::new();
        for (seq, (at_ms, event)) in self.0.iter().enumerate() {
            let record =
                Record { seq: seq as u64, at_ms: *at_ms, run: "run".into(), event: event.clone() };
            lines.push_str(&serde_json::to_string(&record).unwrap());
            lines.push('\n');
        }
        lines
    }

    /// The text of all messages that were not withdrawn, joined.
    pub(crate) fn visible_text(&self) -> String {
        let mut texts: Vec<(millpond_engine::event::MessageId, String)> = Vec::new();
        for event in self.events() {
            match event {
                Event::TextAppended { message, text } => {
                    match texts.iter_mut().rev().find(|(id, _)| id == message) {
                        Some((_, whole)) => whole.push_str(text),
                        None => texts.push((*message, text.to_string())),
                    }
                }
                Event::TextRewritten { message, kept_bytes, text } => {
                    if let Some((_, whole)) = texts.iter_mut().find(|(id, _)| id == message) {
                        whole.truncate(*kept_bytes);
                        whole.push_str(text);
                    }
                }
                Event::Withdrawn { messages, .. } => {
                    texts.retain(|(id, _)| !messages.contains(id));
                }
                _ => {}
            }
        }
        texts.into_iter().map(|(_, text)| text).collect()
    }

    /// Number of `RunEnded` events.
    pub(crate) fn ending_count(&self) -> usize {
        self.events().filter(|event| matches!(event, Event::RunEnded { .. })).count()
    }
}

/// Ingests a stream in these chunks.
pub(crate) fn ingest<'a>(
    options: &IngestOptions,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> RecordedEvents {
    let mut ingest = Ingest::new(options);
    let mut kept = RecordedEvents::default();
    for chunk in chunks {
        ingest.push(chunk, None, &mut kept);
    }
    ingest.finish(InputEnd::EndOfInput, None, &mut kept);
    kept
}

/// Ingests a stream in one chunk, with default options.
pub(crate) fn ingest_whole(bytes: &[u8]) -> RecordedEvents {
    ingest(&IngestOptions::default(), [bytes])
}

/// The folder `fixtures/`.
pub(crate) fn fixtures_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

/// All files below `dir`, sorted.
pub(crate) fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![dir.to_path_buf()];
    while let Some(dir) = pending.pop() {
        for entry in std::fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
