//! Records a raw stream with timestamps, and plays recordings back.
//!
//! A recording is JSON lines: a header, then one line per chunk with its arrival time. Chunks end
//! at line ends, so that no secret is split before it is redacted; only a line longer than
//! `LINE_BYTES_MAX` is cut elsewhere.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use millpond_engine::event::Millis;
use serde::{Deserialize, Serialize};

use super::redact::redact_secrets;
use super::stop_signal::StopFlag;

const HEADER: &str = "{\"millpond_recording\":1}\n";

/// Longest line buffered until its end; a longer one is written in parts, cut between words.
const LINE_BYTES_MAX: usize = 4 << 20;

/// Longest line of a recording: an escaped chunk.
const RECORDED_LINE_BYTES_MAX: usize = 8 * LINE_BYTES_MAX;

/// Longest pause during playback.
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// One line of a recording.
#[derive(Serialize, Deserialize)]
struct RecordedChunk {
    at_ms: Millis,
    text: String,
}

/// Writes a recording, with secrets redacted.
pub(super) struct Recorder {
    out: BufWriter<File>,
    pending: Vec<u8>,
}

fn now_ms() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX)
}

impl Recorder {
    /// Creates the file, which must not exist, and writes the header.
    pub(super) fn create_new(path: &Path) -> std::io::Result<Recorder> {
        let mut out = BufWriter::new(File::create_new(path)?);
        out.write_all(HEADER.as_bytes())?;
        Ok(Recorder { out, pending: Vec::new() })
    }

    /// Writes all complete lines; keeps the rest for the next call.
    pub(super) fn write_complete_lines(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let before = self.pending.len();
        self.pending.extend_from_slice(bytes);
        let end = match bytes.iter().rposition(|&byte| byte == b'\n') {
            Some(last) => before + last + 1,
            None if LINE_BYTES_MAX < self.pending.len() => find_cut_position(&self.pending),
            None => return Ok(()),
        };
        let rest = self.pending.split_off(end);
        let stretch = std::mem::replace(&mut self.pending, rest);
        self.write_redacted_chunk(&stretch)
    }

    /// Writes what is left and flushes.
    pub(super) fn finish(mut self) -> std::io::Result<()> {
        let stretch = std::mem::take(&mut self.pending);
        if !stretch.is_empty() {
            self.write_redacted_chunk(&stretch)?;
        }
        self.out.flush()
    }

    fn write_redacted_chunk(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let text = redact_secrets(&String::from_utf8_lossy(bytes));
        serde_json::to_writer(&mut self.out, &RecordedChunk { at_ms: now_ms(), text })?;
        self.out.write_all(b"\n")?;
        self.out.flush()
    }
}

/// Position at which to cut a line that is too long: after a word, else between characters.
fn find_cut_position(bytes: &[u8]) -> usize {
    let between = bytes.iter().rposition(|byte| matches!(byte, b' ' | b'"' | b','));
    match (between, std::str::from_utf8(bytes)) {
        (Some(at), _) => at + 1,
        (None, Err(error)) if error.error_len().is_none() => error.valid_up_to(),
        (None, _) => bytes.len(),
    }
}

/// Receives the played bytes, with their recorded time.
pub(super) type PlaybackSink<'a> = dyn FnMut(&[u8], Option<Millis>) + 'a;

/// Handling of the time between two recorded chunks.
pub(super) enum PlaybackPacing<'a> {
    Immediate,
    /// Waits as long as it took, or until a stop is requested.
    RealTime(&'a StopFlag),
}

impl PlaybackPacing<'_> {
    /// Waits, if pacing is real; returns true if a stop was requested meanwhile.
    fn wait_if_paced_and_check_stop(&self, pause: Duration) -> bool {
        match self {
            PlaybackPacing::Immediate => false,
            PlaybackPacing::RealTime(stop) => stop.sleep_unless_stop_requested(pause),
        }
    }
}

/// Plays a recording; passes any other input through unchanged.
#[derive(Default)]
pub(super) struct Player {
    state: PlayerState,
}

