//! `millpond show`: one stream in, its text, final message or events out.

mod control;
mod output;
mod page;
mod recording;
mod redact;
mod screen;
mod source;
mod stop;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use engine::event::{Ending, FailureReason, Outcome, Reply, Stop};
use engine::ingest::filter::{StartsIn, TagTable};
use engine::ingest::{Ingest, Options};
use engine::run::{Cut, RunOptions};

use crate::args::{Output, ShowArgs};
use output::Printer;
use recording::Recorder;
use source::{More, Source};

/// Says something to the person, beside the output.
#[allow(clippy::print_stderr, reason = "this is where it is done")]
pub(crate) fn say(words: &str) {
    eprintln!("millpond: {}", control::one_line(words));
}

pub(crate) fn run(args: &ShowArgs) -> ExitCode {
    match show(args) {
        Ok(status) => status,
        Err(problem) => {
            say(&problem.words);
            ExitCode::from(problem.status)
        }
    }
}

/// What kept the stream from being shown at all.
struct Problem {
    words: String,
    status: u8,
}

impl Problem {
    fn new(words: String) -> Problem {
        Problem { words, status: 1 }
    }

    fn file(what: &str, path: &Path, error: &std::io::Error) -> Problem {
        Problem::new(format!("cannot {what} {}: {error}", path.display()))
    }
}

fn show(args: &ShowArgs) -> Result<ExitCode, Problem> {
    let options = options(args)?;
    if let Some(word) = args.finish_word.as_ref().filter(|word| word.looks_like_prose())
        && !args.quiet
    {
        say(&format!(
            "`{word}` is hidden at the end of longer words too: `!{word}` would be safer"
        ));
    }
    let mut source = Source::open(args)?;
    let mut recorder = match &args.record {
        Some(path) => {
            Some(Recorder::create(path).map_err(|error| Problem::file("record to", path, &error))?)
        }
        None => None,
    };
    let mut ingest = Ingest::new(&options);
    let mut printer = Printer::new(args);
    let mut trouble = None;
    let mut cut = Cut::EndOfInput;
    loop {
        let more = source.play(args.pace, &mut |bytes, at| {
            if let Some(open) = &mut recorder
                && let Err(error) = open.push(bytes)
            {
                say(&format!("the recording stops here: {error}"));
                recorder = None;
            }
            ingest.push(bytes, at, &mut printer);
            printer.flush();
        });
        match more {
            // A recording is kept to its end, whoever stopped reading.
            Ok(More::Yes) if printer.is_closed() && recorder.is_none() => break,
            Ok(More::Yes) => {}
            Ok(More::No) => break,
            Ok(More::Stopped) => {
                cut = Cut::Interrupted;
                break;
            }
            Err(words) => {
                trouble = Some(words);
                break;
            }
        }
    }
    if let Some(recorder) = recorder {
        recorder.finish().map_err(|error| Problem::new(format!("cannot record: {error}")))?;
    }
    ingest.finish(cut, None, &mut printer);
    let unreadable = printer.unreadable();
    let ending = printer.finish().map_err(|e| Problem::new(format!("cannot write: {e}")))?;
    match (trouble, ending) {
        (Some(words), _) => Err(Problem { words, status: 3 }),
        (None, Some(ending)) => Ok(status_of(&ending, unreadable, args)),
        (None, None) => Ok(ExitCode::SUCCESS),
    }
}

fn options(args: &ShowArgs) -> Result<Options, Problem> {
    let tags = match &args.tags {
        None => TagTable::default(),
        Some(path) => {
            let text =
                std::fs::read_to_string(path).map_err(|e| Problem::file("read", path, &e))?;
            TagTable::extended(&text).map_err(|bad| Problem {
                words: format!("{}, line {}: {}", path.display(), bad.line, bad.problem),
                status: 2,
            })?
        }
    };
    let starts_in = if args.starts_in_thinking { StartsIn::Thinking } else { StartsIn::Text };
    Ok(Options {
        from: args.from(),
        run: RunOptions {
            tags: Arc::new(tags),
            starts_in,
            quirks: args.quirks(),
            control_words: args.finish_word.iter().cloned().collect(),
        },
    })
}

/// The exit status of an ending, and one line about it where it is not simply done.
fn status_of(ending: &Ending<'_>, unreadable: usize, args: &ShowArgs) -> ExitCode {
    let detail = ending.detail.as_deref();
    let with = |words: &str| match detail {
        Some(detail) => format!("{words}: {detail}"),
        None => words.to_owned(),
    };
    let (words, status) = match ending.outcome {
        Outcome::Completed if ending.stop == Some(Stop::Length) => {
            (with("the reply was cut off by a length limit"), 3)
        }
        Outcome::Completed if ending.reply == Reply::None && args.output() != Output::Events => {
            (with("completed, but there is nothing to show"), 0)
        }
        Outcome::Completed if 0 < unreadable => ("completed".to_owned(), 0),
        Outcome::Completed => return ExitCode::SUCCESS,
        Outcome::Failed => (
            match ending.reason {
                Some(FailureReason::Refused) => with("refused"),
                Some(FailureReason::Limit) => with("a limit was reached"),
                Some(FailureReason::Unrecognised) => with("the input is not recognised"),
                Some(FailureReason::Empty) => "the input is empty".to_owned(),
                Some(FailureReason::Error) | None => with("failed"),
            },
            1,
        ),
        Outcome::Cancelled => (with("cancelled"), 3),
        Outcome::Truncated => (with("the stream was cut off before its end"), 3),
        Outcome::Stalled => (with("the stream stalled"), 3),
        Outcome::Interrupted => (with("interrupted"), 3),
    };
    match unreadable {
        0 => say(&words),
        count => say(&format!("{words}; {count} of its lines or events could not be read")),
    }
    ExitCode::from(status)
}
