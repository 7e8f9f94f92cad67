//! `millpond show`: one stream in, its text, final message or events out.

pub(crate) mod control;
mod output;
pub(crate) mod page;
mod recording;
mod redact;
pub(crate) mod source;
mod stop;
pub(crate) mod tally;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use engine::event::{FailureReason, Outcome, Reply, Stop};
use engine::ingest::filter::{StartsIn, TagTable};
use engine::ingest::{Ingest, Options};
use engine::run::{Cut, RunOptions};

use crate::args::{InputArgs, Output, ShowArgs};
use output::Printer;
use recording::Recorder;
use source::{Source, Want};
use tally::Tally;

/// Says something to the person, beside the output.
#[allow(clippy::print_stderr, reason = "this is where it is done")]
pub(crate) fn say(words: &str) {
    eprintln!("millpond: {}", control::one_line(words));
}

pub(crate) fn run(args: &ShowArgs) -> ExitCode {
    show(args).unwrap_or_else(Problem::told)
}

/// What kept the stream from being shown at all.
pub(crate) struct Problem {
    pub(crate) words: String,
    pub(crate) status: u8,
}

impl Problem {
    /// Says what it is; the exit status.
    pub(crate) fn told(self) -> ExitCode {
        say(&self.words);
        ExitCode::from(self.status)
    }

    pub(crate) fn new(words: String) -> Problem {
        Problem { words, status: 1 }
    }

    pub(crate) fn file(what: &str, path: &Path, error: &std::io::Error) -> Problem {
        Problem::new(format!("cannot {what} {}: {error}", path.display()))
    }
}

fn show(args: &ShowArgs) -> Result<ExitCode, Problem> {
    let options = options(&args.input)?;
    let source = Source::open(&args.input)?;
    let mut recorder = match &args.record {
        Some(path) => {
            Some(Recorder::create(path).map_err(|error| Problem::file("record to", path, &error))?)
        }
        None => None,
    };
    let mut ingest = Ingest::new(&options);
    let mut printer = Printer::new(args);
    let played = source.play_all(args.pace, &mut |bytes, at| {
        if let Some(open) = &mut recorder
            && let Err(error) = open.push(bytes)
        {
            say(&format!("the recording stops here: {error}"));
            recorder = None;
        }
        ingest.push(bytes, at, &mut printer);
        printer.flush();
        // A recording is kept to its end, whoever stopped reading.
        if printer.is_closed() && recorder.is_none() { Want::NoMore } else { Want::More }
    });
    if let Some(recorder) = recorder {
        recorder.finish().map_err(|error| Problem::new(format!("cannot record: {error}")))?;
    }
    ingest.finish(*played.as_ref().unwrap_or(&Cut::EndOfInput), None, &mut printer);
    let tally = printer.finish().map_err(|e| Problem::new(format!("cannot write: {e}")))?;
    match (played, tally) {
        (Err(words), _) => Err(Problem { words, status: 3 }),
        (Ok(_), Some(tally)) => Ok(status_of(&tally, args.output())),
        (Ok(_), None) => Ok(ExitCode::SUCCESS),
    }
}

pub(crate) fn options(args: &InputArgs) -> Result<Options, Problem> {
    if let Some(word) = args.finish_word.as_ref().filter(|word| word.looks_like_prose())
        && !args.quiet
    {
        say(&format!(
            "`{word}` is hidden at the end of longer words too: `!{word}` would be safer"
        ));
    }
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
            ..RunOptions::default()
        },
    })
}

/// The exit status of an ending, and one line about it where it is not simply done.
pub(crate) fn status_of(tally: &Tally, output: Output) -> ExitCode {
    let Some(ending) = &tally.ending else { return ExitCode::SUCCESS };
    let detail = ending.detail.as_deref();
    let with = |words: &str| match detail {
        Some(detail) => format!("{words}: {detail}"),
        None => words.to_owned(),
    };
    let (words, status) = match ending.outcome {
        Outcome::Completed if ending.stop == Some(Stop::Length) => {
            (with("the reply was cut off by a length limit"), 3)
        }
        Outcome::Completed if ending.reply == Reply::None && output != Output::Events => {
            (with("completed, but there is nothing to show"), 0)
        }
        Outcome::Completed if 0 < tally.unreadable => ("completed".to_owned(), 0),
        Outcome::Completed => return ExitCode::SUCCESS,
        Outcome::Failed => (
            match ending.reason {
                Some(FailureReason::Refused) => with("refused"),
                Some(FailureReason::Limit) => with("a limit was reached"),
                Some(FailureReason::Unrecognised) => with("the input is not recognised"),
                Some(FailureReason::Empty) => "the input is empty".to_owned(),
                Some(FailureReason::Storage) => with("the log could not be kept"),
                Some(FailureReason::Error) | None => with("failed"),
            },
            1,
        ),
        Outcome::Cancelled => (with("cancelled"), 3),
        Outcome::Truncated => (with("the stream was cut off before its end"), 3),
        Outcome::Stalled => (with("the stream stalled"), 3),
        Outcome::Interrupted => (with("interrupted"), 3),
    };
    match tally.unreadable {
        0 => say(&words),
        count => say(&format!("{words}; {count} of its lines or events could not be read")),
    }
    ExitCode::from(status)
}
