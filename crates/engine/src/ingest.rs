//! Turns provider bytes into canonical events: bytes are cut into frames, a dialect reads the
//! frames, the run machine filters and orders the result.
//!
//! Invariant: the events do not depend on chunk boundaries, and any input has exactly one ending.

mod dialect;
pub mod frame;
mod json;
mod probe;
mod split_surrogates;
mod time;

pub use crate::run::Quirk;
pub use dialect::{DialectName, UnknownDialect};

use crate::event::{
    DroppedReason, Event, FailureReason, Millis, Sink, TextMode, Trace, UnrecognisedReason,
};
use crate::limits::{PROBE_BYTES_MAX, PROBE_FRAMES_MAX, UNREADABLE_BYTES_KEPT};
use crate::run::{InputEnd, ReportedEnd, Run, RunOptions, Writer};

use dialect::AnyDialect;
use frame::{Cutter, CutterOutput, Frame, FrameOrigin};
use probe::{Likeness, Probe};
use split_surrogates::SplitSurrogates;

/// Settings of one source, fixed before its first byte.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IngestOptions {
    /// Dialect of the input; `None` detects it from the first frames.
    pub dialect: Option<DialectName>,
    /// Options of the run machine.
    pub run: RunOptions,
}

/// Incremental parser from the bytes of one source to events.
#[derive(Clone, Debug, PartialEq)]
pub struct Ingest {
    cutter: Cutter,
    interpreter: FrameInterpreter,
}

/// Detects the dialect and feeds it the cutter's output.
#[derive(Clone, Debug, PartialEq)]
struct FrameInterpreter {
    surrogates: SplitSurrogates,
    run: Run,
    stage: DialectStage,
    input_seen: InputSeen,
}

/// Records if any input has been pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InputSeen {
    Nothing,
    Something,
}

/// Progress of dialect detection.
#[derive(Clone, Debug, PartialEq)]
enum DialectStage {
    /// No dialect is certain yet; the input is buffered.
    Probing {
        /// Cutter output with its arrival time.
        buffered: Vec<(Option<Millis>, BufferedOutput)>,
        buffered_bytes: usize,
        best_guess: Option<DialectName>,
    },
    Known(Box<AnyDialect>),
    /// No dialect matches; all input becomes `unrecognised` events.
    Unknown,
}

/// Owned copy of a [`CutterOutput`], buffered until the dialect is known.
#[derive(Clone, Debug, PartialEq)]
enum BufferedOutput {
    Frame { name: String, data: String, origin: FrameOrigin },
    TooLong(String),
    Noise(String),
}

impl Ingest {
    /// Creates a parser that has seen no input.
    pub fn new(options: &IngestOptions) -> Ingest {
        let stage = match options.dialect {
            Some(name) => DialectStage::Known(Box::new(AnyDialect::new(name))),
            None => {
                DialectStage::Probing { buffered: Vec::new(), buffered_bytes: 0, best_guess: None }
            }
        };
        Ingest {
            cutter: Cutter::default(),
            interpreter: FrameInterpreter {
                surrogates: SplitSurrogates::default(),
                run: Run::new(&options.run),
                stage,
                input_seen: InputSeen::Nothing,
            },
        }
    }

    /// Dialect of the input, or `None` while it is undetected or unknown.
    pub fn dialect(&self) -> Option<DialectName> {
        match &self.interpreter.stage {
            DialectStage::Known(dialect) => Some(dialect.name()),
            DialectStage::Probing { .. } | DialectStage::Unknown => None,
        }
    }

    /// Parses one chunk of bytes that arrived at `at`; chunk boundaries may fall anywhere.
    pub fn push(&mut self, bytes: &[u8], at: Option<Millis>, sink: &mut dyn Sink) {
        let Ingest { cutter, interpreter: reader } = self;
        cutter.push(bytes, &mut |cutting| reader.join_surrogates_and_push(cutting, at, sink));
    }

    /// Writer of the same run, for a caller that runs the tools itself.
    pub fn writer<'a>(&'a mut self, at: Option<Millis>, sink: &'a mut dyn Sink) -> Writer<'a> {
        self.interpreter.run.writer(at, sink)
    }

    /// Restores state from one logged event of the run that is resumed.
    pub fn replay_event(&mut self, event: &Event<'_>) {
        self.interpreter.input_seen = InputSeen::Something;
        self.interpreter.run.replay_event(event);
    }

    /// Ends one model reply but not the run; another reply may follow. Returns how it ended.
    pub fn end_reply(&mut self, at: Option<Millis>, sink: &mut dyn Sink) -> ReportedEnd {
        let Ingest { cutter, interpreter: reader } = self;
        cutter.finish(&mut |cutting| reader.join_surrogates_and_push(cutting, at, sink));
        *cutter = Cutter::default();
        reader.end_reply(at, sink)
    }

