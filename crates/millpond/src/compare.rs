//! `millpond compare`: shows one stream in all views side by side, as text columns or an HTML page.
//!
//! Does not decide what a view shows. Invariant: each column is the fold of its view at that event.

mod columns;
mod event_summary;
mod html;
mod wrap;

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use millpond_engine::event::{Event, Millis, Record, Sink, Trace};
use millpond_engine::ingest::Ingest;
use millpond_engine::run::InputEnd;
use millpond_engine::view::{Thinking, ViewName};
use millpond_engine::wire::{Encoder, FrameFormat, StreamKind};
use millpond_terminal::tty::query_size;

use crate::args::{CompareArgs, Pace};
use crate::show::input::{InputReader, ReadControl};
use crate::show::stream_summary::{PrintedContent, SESSION_ID, StreamSummary};
use crate::show::{
    CommandError, load_ingest_options, print_ending_and_return_status, print_to_stderr,
};
use crate::stream_debug::DebugOutput;

/// Total width if neither `--width` nor a terminal gives one.
const DEFAULT_WIDTH: usize = 120;

/// First bytes of every HTML page that this command writes.
const HTML_START: &[u8] = b"<!doctype html>";

/// Runs `millpond compare`.
pub(crate) fn run(args: &CompareArgs) -> ExitCode {
    compare_views(args).unwrap_or_else(CommandError::print_and_return_status)
}

/// Reads the input, folds it into all views, writes the output, and returns the exit status.
fn compare_views(args: &CompareArgs) -> Result<ExitCode, CommandError> {
    let mut ingest = Ingest::new(&load_ingest_options(&args.input)?);
    let mut comparison = ComparisonSink::new(args);
    let played = InputReader::start_reading_and_signal_handling(&args.input)?
        .read_until_end_or_stop(Pace::Fast, &mut |bytes, at| {
            ingest.push(bytes, at, &mut comparison);
            if comparison.is_too_large() { ReadControl::Stop } else { ReadControl::Continue }
        });
    ingest.finish(*played.as_ref().unwrap_or(&InputEnd::EndOfInput), None, &mut comparison);
    let tally = comparison.write_output(args)?;
    match played {
        Ok(_) => Ok(print_ending_and_return_status(&tally)),
        Err(words) => Err(CommandError { message: words, exit_status: 3 }),
    }
}

/// One-line description of what a view is for.
fn view_purpose(view: ViewName) -> &'static str {
    match view {
        ViewName::Latest => "One status or reply, then only the final message: for chat windows.",
        ViewName::Steps => "Steps folded above the answer: for assistants in products.",
        ViewName::Bubbles => "One bubble per message: for messengers.",
        ViewName::Transcript => "Everything in order, settled text final: for terminals and logs.",
        ViewName::Sentences => "One bubble per sentence, one card per action: for watching live.",
    }
}

/// One view's encoder, fed with the records read so far.
struct ViewColumn {
    view: ViewName,
    encoder: Encoder,
}

impl ViewColumn {
    fn new(view: ViewName, thinking: Thinking) -> ViewColumn {
        let kind = StreamKind { format: FrameFormat::Patch, thinking, ..StreamKind::new(view) };
        ViewColumn { view, encoder: Encoder::new(kind, SESSION_ID) }
    }
}

/// Sink that folds events into all views.
struct ComparisonSink {
    columns: Vec<ViewColumn>,
    output: CompareOutput,
    tally: StreamSummary,
    stop_after: Option<u64>,
    thinking: Thinking,
    debug: DebugOutput,
}

/// Output in the making.
enum CompareOutput {
    /// Text columns; `event` summarises the last event applied.
    Columns {
        event: String,
    },
    Page(html::HtmlPage),
}

impl ComparisonSink {
    fn new(args: &CompareArgs) -> ComparisonSink {
        let thinking = args.input.thinking();
        let columns =
            ViewName::ALL.into_iter().map(|view| ViewColumn::new(view, thinking)).collect();
        let output = match &args.html {
            None => CompareOutput::Columns { event: String::new() },
            Some(_) => CompareOutput::Page(html::HtmlPage::new()),
        };
        ComparisonSink {
            columns,
            output,
            tally: StreamSummary::new(&args.input),
            stop_after: args.at,
            thinking,
            debug: DebugOutput::new(
                &args.stream_debug,
                ViewName::ALL.map(|view| StreamKind { thinking, ..StreamKind::new(view) }),
            ),
        }
    }

    fn is_too_large(&self) -> bool {
        matches!(&self.output, CompareOutput::Page(page) if page.is_too_large())
    }

