//! Printing events as a view, as text, as the final message, or as they are.

use std::io::{IsTerminal, Write};

use engine::event::{Event, Millis, Record, Sink, Trace};
use engine::view::reply::ReplyView;
use engine::view::text::{Patch, TextView};
use engine::wire::{Encoder, Format, Kind, sse};
use terminal::sheet::Sheet;
use terminal::watch::Watch;

use super::page::page_text;
use super::tally::{SESSION, Tally};
use super::{control, say};
use crate::args::{Output, ShowArgs};

/// A sink that prints. It remembers the first thing that went wrong and prints no more.
pub(super) struct Printer {
    form: Form,
    screen: Screen,
    debug: Debug,
    tally: Tally,
}

/// What is written beside the output for whoever looks for a fault.
enum Debug {
    Off,
    /// Each decision of the engine, and of the view if there is one.
    On {
        view: Option<Box<Encoder>>,
    },
}

impl Debug {
    fn new(args: &ShowArgs) -> Debug {
        if !args.stream_debug {
            return Debug::Off;
        }
        let shows_view = matches!(args.output(), Output::Screen | Output::Frames);
        let kind = Kind { format: Format::Patch, ..args.kind() };
        let view =
            (shows_view || args.names_view()).then(|| Box::new(Encoder::new(kind, SESSION, 0)));
        Debug::On { view }
    }

    fn view(&mut self, record: &Record<'_>) {
        let Debug::On { view: Some(encoder) } = self else { return };
        encoder.push(record, &mut |frame| {
            let name = frame.id.kind.view.as_str();
            debug_line(&format!(
                "{{\"debug\":\"view\",\"view\":\"{name}\",\"at\":\"{}\",\"patch\":{}}}",
                frame.id, frame.data
            ));
        });
        let suppressed = encoder.suppressed_overlays();
        if let (Event::RunEnded { .. }, 1..) = (&record.event, suppressed) {
            debug_line(&format!("{{\"debug\":\"overlays_suppressed\",\"count\":{suppressed}}}"));
        }
    }
}

#[allow(clippy::print_stderr, reason = "asked for with --stream-debug")]
fn debug_line(line: &str) {
    eprintln!("{line}");
}

enum Form {
    Screen {
        encoder: Encoder,
        watch: Watch,
    },
    Frames {
        encoder: Encoder,
        line: String,
    },
    /// The page of a view, printed when it is done.
    Page {
        encoder: Encoder,
    },
    Text(TextView),
    Final(ReplyView),
    Events,
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
        // Only the page matters there, and patches are the cheapest way to it.
        let page = || Encoder::new(Kind { format: Format::Patch, ..args.kind() }, SESSION, 0);
        let form = match args.output() {
            Output::Screen => {
                let sheet = Sheet::of_stdout(|name| std::env::var(name).ok());
                Form::Screen { encoder: page(), watch: Watch::start(args.kind().view, sheet) }
            }
            Output::Frames => {
                let encoder = Encoder::new(args.kind(), SESSION, 0);
                Form::Frames { encoder, line: String::new() }
            }
            Output::Text if args.names_view() => Form::Page { encoder: page() },
            Output::Text => Form::Text(TextView::default()),
            Output::Final => Form::Final(ReplyView::default()),
            Output::Events => Form::Events,
        };
        let stdout = std::io::stdout();
        let is_terminal = stdout.is_terminal();
        let out = std::io::BufWriter::new(stdout);
        let screen = Screen { out, is_terminal, failed: None };
        Printer { form, screen, debug: Debug::new(args), tally: Tally::new(&args.input) }
    }

    /// Hands on what has been printed.
    pub(super) fn flush(&mut self) {
        self.screen.flush();
    }

    /// Whether nobody reads it any more.
    pub(super) fn is_closed(&self) -> bool {
        let is_over = matches!(&self.form, Form::Screen { watch, .. } if watch.is_over());
        is_over || self.screen.failed.is_some()
    }

    /// What came, or nothing if the reader went away before the end.
    pub(super) fn finish(mut self) -> std::io::Result<Option<Tally>> {
        self.flush();
        let watched = match self.form {
            Form::Screen { watch, .. } => watch.finish().err(),
            _ => None,
        };
        match self.screen.failed.or(watched) {
            None => Ok(Some(self.tally)),
            Some(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(None),
            Some(error) => Err(error),
        }
    }
}

impl Form {
    fn print(&mut self, record: &Record<'_>, screen: &mut Screen) {
        let ended = match &record.event {
            Event::RunEnded { ending } => Some(ending),
            _ => None,
        };
        match self {
            Form::Screen { encoder, watch } => {
                encoder.push(record, &mut |frame| watch.patch(frame.data));
            }
            Form::Frames { encoder, line } => encoder.push(record, &mut |frame| {
                line.clear();
                sse::write_line(&frame, line);
                screen.write(line);
            }),
            Form::Page { encoder } => {
                encoder.push(record, &mut |_| {});
                if ended.is_some() {
                    screen.write(&page_text(encoder.picture()));
                }
            }
            Form::Text(view) => view.apply(&record.event, &mut |patch| match patch {
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
                view.apply(&record.event);
                if let Some(text) = ended.and_then(|ending| view.text(ending)) {
                    screen.write(text);
                    if !text.ends_with('\n') {
                        screen.write("\n");
                    }
                }
            }
            Form::Events => screen.write_json(record),
        }
    }
}

impl Sink for Printer {
    fn event(&mut self, at: Option<Millis>, event: Event<'_>) {
        let record = self.tally.record(at, event);
        self.debug.view(&record);
        self.form.print(&record, &mut self.screen);
    }

    fn trace(&mut self, trace: Trace<'_>) {
        self.tally.trace(&trace);
        if let (Debug::On { .. }, Ok(line)) = (&self.debug, serde_json::to_string(&trace)) {
            debug_line(&line);
        }
    }
}
