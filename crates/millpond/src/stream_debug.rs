//! `--stream-debug`: decisions about streams, as JSON lines on standard error or in a file.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use millpond_engine::event::{Event, Record, Trace};
use millpond_engine::wire::{Encoder, FrameFormat, StreamKind};
use millpond_log::stream_debug::StreamDebug;

use crate::args::StreamDebugArgs;
use crate::show::stream_summary::SESSION_ID;

/// File of the full-screen chat, in the data folder.
const FILE_NAME: &str = "stream-debug.jsonl";

/// Longest file; later lines are dropped.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// Place for the lines of a gateway in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DebugTarget {
    /// Nowhere.
    Off,
    /// Standard error.
    StandardError,
    /// A file in the data folder: lines on standard error would destroy the screen.
    File,
}

impl DebugTarget {
    /// Standard error, if the flag is set.
    pub(crate) fn standard_error_if_on(args: &StreamDebugArgs) -> DebugTarget {
        if args.stream_debug { DebugTarget::StandardError } else { DebugTarget::Off }
    }

    /// Turns the debug log of a gateway on. Returns a message that says where the lines are.
    pub(crate) fn turn_on(
        self,
        debug: &StreamDebug,
        data: &Path,
    ) -> Result<Option<String>, String> {
        match self {
            DebugTarget::Off => Ok(None),
            DebugTarget::StandardError => {
                debug.turn_on(print_debug_line);
                Ok(Some("stream debug: standard error".to_owned()))
            }
            DebugTarget::File => {
                let path = data.join(FILE_NAME);
                let file = DebugFile::create_or_overwrite(&path)?;
                debug.turn_on(move |line| file.append_line_within_limit(line));
                Ok(Some(format!("stream debug: {}", path.display())))
            }
        }
    }
}

/// File of debug lines; readable by its owner only, because it has the text of conversations.
struct DebugFile {
    path: PathBuf,
    open: Mutex<(File, u64)>,
}

impl DebugFile {
    fn create_or_overwrite(path: &Path) -> Result<DebugFile, String> {
        let options =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).clone();
        let file = options
            .open(path)
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        Ok(DebugFile { path: path.to_owned(), open: Mutex::new((file, 0)) })
    }

    /// Appends a line, unless the file would become too long.
    fn append_line_within_limit(&self, line: &str) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, bytes) = &mut *open;
        *bytes += line.len() as u64 + 1;
        if FILE_BYTES_MAX < *bytes {
            return;
        }
        if let Err(error) = file.write_all(format!("{line}\n").as_bytes()) {
            // No further attempt: the disk is probably full.
            *bytes = FILE_BYTES_MAX;
            tracing::warn!(%error, path = %self.path.display(), "cannot write the debug lines");
        }
    }
}

/// Debug lines of a stream that this process reads itself, on standard error.
pub(crate) enum DebugOutput {
    Off,
    /// The engine's traces, and the patches of these views.
    On {
        views: Vec<Encoder>,
    },
}

impl DebugOutput {
    /// Starts with the views that are shown.
    pub(crate) fn new(
        args: &StreamDebugArgs,
        views: impl IntoIterator<Item = StreamKind>,
    ) -> DebugOutput {
        if !args.stream_debug {
            return DebugOutput::Off;
        }
        let encoders = views.into_iter().map(|kind| {
            Encoder::new(StreamKind { format: FrameFormat::Patch, ..kind }, SESSION_ID)
        });
        DebugOutput::On { views: encoders.collect() }
    }

    /// Prints the patches of the views for this record.
    pub(crate) fn print_view_patches_if_on(&mut self, record: &Record<'_>) {
        let DebugOutput::On { views } = self else { return };
        for encoder in views {
            encoder.push(record, &mut |frame| {
                let name = frame.id.kind.view.as_str();
                print_debug_line(&format!(
                    "{{\"debug\":\"view\",\"view\":\"{name}\",\"at\":\"{}\",\"patch\":{}}}",
                    frame.id, frame.data
                ));
            });
            let suppressed = encoder.suppressed_overlay_count();
            if let (Event::RunEnded { .. }, 1..) = (&record.event, suppressed) {
                print_debug_line(&format!(
                    "{{\"debug\":\"overlays_suppressed\",\"count\":{suppressed}}}"
                ));
            }
        }
    }

    /// Prints a decision of the engine.
    pub(crate) fn print_trace_if_on(&self, trace: &Trace<'_>) {
        if let (DebugOutput::On { .. }, Ok(line)) = (self, serde_json::to_string(trace)) {
            print_debug_line(&line);
        }
    }
}

#[allow(clippy::print_stderr, reason = "asked for with --stream-debug")]
pub(crate) fn print_debug_line(line: &str) {
    eprintln!("{line}");
}
