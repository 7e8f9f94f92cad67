//! `millpond show`: one stream in, its text, final message or events out.

mod control;
mod output;
mod recording;
mod redact;

use std::fs::File;
use std::io::{IsTerminal, Read};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use engine::event::{Ending, FailureReason, Outcome, Reply, Stop};
use engine::ingest::filter::{StartsIn, TagTable};
use engine::ingest::{Ingest, Options};
use engine::run::{Cut, RunOptions};

use crate::args::{Output, Pace, ShowArgs};
use output::Printer;
use recording::{PlayTo, Player, Recorder};

/// Bytes read at once.
const CHUNK_BYTES: usize = 64 << 10;

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
    let mut recorder = match &args.record {
        Some(path) => Some(Recorder::create(path).map_err(|e| Problem::file("write", path, &e))?),
        None => None,
    };
    let mut source = Source::open(args)?;
    let mut ingest = Ingest::new(&options);
    let mut printer = Printer::new(args);
    let mut chunk = vec![0; CHUNK_BYTES];
    let cut = loop {
        let len = match source.read(&mut chunk) {
            Ok(0) => break Cut::EndOfInput,
            Ok(len) => len,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => {
                say(&format!("the input broke off: {error}"));
                break Cut::EndOfInput;
            }
        };
        let bytes = &chunk[..len];
        if let Some(recorder) = &mut recorder {
            recorder.push(bytes).map_err(|e| Problem::new(format!("cannot record: {e}")))?;
        }
        source.play(bytes, args.pace, &mut |bytes, at| ingest.push(bytes, at, &mut printer))?;
        if printer.is_closed() {
            return Ok(ExitCode::SUCCESS);
        }
    };
    source.finish(args.pace, &mut |bytes, at| ingest.push(bytes, at, &mut printer))?;
    if let Some(recorder) = recorder {
        recorder.finish().map_err(|e| Problem::new(format!("cannot record: {e}")))?;
    }
    ingest.finish(cut, None, &mut printer);
    match printer.finish() {
        Ok(Some(ending)) => Ok(status_of(&ending, args)),
        Ok(None) => Ok(ExitCode::SUCCESS),
        Err(error) => Err(Problem::new(format!("cannot write: {error}"))),
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
        run: RunOptions { tags: Arc::new(tags), starts_in, quirks: args.quirks() },
    })
}

/// Where the bytes come from.
struct Source {
    input: Box<dyn Read>,
    player: Player,
}

impl Source {
    fn open(args: &ShowArgs) -> Result<Source, Problem> {
        let input: Box<dyn Read> = match &args.file {
            Some(path) if path.as_os_str() != "-" => {
                Box::new(File::open(path).map_err(|e| Problem::file("read", path, &e))?)
            }
            _ => {
                let input = std::io::stdin();
                if input.is_terminal() && !args.quiet {
                    say("reading standard input; pipe a stream into it, or name a file");
                }
                Box::new(input.lock())
            }
        };
        Ok(Source { input, player: Player::default() })
    }

    fn read(&mut self, chunk: &mut [u8]) -> std::io::Result<usize> {
        self.input.read(chunk)
    }

    fn play(&mut self, bytes: &[u8], pace: Pace, out: &mut PlayTo<'_>) -> Result<(), Problem> {
        self.player.push(bytes, pace, out).map_err(|words| Problem::new(words.to_string()))
    }

    fn finish(&mut self, pace: Pace, out: &mut PlayTo<'_>) -> Result<(), Problem> {
        self.player.finish(pace, out).map_err(|words| Problem::new(words.to_string()))
    }
}

/// The exit status of an ending, and one line about it where it is not simply done.
fn status_of(ending: &Ending<'_>, args: &ShowArgs) -> ExitCode {
    let detail = ending.detail.as_deref();
    let with = |words: &str| match detail {
        Some(detail) => format!("{words}: {detail}"),
        None => words.to_owned(),
    };
    let (words, status) = match ending.outcome {
        Outcome::Completed if ending.stop == Some(Stop::Length) => {
            (with("the reply was cut off by a length limit"), 3)
        }
        Outcome::Completed if ending.reply == Reply::None && args.output != Output::Events => {
            (with("completed, but there is nothing to show"), 0)
        }
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
    say(&words);
    ExitCode::from(status)
}