#[derive(Default)]
enum PlayerState {
    #[default]
    Undecided,
    /// Input so far, which is a prefix of the header.
    PartialHeader(Vec<u8>),
    PassingThrough,
    Playing {
        pending: Vec<u8>,
        /// Bytes of `pending` known to contain no line end.
        searched: usize,
        last: Option<Millis>,
        line: usize,
    },
}

/// Unreadable line of a recording.
#[derive(Debug)]
pub(super) struct BadRecording {
    line: usize,
    problem: String,
}

impl std::fmt::Display for BadRecording {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "recording damaged at line {}: {}", self.line, self.problem)
    }
}

impl Player {
    /// Plays the complete recorded lines in `bytes`, or passes the bytes through.
    pub(super) fn push(
        &mut self,
        bytes: &[u8],
        pause: &PlaybackPacing<'_>,
        out: &mut PlaybackSink<'_>,
    ) -> Result<(), BadRecording> {
        let bytes = match std::mem::take(&mut self.state) {
            PlayerState::PassingThrough => {
                self.state = PlayerState::PassingThrough;
                out(bytes, None);
                return Ok(());
            }
            playing @ PlayerState::Playing { .. } => {
                self.state = playing;
                bytes.to_vec()
            }
            PlayerState::Undecided => bytes.to_vec(),
            PlayerState::PartialHeader(mut seen) => {
                seen.extend_from_slice(bytes);
                seen
            }
        };
        if let PlayerState::Playing { pending, .. } = &mut self.state {
            pending.extend_from_slice(&bytes);
            return self.play_complete_lines(pause, out);
        }
        let header = HEADER.as_bytes();
        if let Some(rest) = bytes.strip_prefix(header) {
            self.state =
                PlayerState::Playing { pending: rest.to_vec(), searched: 0, last: None, line: 1 };
            return self.play_complete_lines(pause, out);
        }
        if header.starts_with(&bytes) {
            self.state = PlayerState::PartialHeader(bytes);
        } else {
            self.state = PlayerState::PassingThrough;
            out(&bytes, None);
        }
        Ok(())
    }

    /// Plays or passes through what is left at the end of the input.
    pub(super) fn finish(
        &mut self,
        pause: &PlaybackPacing<'_>,
        out: &mut PlaybackSink<'_>,
    ) -> Result<(), BadRecording> {
        match &mut self.state {
            PlayerState::PartialHeader(seen) => out(&std::mem::take(seen), None),
            PlayerState::Playing { pending, .. } if !pending.is_empty() => {
                pending.push(b'\n');
                return self.play_complete_lines(pause, out);
            }
            _ => {}
        }
        Ok(())
    }

    /// Plays the complete lines of the pending bytes.
    fn play_complete_lines(
        &mut self,
        pause: &PlaybackPacing<'_>,
        out: &mut PlaybackSink<'_>,
    ) -> Result<(), BadRecording> {
        let PlayerState::Playing { pending, searched, last, line } = &mut self.state else {
            return Ok(());
        };
        let Some(end) = pending[*searched..].iter().rposition(|&byte| byte == b'\n') else {
            *searched = pending.len();
            if RECORDED_LINE_BYTES_MAX < pending.len() {
                let problem = "line too long".to_owned();
                return Err(BadRecording { line: *line + 1, problem });
            }
            return Ok(());
        };
        let end = *searched + end;
        *searched = 0;
        let rest = pending.split_off(end + 1);
        let lines = std::mem::replace(pending, rest);
        for text in lines.split(|&byte| byte == b'\n') {
            if text.is_empty() {
                continue;
            }
            *line += 1;
            let stretch: RecordedChunk = serde_json::from_slice(text)
                .map_err(|error| BadRecording { line: *line, problem: error.to_string() })?;
            let since = stretch.at_ms.saturating_sub(last.unwrap_or(stretch.at_ms));
            if pause.wait_if_paced_and_check_stop(Duration::from_millis(since).min(PAUSE_MAX)) {
                return Ok(());
            }
            *last = Some(stretch.at_ms);
            out(stretch.text.as_bytes(), Some(stretch.at_ms));
        }
        Ok(())
    }
}
