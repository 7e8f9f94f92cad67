//! Provider bytes to canonical events: cut into frames, understood by a dialect, filtered, ordered
//! by the run machine.
//!
//! Invariant: however the bytes are cut, the events are the same; whatever the bytes are, there is
//! exactly one ending.

mod dialect;
pub mod filter;
pub mod frame;
mod json;
mod probe;
mod time;

pub use crate::run::Quirk;
pub use dialect::{DialectName, UnknownDialect};

use crate::event::{
    DroppedReason, Event, FailureReason, Millis, Sink, TextMode, Trace, UnrecognisedReason,
};
use crate::limits::{PROBE_BYTES_MAX, PROBE_FRAMES_MAX, UNREADABLE_BYTES_KEPT};
use crate::run::{Cut, Run, RunOptions, Verdict, Writer};

use dialect::Speaker;
use frame::{Cutter, Cutting, Direction, Frame};
use probe::{Likeness, Probe};

/// What is known about a source before its first byte.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The dialect it speaks; found out from its first frames if not given.
    pub from: Option<DialectName>,
    pub run: RunOptions,
}

/// One source on its way to becoming events.
#[derive(Clone, Debug, PartialEq)]
pub struct Ingest {
    cutter: Cutter,
    reader: Reader,
}

/// All but the cutter, which hands frames to it.
#[derive(Clone, Debug, PartialEq)]
struct Reader {
    run: Run,
    stage: Stage,
    input: Input,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Input {
    Nothing,
    Something,
}

#[derive(Clone, Debug, PartialEq)]
enum Stage {
    /// No dialect is certain yet; what came waits.
    Probing {
        /// With the times at which they came.
        waiting: Vec<(Option<Millis>, Waiting)>,
        bytes: usize,
        best: Option<DialectName>,
    },
    Speaking(Box<Speaker>),
    /// No dialect knows the input; all of it is kept as unrecognised.
    Lost,
}

/// A [`Cutting`] that waits for its dialect.
#[derive(Clone, Debug, PartialEq)]
enum Waiting {
    Frame { name: String, data: String, from: Direction },
    TooLong(String),
    Noise(String),
}

impl Ingest {
    pub fn new(options: &Options) -> Ingest {
        let stage = match options.from {
            Some(name) => Stage::Speaking(Box::new(Speaker::new(name))),
            None => Stage::Probing { waiting: Vec::new(), bytes: 0, best: None },
        };
        Ingest {
            cutter: Cutter::default(),
            reader: Reader { run: Run::new(&options.run), stage, input: Input::Nothing },
        }
    }

    /// The dialect, once it is known.
    pub fn dialect(&self) -> Option<DialectName> {
        match &self.reader.stage {
            Stage::Speaking(speaker) => Some(speaker.name()),
            Stage::Probing { .. } | Stage::Lost => None,
        }
    }

    /// Feeds bytes exactly as they arrived, with the time of their arrival if it matters.
    pub fn push(&mut self, bytes: &[u8], at: Option<Millis>, sink: &mut dyn Sink) {
        let Ingest { cutter, reader } = self;
        cutter.push(bytes, &mut |cutting| reader.take(cutting, at, sink));
    }

    /// For whoever calls the model and runs its tools: says what came of them, in the same run.
    pub fn writer<'a>(&'a mut self, at: Option<Millis>, sink: &'a mut dyn Sink) -> Writer<'a> {
        self.reader.run.writer(at, sink)
    }

    /// Goes on with a run whose log says this: see [`Run::recall`].
    pub fn recall(&mut self, event: &Event<'_>) {
        self.reader.input = Input::Something;
        self.reader.run.recall(event);
    }

    /// The bytes of one reply are over, the run is not: another may follow. Says how it ended.
    pub fn end_reply(&mut self, at: Option<Millis>, sink: &mut dyn Sink) -> Verdict {
        let Ingest { cutter, reader } = self;
        cutter.finish(&mut |cutting| reader.take(cutting, at, sink));
        *cutter = Cutter::default();
        reader.end_reply(at, sink)
    }

    /// No more bytes come.
    pub fn finish(&mut self, cut: Cut, at: Option<Millis>, sink: &mut dyn Sink) {
        let Ingest { cutter, reader } = self;
        cutter.finish(&mut |cutting| reader.take(cutting, at, sink));
        reader.finish(cut, at, sink);
    }
}

impl Reader {
    fn take(&mut self, cutting: Cutting<'_>, at: Option<Millis>, sink: &mut dyn Sink) {
        if self.run.is_ended() {
            let reason = DroppedReason::Late;
            return sink.trace(Trace::Dropped { bytes: cutting.bytes(), reason });
        }
        self.input = Input::Something;
        match &mut self.stage {
            Stage::Speaking(speaker) => {
                let mut out = self.run.writer(at, sink);
                out.start(speaker.name().as_str(), speaker.mode());
                speak(speaker, cutting, &mut out);
            }
            Stage::Lost => {
                let mut out = self.run.writer(at, sink);
                keep(cutting, &mut out);
            }
            Stage::Probing { .. } => self.probe(cutting, at, sink),
        }
    }

