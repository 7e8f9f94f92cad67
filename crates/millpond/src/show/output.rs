//! Printing events as text, as the final message, or as they are.

use std::io::{IsTerminal, Write};

use engine::event::{Ending, Event, Millis, Record, Sink, Trace, UnrecognisedReason};
use engine::view::reply::ReplyView;
use engine::view::text::{Patch, TextView};

use super::{control, say};
use crate::args::{Output, ShowArgs};

/// The run of a stream that is only shown; a gateway gives runs names of their own.
const RUN: &str = "r1";

/// A sink that prints. It remembers the first thing that went wrong and prints no more.
pub(super) struct Printer {
    form: Form,
    screen: Screen,
    debug: bool,
    tells_dialect: bool,
    unreadable: usize,
    ending: Option<Ending<'static>>,
}

enum Form {
    Text(TextView),
    Final(ReplyView),
    Events { seq: u64 },
}

/// Standard output, and how it is doing.
struct Screen {
    out: std::io::BufWriter<std::io::Stdout>,
    is_terminal: bool,
    failed: Option<std::io::Error>,
}

impl Screen {
    fn write(&mut self, text: &str) {
        if self.is_terminal {
            self.write_bytes(control::neutralised(text).as_bytes());
        } else {
            self.write_bytes(text.as_bytes());
        }
    }

    fn write_bytes(&mut self, bytes: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.out.write_all(bytes).err();
        }
    }

    fn write_json(&mut self, record: &Record<'_>) {
        if self.failed.is_some() {
            return;
        }
        let written = if self.is_terminal {
            serde_json::to_string(record).map(|line| self.write(&line))
        } else {
            serde_json::to_writer(&mut self.out, record)
        };
        self.failed = self.failed.take().or(written.err().map(Into::into));
        self.write_bytes(b"\n");
    }

    fn flush(&mut self) {
        if self.failed.is_none() {
            self.failed = self.out.flush().err();
        }
    }
}

impl Printer {
    pub(super) fn new(args: &ShowArgs) -> Printer {
        let form = match args.output {
            Output::Text => Form::Text(TextView::default()),
            Output::Final => Form::Final(ReplyView::default()),
            Output::Events => Form::Events { seq: 0 },
        };
        let stdout = std::io::stdout();
        let is_terminal = stdout.is_terminal();
        let out = std::io::BufWriter::new(stdout);
        let screen = Screen { out, is_terminal, failed: None };
        let tells_dialect = !args.quiet && args.from().is_none();
        Printer {
            form,
            screen,
            debug: args.stream_debug,
            tells_dialect,
            unreadable: 0,
            ending: None,
        }
    }

    /// Hands on what has been printed.
    pub(super) fn flush(&mut self) {
        self.screen.flush();
    }

    /// Whether nobody reads it any more.
    pub(super) fn is_closed(&self) -> bool {
        self.screen.failed.is_some()
    }

    /// Frames of the stream that could not be read.
    pub(super) fn unreadable(&self) -> usize {
        self.unreadable
    }

    /// The ending, or nothing if the reader went away before it.
    pub(super) fn finish(mut self) -> std::io::Result<Option<Ending<'static>>> {
        self.screen.flush();
        match self.screen.failed {
            None => Ok(self.ending),
            Some(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(None),
            Some(error) => Err(error),
        }
    }
}

impl Sink for Printer {
    fn event(&mut self, at: Option<Millis>, event: Event<'_>) {
        // What a program prints beside its stream is no part of it.
        if let Event::Unrecognised { reason: UnrecognisedReason::Unreadable, raw } = &event
            && raw.starts_with('{')
        {
            self.unreadable += 1;
        }
        let screen = &mut self.screen;
        match &mut self.form {
            Form::Text(view) => view.apply(&event, &mut |patch| match patch {
                Patch::Append(text) => screen.write(text),
                Patch::Withdrawn { messages } => {
                    screen.flush();
                    say(&format!("the source took back {messages} message(s) shown above"));
                }
                Patch::Rewritten => {
                    screen.flush();
                    say("the source changed the message above; it follows anew");
                }
            }),
            Form::Final(view) => {
                view.apply(&event);
                if let Event::RunEnded { ending } = &event
                    && let Some(text) = view.text(ending)
                {
                    screen.write(text);
                    if !text.ends_with('\n') {
                        screen.write("\n");
                    }
                }
            }
            Form::Events { seq } => {
                let ending = match &event {
                    Event::RunEnded { ending } => Some(ending.clone().into_owned()),
                    _ => None,
                };
                let record = Record { seq: *seq, at_ms: at, run: RUN.into(), event };
                *seq += 1;
                screen.write_json(&record);
                self.ending = ending.or(self.ending.take());
                return;
            }
        }
        if let Event::RunEnded { ending } = event {
            self.ending = Some(ending.into_owned());
        }
    }

    #[allow(clippy::print_stderr, reason = "asked for with --stream-debug")]
    fn trace(&mut self, trace: Trace<'_>) {
        if let (true, Trace::DialectChosen { dialect, .. }) = (self.tells_dialect, &trace)
            && *dialect != "unknown"
        {
            say(&format!("reading {dialect}"));
        }
        if self.debug
            && let Ok(line) = serde_json::to_string(&trace)
        {
            eprintln!("{line}");
        }
    }
}
