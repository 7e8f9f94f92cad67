//! The file of sent messages, appended in order on a blocking thread.

use std::io::Write;
use std::path::{Path, PathBuf};

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::input::history::encode_entry;
use crate::limits::HISTORY_ENTRIES_QUEUED_MAX;

/// Appends messages to the history file without blocking the event loop.
#[derive(Debug)]
pub(super) struct HistoryFile {
    entries: mpsc::Sender<String>,
    writer: JoinHandle<()>,
}

impl HistoryFile {
    /// Starts the writer; without a file, messages are dropped.
    pub(super) fn start_writer(path: Option<PathBuf>) -> HistoryFile {
        let (entries, mut queued) = mpsc::channel::<String>(HISTORY_ENTRIES_QUEUED_MAX);
        let writer = tokio::task::spawn_blocking(move || {
            while let Some(text) = queued.blocking_recv() {
                if let Some(path) = &path {
                    // The chat works without its history.
                    let _unsaved = append_entry(path, &text);
                }
            }
        });
        HistoryFile { entries, writer }
    }

    /// Queues a message; dropped if the disk is too slow.
    pub(super) fn append_in_background_unless_queue_full(&self, text: String) {
        let _dropped = self.entries.try_send(text);
    }

    /// Waits until everything is written.
    pub(super) async fn close(self) {
        drop(self.entries);
        let _panicked = self.writer.await;
    }
}

fn append_entry(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(encode_entry(text).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::history::decode_entries;

    #[tokio::test]
    async fn messages_are_appended_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.jsonl");
        for texts in [["a\nb", "c"], ["d", "e"]] {
            let file = HistoryFile::start_writer(Some(path.clone()));
            for text in texts {
                file.append_in_background_unless_queue_full(text.to_owned());
            }
            file.close().await;
        }
        let written = std::fs::read_to_string(&path).unwrap();
        assert_eq!(decode_entries(&written), ["a\nb", "c", "d", "e"]);
    }
}
