//! `millpond compare`: one stream in all views side by side, as columns of text or as a page.
//!
//! Does not decide what a view shows. Invariant: what stands under a view's name is the fold of
//! that view at that event.

mod columns;
mod gist;
mod html;
mod wrapped;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use engine::event::{Event, Millis, Record, Sink, Trace};
use engine::ingest::Ingest;
use engine::run::Cut;
use engine::view::{Thinking, ViewName};
use engine::wire::{Encoder, Format, Kind};

use crate::args::{CompareArgs, Output, Pace};
use crate::show::source::{Source, Want};
use crate::show::tally::{SESSION, Tally};
use crate::show::{Problem, options, say, status_of};

/// How wide the columns are where nobody says.
const USUAL_WIDTH: usize = 120;

/// How every page of this command begins.
const PAGE_START: &[u8] = b"<!doctype html>";

pub(crate) fn run(args: &CompareArgs) -> ExitCode {
    compare(args).unwrap_or_else(Problem::told)
}

fn compare(args: &CompareArgs) -> Result<ExitCode, Problem> {
    let mut ingest = Ingest::new(&options(&args.input)?);
    let mut comparison = Comparison::new(args);
    let played = Source::open(&args.input)?.play_all(Pace::Fast, &mut |bytes, at| {
        ingest.push(bytes, at, &mut comparison);
        if comparison.is_too_large() { Want::NoMore } else { Want::More }
    });
    ingest.finish(*played.as_ref().unwrap_or(&Cut::EndOfInput), None, &mut comparison);
    let tally = comparison.finish(args)?;
    match played {
        Ok(_) => Ok(status_of(&tally, Output::Text)),
        Err(words) => Err(Problem { words, status: 3 }),
    }
}

/// What a view is for, in a line.
fn purpose(view: ViewName) -> &'static str {
    match view {
        ViewName::Latest => "One status or one reply, then only the answer: for a chat window.",
        ViewName::Steps => "Work folded away above the answer: for an assistant in a product.",
        ViewName::Bubbles => "A bubble for each message: for a messenger.",
        ViewName::Transcript => "Everything in order, settled for good: for terminals and logs.",
        ViewName::Sentences => "A bubble for each sentence, a card for each action: for watching.",
    }
}

/// One view of the stream, as far as it has been read.
struct Column {
    view: ViewName,
    encoder: Encoder,
}

impl Column {
    fn of(view: ViewName, thinking: Thinking) -> Column {
        let kind = Kind { format: Format::Patch, thinking, ..Kind::new(view) };
        Column { view, encoder: Encoder::new(kind, SESSION, 0) }
    }
}

/// A sink that folds events into all views.
struct Comparison {
    columns: Vec<Column>,
    form: Form,
    tally: Tally,
    at: Option<u64>,
    thinking: Thinking,
}

enum Form {
    /// As it stands after the event that was asked for, and that event in words.
    Columns {
        event: String,
    },
    Page(html::Page),
}

impl Comparison {
    fn new(args: &CompareArgs) -> Comparison {
        let thinking = args.input.thinking();
        let columns = ViewName::ALL.into_iter().map(|view| Column::of(view, thinking)).collect();
        let form = match &args.html {
            None => Form::Columns { event: String::new() },
            Some(_) => Form::Page(html::Page::new()),
        };
        Comparison { columns, form, tally: Tally::new(&args.input), at: args.at, thinking }
    }

    fn is_too_large(&self) -> bool {
        matches!(&self.form, Form::Page(page) if page.is_too_large())
    }

    fn push(&mut self, record: &Record<'_>) {
        let Comparison { columns, form, at, thinking, .. } = self;
        match form {
            Form::Columns { event } => {
                if at.is_none_or(|at| record.seq <= at) {
                    for column in columns {
                        column.encoder.push(record, &mut |_| {});
                    }
                    let (name, text) = gist::gist(&record.event, *thinking);
                    *event = format!("{}: {name} {text}", record.seq);
                }
            }
            Form::Page(page) => page.push(record, columns, *thinking),
        }
    }

    /// Writes what was asked for.
    fn finish(self, args: &CompareArgs) -> Result<Tally, Problem> {
        let Comparison { columns, form, tally, at, .. } = self;
        let last = tally.events.saturating_sub(1);
        let too_large = matches!(&form, Form::Page(page) if page.is_too_large());
        if let Some(at) = at.filter(|at| last < *at && !too_large) {
            let words = format!("there is no event {at}: the last one is {last}");
            return Err(Problem { words, status: 2 });
        }
        match (form, &args.html) {
            (Form::Page(page), Some(path)) => {
                let page = page.finish(&title(args), at.unwrap_or(last)).map_err(too_large_page)?;
                write_page(path, &page)?;
                if !args.input.quiet {
                    let size = page.len().div_ceil(1024);
                    say(&format!("wrote {}: {} events, {size} KiB", path.display(), tally.events));
                }
            }
            (Form::Columns { event }, _) => {
                let width = args.width.map_or_else(terminal_width, usize::from);
                print(&columns::sheet(&columns, &event, last, width))?;
            }
            (Form::Page(_), None) => {}
        }
        Ok(tally)
    }
}

impl Sink for Comparison {
    fn event(&mut self, at: Option<Millis>, event: Event<'_>) {
        let record = self.tally.record(at, event);
        self.push(&record);
    }

    fn trace(&mut self, trace: Trace<'_>) {
        self.tally.trace(&trace);
    }
}

fn terminal_width() -> usize {
    let size = terminal_size::terminal_size_of(std::io::stdout());
    size.map_or(USUAL_WIDTH, |(columns, _)| usize::from(columns.0))
}

/// The stream's name without its folder, which is nobody's business.
fn title(args: &CompareArgs) -> String {
    let name = args.input.file.as_deref().filter(|path| path.as_os_str() != "-");
    let name = name.and_then(Path::file_name);
    name.map_or_else(|| "standard input".to_owned(), |name| name.to_string_lossy().into_owned())
}

fn too_large_page(html::TooLarge { bytes_max }: html::TooLarge) -> Problem {
    let most = bytes_max >> 20;
    Problem::new(format!(
        "the page would be larger than {most} MiB; cut the stream, or use the text columns"
    ))
}

/// A reader that has gone away has read enough.
fn print(text: &str) -> Result<(), Problem> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Problem::new(format!("cannot write: {error}")))
        }
        _ => Ok(()),
    }
}

/// Replaces a page, but nothing else: a stream that was named by mistake stays.
fn write_page(path: &Path, page: &str) -> Result<(), Problem> {
    if path.as_os_str() == "-" {
        return print(page);
    }
    if path.is_file() {
        let old = std::fs::read(path).map_err(|error| Problem::file("read", path, &error))?;
        if !old.is_empty() && !old.starts_with(PAGE_START) {
            let words = format!("{} is there and is no HTML page: not replaced", path.display());
            return Err(Problem::new(words));
        }
    }
    std::fs::write(path, page).map_err(|error| Problem::file("write", path, &error))
}
