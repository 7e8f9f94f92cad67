//! What drawing costs by itself: changes of a page in, bytes for a terminal out, all in this thread.
//!
//! Only the chat is timed: what comes before it, a gateway does elsewhere.

use std::io::{self, Write};
use std::time::Instant;

use cpu_time::ThreadTime;
use engine::event::{Event, Millis, Record, Sink};
use engine::ingest::{Ingest, Options};
use engine::run::Cut;
use engine::view::ViewName;
use engine::wire::{Encoder, Format, Kind};
use terminal::chat::Chat;
use terminal::input::history::History;
use terminal::links::Links;
use terminal::page::Look;
use terminal::screen::{Features, Frame, Screen};
use terminal::size::Size;

use super::answers::{Answer, tokens};
use super::{TOGETHER, real, row};

const SIZE: Size = Size { cols: 120, rows: 40 };
const LONG_TOKENS: usize = 64_000;
const TURNS: usize = 200;
const TURN_TOKENS: usize = 400;
/// What lies in the middle of so many counts.
const NEIGHBOURS: usize = 8;

pub(super) fn run() -> io::Result<()> {
    for answer in Answer::ALL {
        let mut thousands = Vec::new();
        for _ in 0..2 {
            thousands.push(message(&answer.text(LONG_TOKENS))?);
        }
        let first = thousands.iter().flat_map(|all| &all[..NEIGHBOURS]);
        let last = thousands.iter().flat_map(|all| &all[all.len() - NEIGHBOURS..]);
        let name = answer.name();
        growth(&format!("R7 drawing per 1,000 tokens, {name}"), first, last, "≤ 20 ms", "64,000th");
    }
    let turns = conversation()?;
    growth(
        "R7 drawing per 1,000 tokens, turn by turn",
        &turns[..NEIGHBOURS],
        &turns[TURNS - NEIGHBOURS..],
        "≤ 20 ms",
        "200th turn",
    );
    Ok(())
}

fn growth<'a>(
    what: &str,
    first: impl IntoIterator<Item = &'a f64>,
    last: impl IntoIterator<Item = &'a f64>,
    goal: &str,
    end: &str,
) {
    let middle = |all: &mut dyn Iterator<Item = &'a f64>| {
        let mut all: Vec<f64> = all.copied().collect();
        all.sort_unstable_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let (first, last) = (middle(&mut first.into_iter()), middle(&mut last.into_iter()));
    let words = format!("{first:.1} ms at first, {last:.1} ms at the {end}: × {:.2}", last / first);
    row(what, &format!("{goal}, × 1.2"), &words, "");
}

/// Milliseconds of each thousand tokens of one message.
fn message(text: &str) -> io::Result<Vec<f64>> {
    let mut drawing = Drawing::new();
    let mut run = Ingest::new(&Options::default());
    let mut thousands = Vec::new();
    for thousand in tokens(text).chunks(1_000) {
        let spent = drawing.say(&mut run, thousand)?;
        if thousand.len() == 1_000 {
            thousands.push(spent);
        }
    }
    Ok(thousands)
}

/// Milliseconds per thousand tokens of each turn.
fn conversation() -> io::Result<Vec<f64>> {
    let mut drawing = Drawing::new();
    let text = Answer::Prose.text(TURN_TOKENS);
    let tokens = tokens(&text);
    let mut turns = Vec::new();
    for turn in 0..TURNS {
        drawing.log.run = format!("r{turn}");
        let mut run = Ingest::new(&Options::default());
        let spent = drawing.say(&mut run, &tokens)?;
        run.finish(Cut::EndOfInput, None, &mut drawing.log);
        let ended = drawing.draw()?;
        turns.push((spent + ended) * 1e3 / real(tokens.len()));
    }
    Ok(turns)
}

/// Counts, and keeps nothing.
#[derive(Debug, Default)]
struct Nowhere;

impl Write for Nowhere {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(std::hint::black_box(bytes).len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A log as it grows, and the changes of the page that nobody has seen.
struct Log {
    encoder: Encoder,
    run: String,
    seq: u64,
    patches: Vec<String>,
}

impl Sink for Log {
    fn event(&mut self, at_ms: Option<Millis>, event: Event<'_>) {
        let record = Record { seq: self.seq, at_ms, run: self.run.as_str().into(), event };
        self.seq += 1;
        let patches = &mut self.patches;
        self.encoder.push(&record, &mut |frame| patches.push(frame.data.to_owned()));
    }
}

struct Drawing {
    log: Log,
    chat: Chat,
    screen: Screen<Nowhere>,
    began: Instant,
}

impl Drawing {
    fn new() -> Drawing {
        let kind = Kind { format: Format::Patch, ..Kind::new(ViewName::Transcript) };
        let look = Look { size: SIZE, links: Links::Behind };
        Drawing {
            log: Log {
                encoder: Encoder::new(kind, "session", 0),
                run: "r".to_owned(),
                seq: 0,
                patches: Vec::new(),
            },
            chat: Chat::new(ViewName::Transcript, look, History::new(&[]), "".into()),
            screen: Screen::new(Nowhere, SIZE, 0, Features::default()),
            began: Instant::now(),
        }
    }

    /// Milliseconds that drawing these tokens takes, a few to the frame.
    fn say(&mut self, run: &mut Ingest, tokens: &[&str]) -> io::Result<f64> {
        let mut spent = 0.0;
        for together in tokens.chunks(TOGETHER) {
            let delta =
                serde_json::json!({ "choices": [{ "delta": { "content": together.concat() } }] });
            run.push(format!("data: {delta}\n\n").as_bytes(), None, &mut self.log);
            spent += self.draw()?;
        }
        Ok(spent)
    }

    fn draw(&mut self) -> io::Result<f64> {
        let before = ThreadTime::now();
        for patch in self.log.patches.drain(..) {
            self.chat.patch(&patch, self.began).map_err(io::Error::other)?;
        }
        let settled = self.chat.take_settled();
        let live = self.chat.live(self.began);
        let frame = Frame { settled: &settled, live: &live.rows, cursor: live.cursor };
        self.screen.draw(frame)?;
        Ok(before.elapsed().as_secs_f64() * 1e3)
    }
}
