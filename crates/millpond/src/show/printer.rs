//! Event sink that prints a stream: as a view, frames, text, the final message or events.

use std::io::{IsTerminal, Write};

use millpond_engine::event::{Event, Millis, Record, Sink, Trace};
use millpond_engine::view::reply::ReplyCandidates;
use millpond_engine::view::text::{TextPatch, TextView};
use millpond_engine::view::{ItemKind, Patch, View, ViewOptions};
use millpond_engine::wire::{Encoder, FrameFormat, StreamKind, sse};
use millpond_terminal::output::RowOutput;
use millpond_terminal::page_display::PageDisplay;
use millpond_terminal::text::Neutraliser;

use super::page_text::render_page_text;
use super::print_to_stderr;
use super::stream_summary::{PrintedContent, SESSION_ID, StreamSummary};
use crate::args::{ShowArgs, ShowOutput};
use crate::stream_debug::DebugOutput;

/// Sink that prints to standard output. Stops printing at the first error and keeps that error.
pub(super) struct Printer {
    mode: PrintMode,
    stdout: StdoutWriter,
    debug: DebugOutput,
    tally: StreamSummary,
}

/// Output mode with its state.
enum PrintMode {
    Screen {
        view: View,
        display: PageDisplay,
    },
    Frames {
        encoder: Encoder,
        line: String,
    },
    /// Page of a view, printed when the run ends.
    Page {
        encoder: Encoder,
    },
    Text(TextView),
    Final(ReplyCandidates),
    Events,
}

/// Buffered standard output that keeps its first error.
struct StdoutWriter {
    out: std::io::BufWriter<std::io::Stdout>,
    /// Makes text safe for a terminal; `None` if the output is none.
    neutraliser: Option<Neutraliser>,
    first_error: Option<std::io::Error>,
    printed: PrintedContent,
}

impl StdoutWriter {
    fn write_text_neutralised_on_terminal(&mut self, text: &str) {
        if let Some(neutraliser) = &mut self.neutraliser {
            let mut safe = String::with_capacity(text.len());
            neutraliser.push(text, &mut safe);
            self.write_bytes(safe.as_bytes());
        } else {
            self.write_bytes(text.as_bytes());
        }
    }

    fn write_bytes(&mut self, bytes: &[u8]) {
        if self.first_error.is_none() {
            self.first_error = self.out.write_all(bytes).err();
        }
    }

    fn write_record_json(&mut self, record: &Record<'_>) {
        if self.first_error.is_some() {
            return;
        }
        let written = if self.neutraliser.is_some() {
            serde_json::to_string(record).map(|line| self.write_text_neutralised_on_terminal(&line))
        } else {
            serde_json::to_writer(&mut self.out, record)
        };
        self.first_error = self.first_error.take().or(written.err().map(Into::into));
        self.write_bytes(b"\n");
    }

    fn flush(&mut self) {
        if self.first_error.is_none() {
            self.first_error = self.out.flush().err();
        }
    }
}

impl Printer {
    /// Printer for the selected output. Starts the live view if that is the screen.
    pub(super) fn new(args: &ShowArgs) -> Printer {
        // Only the page is needed; patches are the cheapest format to build it from.
        let page = || {
            Encoder::new(
                StreamKind { format: FrameFormat::Patch, ..args.stream_kind() },
                SESSION_ID,
            )
        };
        let mode = match args.resolve_output() {
            ShowOutput::Screen => {
                let output =
                    RowOutput::wait_for_cursor_and_open_stdout(|name| std::env::var(name).ok());
                let StreamKind { view, thinking, .. } = args.stream_kind();
                PrintMode::Screen {
                    view: View::new(view, ViewOptions { thinking }),
                    display: PageDisplay::start(view, output),
                }
            }
            ShowOutput::Frames => {
                let encoder = Encoder::new(args.stream_kind(), SESSION_ID);
                PrintMode::Frames { encoder, line: String::new() }
            }
            ShowOutput::Text if args.has_explicit_view() => PrintMode::Page { encoder: page() },
            ShowOutput::Text => PrintMode::Text(TextView::default()),
            ShowOutput::Final => PrintMode::Final(ReplyCandidates::default()),
            ShowOutput::Events => PrintMode::Events,
        };
        let stdout = std::io::stdout();
        let neutraliser = stdout.is_terminal().then(Neutraliser::default);
        let out = std::io::BufWriter::new(stdout);
        let stdout =
            StdoutWriter { out, neutraliser, first_error: None, printed: PrintedContent::Nothing };
        let shows_view = matches!(args.resolve_output(), ShowOutput::Screen | ShowOutput::Frames)
            || args.has_explicit_view();
        let debug = DebugOutput::new(&args.stream_debug, shows_view.then(|| args.stream_kind()));
        Printer { mode, stdout, debug, tally: StreamSummary::new(&args.input) }
    }