    /// Ends the input and the run.
    pub fn finish(&mut self, cut: InputEnd, at: Option<Millis>, sink: &mut dyn Sink) {
        let Ingest { cutter, interpreter: reader } = self;
        cutter.finish(&mut |cutting| reader.join_surrogates_and_push(cutting, at, sink));
        reader.finish(cut, at, sink);
    }
}

impl FrameInterpreter {
    /// Routes one cutter output after joining surrogate pairs that were split over two frames.
    fn join_surrogates_and_push(
        &mut self,
        cutting: CutterOutput<'_>,
        at: Option<Millis>,
        sink: &mut dyn Sink,
    ) {
        match cutting {
            CutterOutput::Frame(frame) => {
                let data = self.surrogates.join_pairs(frame.data);
                self.push(CutterOutput::Frame(Frame { data: &data, ..frame }), at, sink);
            }
            CutterOutput::TooLong { .. } | CutterOutput::Noise(_) => self.push(cutting, at, sink),
        }
    }

    /// Routes one cutter output to the dialect, to probing, or to `unrecognised`.
    fn push(&mut self, cutting: CutterOutput<'_>, at: Option<Millis>, sink: &mut dyn Sink) {
        if self.run.is_ended() {
            let reason = DroppedReason::Late;
            return sink.on_trace(Trace::Dropped { bytes: cutting.byte_len(), reason });
        }
        self.input_seen = InputSeen::Something;
        match &mut self.stage {
            DialectStage::Known(dialect) => {
                let mut out = self.run.writer(at, sink);
                out.start_run(dialect.name().as_str(), dialect.mode());
                push_to_dialect(dialect, cutting, &mut out);
            }
            DialectStage::Unknown => {
                let mut out = self.run.writer(at, sink);
                write_unrecognised(cutting, &mut out);
            }
            DialectStage::Probing { .. } => self.detect_dialect_or_buffer(cutting, at, sink),
        }
    }

    /// Matches a frame against all dialects; buffers it until one is certain or a limit is hit.
    fn detect_dialect_or_buffer(
        &mut self,
        cutting: CutterOutput<'_>,
        at: Option<Millis>,
        sink: &mut dyn Sink,
    ) {
        let likeness = match cutting {
            CutterOutput::Frame(frame) => Probe::new(frame).map(|probe| probe.best_dialect()),
            CutterOutput::TooLong { .. } | CutterOutput::Noise(_) => None,
        };
        if let Some((name, Likeness::Yes)) = likeness {
            self.set_dialect_and_replay_buffer(Some(name), at, sink);
            return self.push(cutting, at, sink);
        }
        let DialectStage::Probing { buffered: waiting, buffered_bytes: bytes, best_guess: best } =
            &mut self.stage
        else {
            return;
        };
        if let Some((name, Likeness::Maybe)) = likeness {
            *best = best.or(Some(name));
        }
        *bytes += cutting.byte_len();
        waiting.push((at, BufferedOutput::from(cutting)));
        if PROBE_FRAMES_MAX <= waiting.len() || PROBE_BYTES_MAX < *bytes {
            let best = *best;
            self.set_dialect_and_replay_buffer(best, at, sink);
        }
    }

    /// Fixes the dialect (or `None`) and replays the buffered input.
    fn set_dialect_and_replay_buffer(
        &mut self,
        name: Option<DialectName>,
        at: Option<Millis>,
        sink: &mut dyn Sink,
    ) {
        let stage = match name {
            Some(name) => DialectStage::Known(Box::new(AnyDialect::new(name))),
            None => DialectStage::Unknown,
        };
        let DialectStage::Probing { buffered: waiting, .. } =
            std::mem::replace(&mut self.stage, stage)
        else {
            return;
        };
        let dialect = name.map_or("unknown", DialectName::as_str);
        sink.on_trace(Trace::DialectChosen { dialect, frames_before: waiting.len() });
        if name.is_none() {
            let first = waiting.first().map_or(at, |(came, _)| *came);
            self.run.writer(first, sink).start_run(dialect, TextMode::Incremental);
        }
        for (came, cutting) in &waiting {
            self.push(cutting.as_cutter_output(), *came, sink);
        }
    }

    /// Ends one reply: fixes the dialect, writes held content and resets the dialect's state.
    fn end_reply(&mut self, at: Option<Millis>, sink: &mut dyn Sink) -> ReportedEnd {
        if let DialectStage::Probing { best_guess: best, .. } = &self.stage {
            let best = *best;
            self.set_dialect_and_replay_buffer(best, at, sink);
        }
        let mut out = self.run.writer(at, sink);
        if let DialectStage::Known(dialect) = &mut self.stage {
            dialect.finish(&mut out);
            **dialect = AnyDialect::new(dialect.name());
        }
        out.end_reply_keeping_reported_end()
    }

