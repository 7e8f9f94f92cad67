//! Feeding streams and comparing what comes of them.

use std::path::{Path, PathBuf};

use engine::event::{Event, Millis, Record, Sink};
use engine::ingest::{Ingest, Options};
use engine::run::Cut;

/// Keeps every event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept(pub(crate) Vec<(Option<Millis>, Event<'static>)>);

impl Sink for Kept {
    fn event(&mut self, at: Option<Millis>, event: Event<'_>) {
        self.0.push((at, event.into_owned()));
    }
}

impl Kept {
    pub(crate) fn events(&self) -> impl Iterator<Item = &Event<'static>> {
        self.0.iter().map(|(_, event)| event)
    }

    /// One JSON record per line.
    pub(crate) fn lines(&self) -> String {
        let mut lines = String::new();
        for (seq, (at_ms, event)) in self.0.iter().enumerate() {
            let record =
                Record { seq: seq as u64, at_ms: *at_ms, run: "run".into(), event: event.clone() };
            lines.push_str(&serde_json::to_string(&record).unwrap());
            lines.push('\n');
        }
        lines
    }

    /// The text of every message, joined.
    pub(crate) fn visible(&self) -> String {
        let mut texts: Vec<(engine::event::MessageId, String)> = Vec::new();
        for event in self.events() {
            match event {
                Event::TextAppended { message, text } => match texts.last_mut() {
                    Some((last, whole)) if last == message => whole.push_str(text),
                    _ => texts.push((*message, text.to_string())),
                },
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

    pub(crate) fn endings(&self) -> usize {
        self.events().filter(|event| matches!(event, Event::RunEnded { .. })).count()
    }
}

pub(crate) fn ingest<'a>(options: &Options, chunks: impl IntoIterator<Item = &'a [u8]>) -> Kept {
    let mut ingest = Ingest::new(options);
    let mut kept = Kept::default();
    for chunk in chunks {
        ingest.push(chunk, None, &mut kept);
    }
    ingest.finish(Cut::EndOfInput, None, &mut kept);
    kept
}

pub(crate) fn ingest_whole(bytes: &[u8]) -> Kept {
    ingest(&Options::default(), [bytes])
}

pub(crate) fn fixtures_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

/// All files below `dir`, in order.
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
