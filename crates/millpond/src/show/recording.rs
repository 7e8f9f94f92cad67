//! Keeping a raw stream with its times, and playing it back.
//!
//! A recording is JSON lines: a header, then one line for each stretch of bytes that came together,
//! with the time of its arrival. Stretches end at line ends, so that no secret is cut in two before
//! it is blacked out; only a line that is longer than any sane one is cut elsewhere.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use engine::event::Millis;
use serde::{Deserialize, Serialize};

use super::redact::redacted;
use super::stop::Stop;

const HEADER: &str = "{\"millpond_recording\":1}\n";

/// Longest line kept back for its end; a longer one is written in parts, cut between words.
const LINE_BYTES_MAX: usize = 4 << 20;

/// Longest line of a recording: a stretch, escaped.
const RECORDED_LINE_BYTES_MAX: usize = 8 * LINE_BYTES_MAX;

/// Longest pause that is played back.
const PAUSE_MAX: Duration = Duration::from_secs(30);

#[derive(Serialize, Deserialize)]
struct Stretch {
    at_ms: Millis,
    text: String,
}

pub(super) struct Recorder {
    out: BufWriter<File>,
    pending: Vec<u8>,
}

fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX)
}

impl Recorder {
    pub(super) fn create(path: &Path) -> std::io::Result<Recorder> {
        let mut out = BufWriter::new(File::create_new(path)?);
        out.write_all(HEADER.as_bytes())?;
        Ok(Recorder { out, pending: Vec::new() })
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let before = self.pending.len();
        self.pending.extend_from_slice(bytes);
        let end = match bytes.iter().rposition(|&byte| byte == b'\n') {
            Some(last) => before + last + 1,
            None if LINE_BYTES_MAX < self.pending.len() => cut_of(&self.pending),
            None => return Ok(()),
        };
        let rest = self.pending.split_off(end);
        let stretch = std::mem::replace(&mut self.pending, rest);
        self.write(&stretch)
    }

    pub(super) fn finish(mut self) -> std::io::Result<()> {
        let stretch = std::mem::take(&mut self.pending);
        if !stretch.is_empty() {
            self.write(&stretch)?;
        }
        self.out.flush()
    }

    fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let text = redacted(&String::from_utf8_lossy(bytes));
        serde_json::to_writer(&mut self.out, &Stretch { at_ms: now(), text })?;
        self.out.write_all(b"\n")?;
        self.out.flush()
    }
}

/// Where a line that is too long can be cut: between words, else between characters.
fn cut_of(bytes: &[u8]) -> usize {
    let between = bytes.iter().rposition(|byte| matches!(byte, b' ' | b'"' | b','));
    match (between, std::str::from_utf8(bytes)) {
        (Some(at), _) => at + 1,
        (None, Err(error)) if error.error_len().is_none() => error.valid_up_to(),
        (None, _) => bytes.len(),
    }
}

/// Where played bytes go, with the time they first came.
pub(super) type PlayTo<'a> = dyn FnMut(&[u8], Option<Millis>) + 'a;

/// What is done about the time between two stretches.
pub(super) enum Pause<'a> {
    None,
    /// Waited for, unless somebody asks to stop.
    AsItCame(&'a Stop),
}

impl Pause<'_> {
    fn is_stopped_after(&self, pause: Duration) -> bool {
        match self {
            Pause::None => false,
            Pause::AsItCame(stop) => stop.is_asked_within(pause),
        }
    }
}

/// Passes a stream through, unless it is a recording: then it plays what was recorded.
#[derive(Default)]
pub(super) struct Player {
    state: State,
}

#[derive(Default)]
enum State {
    #[default]
    Unsure,
    Waiting(Vec<u8>),
    PassingThrough,
    Playing {
        pending: Vec<u8>,
        /// No line ends before this.
        searched: usize,
        last: Option<Millis>,
        line: usize,
    },
}

/// A line of a recording that cannot be played.
#[derive(Debug)]
pub(super) struct BadRecording {
    line: usize,
    problem: String,
}

impl std::fmt::Display for BadRecording {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the recording is damaged at line {}: {}", self.line, self.problem)
    }
}

impl Player {
    pub(super) fn push(
        &mut self,
        bytes: &[u8],
        pause: &Pause<'_>,
        out: &mut PlayTo<'_>,
    ) -> Result<(), BadRecording> {
        let bytes = match std::mem::take(&mut self.state) {
            State::PassingThrough => {
                self.state = State::PassingThrough;
                out(bytes, None);
                return Ok(());
            }
            playing @ State::Playing { .. } => {
                self.state = playing;
                bytes.to_vec()
            }
            State::Unsure => bytes.to_vec(),
            State::Waiting(mut seen) => {
                seen.extend_from_slice(bytes);
                seen
            }
        };
        if let State::Playing { pending, .. } = &mut self.state {
            pending.extend_from_slice(&bytes);
            return self.play(pause, out);
        }
        let header = HEADER.as_bytes();
        if let Some(rest) = bytes.strip_prefix(header) {
            self.state =
                State::Playing { pending: rest.to_vec(), searched: 0, last: None, line: 1 };
            return self.play(pause, out);
        }
        if header.starts_with(&bytes) {
            self.state = State::Waiting(bytes);
        } else {
            self.state = State::PassingThrough;
            out(&bytes, None);
        }
        Ok(())
    }

    pub(super) fn finish(
        &mut self,
        pause: &Pause<'_>,
        out: &mut PlayTo<'_>,
    ) -> Result<(), BadRecording> {
        match &mut self.state {
            State::Waiting(seen) => out(&std::mem::take(seen), None),
            State::Playing { pending, .. } if !pending.is_empty() => {
                pending.push(b'\n');
                return self.play(pause, out);
            }
            _ => {}
        }
        Ok(())
    }

    fn play(&mut self, pause: &Pause<'_>, out: &mut PlayTo<'_>) -> Result<(), BadRecording> {
        let State::Playing { pending, searched, last, line } = &mut self.state else {
            return Ok(());
        };
        let Some(end) = pending[*searched..].iter().rposition(|&byte| byte == b'\n') else {
            *searched = pending.len();
            if RECORDED_LINE_BYTES_MAX < pending.len() {
                let problem = "it is too long".to_owned();
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
            let stretch: Stretch = serde_json::from_slice(text)
                .map_err(|error| BadRecording { line: *line, problem: error.to_string() })?;
            let since = stretch.at_ms.saturating_sub(last.unwrap_or(stretch.at_ms));
            if pause.is_stopped_after(Duration::from_millis(since).min(PAUSE_MAX)) {
                return Ok(());
            }
            *last = Some(stretch.at_ms);
            out(stretch.text.as_bytes(), Some(stretch.at_ms));
        }
        Ok(())
    }
}