    /// Ends the run, as failed if the input is empty or has no known dialect.
    fn finish(&mut self, cut: InputEnd, at: Option<Millis>, sink: &mut dyn Sink) {
        if self.run.is_ended() {
            return;
        }
        if let DialectStage::Probing { best_guess: best, .. } = &self.stage {
            let best = *best;
            self.set_dialect_and_replay_buffer(best, at, sink);
        }
        let mut out = self.run.writer(at, sink);
        match &mut self.stage {
            DialectStage::Known(dialect) => {
                out.start_run(dialect.name().as_str(), dialect.mode());
                dialect.finish(&mut out);
                if self.input_seen == InputSeen::Nothing {
                    out.report_failed_and_end_text(FailureReason::Empty, "the input is empty");
                }
            }
            DialectStage::Probing { .. } | DialectStage::Unknown => match self.input_seen {
                InputSeen::Nothing => {
                    out.report_failed_and_end_text(FailureReason::Empty, "the input is empty");
                }
                InputSeen::Something => out.report_failed_and_end_text(
                    FailureReason::Unrecognised,
                    "for Claude Code add `--output-format stream-json --verbose`, or name the \
                     format with --from",
                ),
            },
        }
        out.end_run(cut);
    }
}

/// Pushes one cutter output to the dialect; a frame it cannot read becomes `unrecognised`.
fn push_to_dialect(dialect: &mut AnyDialect, cutting: CutterOutput<'_>, out: &mut Writer<'_>) {
    match cutting {
        CutterOutput::Frame(frame) if frame.data.trim_ascii() == "[DONE]" => {
            dialect.push_done_marker(out);
        }
        CutterOutput::Frame(frame) if frame.data.trim_ascii().is_empty() => {}
        CutterOutput::Frame(frame) => {
            if dialect.push_frame(frame, out).is_err() {
                out.append_unrecognised(
                    UnrecognisedReason::Unreadable,
                    unreadable_prefix(frame.data),
                );
            }
        }
        CutterOutput::TooLong { .. } | CutterOutput::Noise(_) => write_unrecognised(cutting, out),
    }
}

/// Writes one cutter output as an `unrecognised` event.
fn write_unrecognised(cutting: CutterOutput<'_>, out: &mut Writer<'_>) {
    match cutting {
        CutterOutput::Frame(frame) => {
            out.append_unrecognised(UnrecognisedReason::Frame, frame.data);
        }
        CutterOutput::TooLong { beginning } => {
            out.append_unrecognised(UnrecognisedReason::TooLong, beginning);
        }
        CutterOutput::Noise(text) => {
            out.append_unrecognised(UnrecognisedReason::Unreadable, unreadable_prefix(text));
        }
    }
}

/// At most [`UNREADABLE_BYTES_KEPT`] bytes from the start of `text`.
fn unreadable_prefix(text: &str) -> &str {
    let mut end = text.len().min(UNREADABLE_BYTES_KEPT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

impl CutterOutput<'_> {
    /// Bytes of the name and payload.
    fn byte_len(&self) -> usize {
        match self {
            CutterOutput::Frame(frame) => frame.name.len() + frame.data.len(),
            CutterOutput::TooLong { beginning: text } | CutterOutput::Noise(text) => text.len(),
        }
    }
}

impl From<CutterOutput<'_>> for BufferedOutput {
    fn from(cutting: CutterOutput<'_>) -> BufferedOutput {
        match cutting {
            CutterOutput::Frame(Frame { name, data, origin: from, id: _ }) => {
                BufferedOutput::Frame { name: name.to_owned(), data: data.to_owned(), origin: from }
            }
            CutterOutput::TooLong { beginning } => BufferedOutput::TooLong(beginning.to_owned()),
            CutterOutput::Noise(text) => BufferedOutput::Noise(text.to_owned()),
        }
    }
}

impl BufferedOutput {
    /// Borrows it as the cutter output that it copies; the frame's id is not kept.
    fn as_cutter_output(&self) -> CutterOutput<'_> {
        match self {
            BufferedOutput::Frame { name, data, origin: from } => {
                CutterOutput::Frame(Frame { name, id: "", data, origin: *from })
            }
            BufferedOutput::TooLong(beginning) => CutterOutput::TooLong { beginning },
            BufferedOutput::Noise(text) => CutterOutput::Noise(text),
        }
    }
}