    /// Looks whose frame this is; keeps it until that is certain.
    fn probe(&mut self, cutting: Cutting<'_>, at: Option<Millis>, sink: &mut dyn Sink) {
        let likeness = match cutting {
            Cutting::Frame(frame) => Probe::new(frame).map(|probe| probe.likeness()),
            Cutting::TooLong { .. } | Cutting::Noise(_) => None,
        };
        if let Some((name, Likeness::Yes)) = likeness {
            self.choose(Some(name), at, sink);
            return self.take(cutting, at, sink);
        }
        let Stage::Probing { waiting, bytes, best } = &mut self.stage else {
            return;
        };
        if let Some((name, Likeness::Maybe)) = likeness {
            *best = best.or(Some(name));
        }
        *bytes += cutting.bytes();
        waiting.push((at, Waiting::from(cutting)));
        if PROBE_FRAMES_MAX <= waiting.len() || PROBE_BYTES_MAX < *bytes {
            let best = *best;
            self.choose(best, at, sink);
        }
    }

    /// Settles on a dialect, or on there being none, and reads what waited.
    fn choose(&mut self, name: Option<DialectName>, at: Option<Millis>, sink: &mut dyn Sink) {
        let stage = match name {
            Some(name) => Stage::Speaking(Box::new(Speaker::new(name))),
            None => Stage::Lost,
        };
        let Stage::Probing { waiting, .. } = std::mem::replace(&mut self.stage, stage) else {
            return;
        };
        let dialect = name.map_or("unknown", DialectName::as_str);
        sink.trace(Trace::DialectChosen { dialect, frames_before: waiting.len() });
        if name.is_none() {
            let first = waiting.first().map_or(at, |(came, _)| *came);
            self.run.writer(first, sink).start(dialect, TextMode::Incremental);
        }
        for (came, cutting) in &waiting {
            self.take(cutting.as_cutting(), *came, sink);
        }
    }

    fn end_reply(&mut self, at: Option<Millis>, sink: &mut dyn Sink) -> Verdict {
        if let Stage::Probing { best, .. } = &self.stage {
            let best = *best;
            self.choose(best, at, sink);
        }
        let mut out = self.run.writer(at, sink);
        if let Stage::Speaking(speaker) = &mut self.stage {
            speaker.finish(&mut out);
            **speaker = Speaker::new(speaker.name());
        }
        out.end_reply()
    }

    fn finish(&mut self, cut: Cut, at: Option<Millis>, sink: &mut dyn Sink) {
        if self.run.is_ended() {
            return;
        }
        if let Stage::Probing { best, .. } = &self.stage {
            let best = *best;
            self.choose(best, at, sink);
        }
        let mut out = self.run.writer(at, sink);
        match &mut self.stage {
            Stage::Speaking(speaker) => {
                out.start(speaker.name().as_str(), speaker.mode());
                speaker.finish(&mut out);
                if self.input == Input::Nothing {
                    out.fail(FailureReason::Empty, "the input was empty");
                }
            }
            Stage::Probing { .. } | Stage::Lost => match self.input {
                Input::Nothing => out.fail(FailureReason::Empty, "the input was empty"),
                Input::Something => out.fail(
                    FailureReason::Unrecognised,
                    "no known dialect: name it with --from, or see docs/PROVIDERS.md",
                ),
            },
        }
        out.finish(cut);
    }
}

fn speak(speaker: &mut Speaker, cutting: Cutting<'_>, out: &mut Writer<'_>) {
    match cutting {
        Cutting::Frame(frame) if frame.data.trim_ascii() == "[DONE]" => speaker.done(out),
        Cutting::Frame(frame) if frame.data.trim_ascii().is_empty() => {}
        Cutting::Frame(frame) => {
            if speaker.frame(frame, out).is_err() {
                out.unrecognised(UnrecognisedReason::Unreadable, beginning(frame.data));
            }
        }
        Cutting::TooLong { .. } | Cutting::Noise(_) => keep(cutting, out),
    }
}

fn keep(cutting: Cutting<'_>, out: &mut Writer<'_>) {
    match cutting {
        Cutting::Frame(frame) => out.unrecognised(UnrecognisedReason::Frame, frame.data),
        Cutting::TooLong { beginning } => out.unrecognised(UnrecognisedReason::TooLong, beginning),
        Cutting::Noise(text) => out.unrecognised(UnrecognisedReason::Unreadable, beginning(text)),
    }
}

/// The beginning of what cannot be read; all of it where it is short.
fn beginning(text: &str) -> &str {
    let mut end = text.len().min(UNREADABLE_BYTES_KEPT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

impl Cutting<'_> {
    fn bytes(&self) -> usize {
        match self {
            Cutting::Frame(frame) => frame.name.len() + frame.data.len(),
            Cutting::TooLong { beginning: text } | Cutting::Noise(text) => text.len(),
        }
    }
}

impl From<Cutting<'_>> for Waiting {
    fn from(cutting: Cutting<'_>) -> Waiting {
        match cutting {
            Cutting::Frame(Frame { name, data, from }) => {
                Waiting::Frame { name: name.to_owned(), data: data.to_owned(), from }
            }
            Cutting::TooLong { beginning } => Waiting::TooLong(beginning.to_owned()),
            Cutting::Noise(text) => Waiting::Noise(text.to_owned()),
        }
    }
}

impl Waiting {
    fn as_cutting(&self) -> Cutting<'_> {
        match self {
            Waiting::Frame { name, data, from } => {
                Cutting::Frame(Frame { name, data, from: *from })
            }
            Waiting::TooLong(beginning) => Cutting::TooLong { beginning },
            Waiting::Noise(text) => Cutting::Noise(text),
        }
    }
}