    /// Flushes standard output.
    pub(super) fn flush(&mut self) {
        self.stdout.flush();
    }

    /// Returns true if standard output is closed or has failed.
    pub(super) fn is_closed_or_failed(&self) -> bool {
        let is_over =
            matches!(&self.mode, PrintMode::Screen { display, .. } if display.has_thread_ended());
        is_over || self.stdout.first_error.is_some()
    }

    /// Flushes and ends the live view. Returns `None` if the reader closed the output early.
    pub(super) fn finish(mut self) -> std::io::Result<Option<StreamSummary>> {
        self.flush();
        self.tally.printed = self.stdout.printed;
        let watched = match self.mode {
            PrintMode::Screen { display, .. } => display.finish().err(),
            _ => None,
        };
        match self.stdout.first_error.or(watched) {
            None => Ok(Some(self.tally)),
            Some(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(None),
            Some(error) => Err(error),
        }
    }
}

impl PrintMode {
    /// Prints what this record adds.
    fn apply_record_and_print(&mut self, record: &Record<'_>, screen: &mut StdoutWriter) {
        let ended = match &record.event {
            Event::RunEnded { ending } => Some(ending),
            _ => None,
        };
        match self {
            PrintMode::Screen { view, display } => {
                view.apply(record, &mut |patch| {
                    if matches!(&patch, Patch::Put { item, .. } if item.kind != ItemKind::User) {
                        screen.printed = PrintedContent::Something;
                    }
                    display.send_patch(patch);
                });
            }
            PrintMode::Frames { encoder, line } => encoder.push(record, &mut |frame| {
                line.clear();
                sse::write_json_line(&frame, line);
                screen.write_text_neutralised_on_terminal(line);
            }),
            PrintMode::Page { encoder } => {
                encoder.push(record, &mut |_| {});
                if ended.is_some() {
                    screen.printed = PrintedContent::of_page(encoder.page());
                    screen.write_text_neutralised_on_terminal(&render_page_text(encoder.page()));
                }
            }
            PrintMode::Text(view) => view.apply(&record.event, &mut |patch| match patch {
                TextPatch::Append(text) => {
                    screen.printed = PrintedContent::Something;
                    screen.write_text_neutralised_on_terminal(text);
                }
                TextPatch::Withdrawn { messages } => {
                    screen.flush();
                    print_to_stderr(&format!(
                        "the source withdrew {messages} message(s) shown above"
                    ));
                }
                TextPatch::Rewritten => {
                    screen.flush();
                    print_to_stderr("the source rewrote the message above; the new text follows");
                }
            }),
            PrintMode::Final(view) => {
                view.apply(&record.event);
                if let Some(text) = ended.and_then(|ending| view.final_text(ending)) {
                    screen.write_text_neutralised_on_terminal(text);
                    if !text.ends_with('\n') {
                        screen.write_text_neutralised_on_terminal("\n");
                    }
                }
            }
            PrintMode::Events => {
                screen.printed = PrintedContent::Something;
                screen.write_record_json(record);
            }
        }
    }
}

impl Sink for Printer {
    fn on_event(&mut self, at: Option<Millis>, event: Event<'_>) {
        let record = self.tally.count_and_number_event(at, event);
        self.debug.print_view_patches_if_on(&record);
        self.mode.apply_record_and_print(&record, &mut self.stdout);
    }

    fn on_trace(&mut self, trace: Trace<'_>) {
        self.tally.print_detected_dialect_unless_quiet(&trace);
        self.debug.print_trace_if_on(&trace);
    }
}
