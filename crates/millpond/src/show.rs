//! `millpond show`: reads one stream and prints its view, text, final message, frames or events.

pub(crate) mod input;
pub(crate) mod page_text;
mod printer;
mod recording;
mod redact;
mod stop_signal;
pub(crate) mod stream_summary;

use std::path::Path;
use std::process::ExitCode;

use millpond_engine::event::{FailureReason, Outcome, Reply, StopReason};
use millpond_engine::ingest::{Ingest, IngestOptions};
use millpond_engine::run::{InputEnd, SourceOptions};
use millpond_terminal::text::neutralise_to_one_line;

use crate::args::{InputArgs, ShowArgs, SourceArgs, TagsFileError};
use input::{InputReader, ReadControl};
use printer::Printer;
use recording::Recorder;
use stream_summary::{PrintedContent, StreamSummary};

/// Prints one line to standard error, prefixed with `millpond: `.
#[allow(clippy::print_stderr, reason = "the only place that prints messages")]
pub(crate) fn print_to_stderr(words: &str) {
    eprintln!("millpond: {}", neutralise_to_one_line(words));
}

/// Runs `millpond show`.
pub(crate) fn run(args: &ShowArgs) -> ExitCode {
    show_stream(args).unwrap_or_else(CommandError::print_and_return_status)
}

/// Error of `show` or `compare`: a message and an exit status.
pub(crate) struct CommandError {
    pub(crate) message: String,
    pub(crate) exit_status: u8,
}

impl CommandError {
    /// Prints the message to standard error and returns the exit status.
    pub(crate) fn print_and_return_status(self) -> ExitCode {
        print_to_stderr(&self.message);
        ExitCode::from(self.exit_status)
    }

    /// Error with exit status 1.
    pub(crate) fn new(message: String) -> CommandError {
        CommandError { message, exit_status: 1 }
    }

    /// IO error of a file; `what` is the failed action, such as "read".
    pub(crate) fn for_file(what: &str, path: &Path, error: &std::io::Error) -> CommandError {
        CommandError::new(format!("cannot {what} {}: {error}", path.display()))
    }
}

/// Reads the whole input, records and prints it, and returns the exit status of its ending.
fn show_stream(args: &ShowArgs) -> Result<ExitCode, CommandError> {
    let options = load_ingest_options(&args.input)?;
    let source = InputReader::start_reading_and_signal_handling(&args.input)?;
    let mut recorder = match &args.record {
        Some(path) => Some(
            Recorder::create_new(path)
                .map_err(|error| CommandError::for_file("record to", path, &error))?,
        ),
        None => None,
    };
    let mut ingest = Ingest::new(&options);
    let mut printer = Printer::new(args);
    let played = source.read_until_end_or_stop(args.pace, &mut |bytes, at| {
        if let Some(open) = &mut recorder
            && let Err(error) = open.write_complete_lines(bytes)
        {
            print_to_stderr(&format!("recording stopped: {error}"));
            recorder = None;
        }
        ingest.push(bytes, at, &mut printer);
        printer.flush();
        // A recording continues to the end of the input after the output is closed.
        if printer.is_closed_or_failed() && recorder.is_none() {
            ReadControl::Stop
        } else {
            ReadControl::Continue
        }
    });
    if let Some(recorder) = recorder {
        recorder.finish().map_err(|error| CommandError::new(format!("cannot record: {error}")))?;
    }
    ingest.finish(*played.as_ref().unwrap_or(&InputEnd::EndOfInput), None, &mut printer);
    let tally = printer.finish().map_err(|e| CommandError::new(format!("cannot write: {e}")))?;
    match (played, tally) {
        (Err(words), _) => Err(CommandError { message: words, exit_status: 3 }),
        (Ok(_), Some(tally)) => Ok(print_ending_and_return_status(&tally)),
        (Ok(_), None) => Ok(ExitCode::SUCCESS),
    }
}

/// Builds the ingest options; reads the `--tags` files and warns about a risky finish word.
pub(crate) fn load_ingest_options(args: &InputArgs) -> Result<IngestOptions, CommandError> {
    let run = load_source_options(&args.source)?.build_run_options();
    if let Some(word) = run.control_words.iter().find(|word| word.starts_with_alphanumeric())
        && !args.quiet
    {
        print_to_stderr(&format!(
            "warning: `{word}` is also hidden at the end of longer words; `!{word}` is safer"
        ));
    }
    Ok(IngestOptions { dialect: args.explicit_dialect(), run })
}

/// Builds the options of a source; reads the `--tags` files.
pub(crate) fn load_source_options(args: &SourceArgs) -> Result<SourceOptions, CommandError> {
    args.read_files_and_build_options().map_err(|error| match error {
        TagsFileError::Unreadable(path, error) => CommandError::for_file("read", &path, &error),
        TagsFileError::Invalid(path, problem) => {
            CommandError { message: format!("{}, {problem}", path.display()), exit_status: 2 }
        }
    })
}

/// Names unrecognised input by its first line.
fn describe_unrecognised_input(tally: &StreamSummary) -> String {
    match &tally.first_unrecognised {
        Some(line) => format!("unrecognised input (first line: {line:?})"),
        None => "unrecognised input".to_owned(),
    }
}

/// Prints how the run ended, unless it simply completed, and returns the exit status.
pub(crate) fn print_ending_and_return_status(tally: &StreamSummary) -> ExitCode {
    let Some(ending) = &tally.ending else { return ExitCode::SUCCESS };
    let detail = ending.detail.as_deref();
    let with = |words: &str| match detail {
        Some(detail) => format!("{words}: {detail}"),
        None => words.to_owned(),
    };
    let (words, status) = match ending.outcome {
        Outcome::Completed if ending.stop == Some(StopReason::Length) => {
            (with("reply cut off by a length limit"), 3)
        }
        Outcome::Completed
            if ending.reply == Reply::None && tally.printed == PrintedContent::Nothing =>
        {
            (with("completed, but nothing to show"), 0)
        }
        Outcome::Completed if 0 < tally.unreadable_count => ("completed".to_owned(), 0),
        Outcome::Completed => return ExitCode::SUCCESS,
        Outcome::Failed => (
            match ending.reason {
                Some(FailureReason::Refused) => with("refused"),
                Some(FailureReason::Limit) => with("limit reached"),
                Some(FailureReason::Unrecognised) => with(&describe_unrecognised_input(tally)),
                Some(FailureReason::Empty) => "empty input".to_owned(),
                Some(FailureReason::Storage) => with("cannot write the log"),
                Some(FailureReason::Error) | None => with("failed"),
            },
            1,
        ),
        Outcome::Cancelled => (with("cancelled"), 3),
        Outcome::Truncated => (with("stream cut off before its end"), 3),
        Outcome::Stalled => (with("stream stalled"), 3),
        Outcome::Interrupted => (with("interrupted"), 3),
    };
    match tally.unreadable_count {
        0 => print_to_stderr(&words),
        count => print_to_stderr(&format!("{words}; unreadable lines or events: {count}")),
    }
    ExitCode::from(status)
}