    /// Feeds the record to every view, up to `--at` for text columns.
    fn apply_record(&mut self, record: &Record<'_>) {
        let ComparisonSink { columns, output: form, stop_after: at, thinking, .. } = self;
        match form {
            CompareOutput::Columns { event } => {
                if at.is_none_or(|at| record.seq <= at) {
                    for column in columns {
                        column.encoder.push(record, &mut |_| {});
                    }
                    let (name, text) = event_summary::summarise_event(&record.event, *thinking);
                    *event = format!("{}: {name} {text}", record.seq);
                }
            }
            CompareOutput::Page(page) => {
                page.push_record_unless_already_too_large(record, columns, *thinking);
            }
        }
    }

    /// Writes the HTML page, or prints the text columns.
    fn write_output(self, args: &CompareArgs) -> Result<StreamSummary, CommandError> {
        let ComparisonSink { columns, output: form, mut tally, stop_after: at, .. } = self;
        let of_column = |column: &ViewColumn| PrintedContent::of_page(column.encoder.page());
        if columns.iter().map(of_column).any(|printed| printed == PrintedContent::Something) {
            tally.printed = PrintedContent::Something;
        }
        let last = tally.event_count.saturating_sub(1);
        let too_large = matches!(&form, CompareOutput::Page(page) if page.is_too_large());
        if let Some(at) = at.filter(|at| last < *at && !too_large) {
            let words = format!("no event {at}: the last event is {last}");
            return Err(CommandError { message: words, exit_status: 2 });
        }
        match (form, &args.html) {
            (CompareOutput::Page(page), Some(path)) => {
                let page = page
                    .render(&input_title(args), at.unwrap_or(last))
                    .map_err(page_too_large_error)?;
                write_page_unless_replacing_non_html(path, &page)?;
                if !args.input.quiet {
                    let size = page.len().div_ceil(1024);
                    print_to_stderr(&format!(
                        "wrote {}: {} events, {size} KiB",
                        path.display(),
                        tally.event_count
                    ));
                }
            }
            (CompareOutput::Columns { event }, _) => {
                let width = args.width.map_or_else(terminal_width_or_default, usize::from);
                print_text(&columns::render_columns(&columns, &event, last, width))?;
            }
            (CompareOutput::Page(_), None) => {}
        }
        Ok(tally)
    }
}

impl Sink for ComparisonSink {
    fn on_event(&mut self, at: Option<Millis>, event: Event<'_>) {
        let record = self.tally.count_and_number_event(at, event);
        self.debug.print_view_patches_if_on(&record);
        self.apply_record(&record);
    }

    fn on_trace(&mut self, trace: Trace<'_>) {
        self.tally.print_detected_dialect_unless_quiet(&trace);
        self.debug.print_trace_if_on(&trace);
    }
}

fn terminal_width_or_default() -> usize {
    let size = std::io::stdout().is_terminal().then(|| query_size().ok()).flatten();
    size.map_or(DEFAULT_WIDTH, |size| usize::from(size.cols))
}

/// File name of the input without its folder, which the page must not reveal.
fn input_title(args: &CompareArgs) -> String {
    let name = args.input.file.as_deref().filter(|path| path.as_os_str() != "-");
    let name = name.and_then(Path::file_name);
    name.map_or_else(|| "standard input".to_owned(), |name| name.to_string_lossy().into_owned())
}

fn page_too_large_error(html::PageTooLarge { bytes_max }: html::PageTooLarge) -> CommandError {
    let most = bytes_max >> 20;
    CommandError::new(format!(
        "page too large (limit {most} MiB): shorten the stream, or omit --html"
    ))
}

/// Writes to standard output. A closed pipe is not an error: the reader has enough.
fn print_text(text: &str) -> Result<(), CommandError> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(CommandError::new(format!("cannot write: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes the page to a file or standard output. Overwrites only an HTML page, so that a stream
/// named by mistake is kept.
fn write_page_unless_replacing_non_html(path: &Path, page: &str) -> Result<(), CommandError> {
    if path.as_os_str() == "-" {
        return print_text(page);
    }
    if path.is_file() {
        let old =
            std::fs::read(path).map_err(|error| CommandError::for_file("read", path, &error))?;
        if !old.is_empty() && !old.starts_with(HTML_START) {
            let words = format!("{} is not an HTML page: not overwritten", path.display());
            return Err(CommandError::new(words));
        }
    }
    std::fs::write(path, page).map_err(|error| CommandError::for_file("write", path, &error))
}
