//! Measures drawing alone: patches of a page in, bytes for a terminal out, on one thread.
//!
//! Only the chat is timed, not the gateway's work before it.

use std::io::{self, Write};
use std::time::Instant;

use cpu_time::ThreadTime;
use millpond_engine::event::{Event, Millis, Record, Sink};
use millpond_engine::ingest::{Ingest, IngestOptions};
use millpond_engine::run::InputEnd;
use millpond_engine::view::ViewName;
use millpond_engine::wire::patch::decode;
use millpond_engine::wire::{Encoder, FrameFormat, StreamKind};
use millpond_terminal::chat::Chat;
use millpond_terminal::hyperlinks::HyperlinkMode;
use millpond_terminal::input::history::History;
use millpond_terminal::page::RenderOptions;
use millpond_terminal::screen::{Frame, Screen, TerminalFeatures};
use millpond_terminal::size::Size;

use super::answers::{AnswerKind, split_tokens};
use super::{TOKENS_PER_FRAME, print_row, to_f64};

const SIZE: Size = Size { cols: 120, rows: 40 };
const LONG_TOKENS: usize = 64_000;
const TURNS: usize = 200;
const TURN_TOKENS: usize = 400;
/// Number of samples at each end whose median is compared.
const MEDIAN_SAMPLES: usize = 8;

pub(super) fn run_drawing_bench() -> io::Result<()> {
    for answer in AnswerKind::ALL {
        let mut thousands = Vec::new();
        for _ in 0..2 {
            thousands.push(measure_message(&answer.make_text(LONG_TOKENS))?);
        }
        let first = thousands.iter().flat_map(|all| &all[..MEDIAN_SAMPLES]);
        let last = thousands.iter().flat_map(|all| &all[all.len() - MEDIAN_SAMPLES..]);
        let name = answer.name();
        print_growth(
            &format!("R7 drawing per 1,000 tokens, {name}"),
            first,
            last,
            "≤ 20 ms",
            "64,000th",
        );
    }
    let turns = measure_conversation()?;
    print_growth(
        "R7 drawing per 1,000 tokens, turn by turn",
        &turns[..MEDIAN_SAMPLES],
        &turns[TURNS - MEDIAN_SAMPLES..],
        "≤ 20 ms",
        "200th turn",
    );
    Ok(())
}

/// Prints the medians of the first and the last samples, and their ratio.
fn print_growth<'a>(
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
    print_row(what, &format!("{goal}, × 1.2"), &words, "");
}

/// Draws one message; returns the milliseconds per thousand tokens.
fn measure_message(text: &str) -> io::Result<Vec<f64>> {
    let mut drawing = DrawingBench::new();
    let mut run = Ingest::new(&IngestOptions::default());
    let mut thousands = Vec::new();
    for thousand in split_tokens(text).chunks(1_000) {
        let spent = drawing.time_drawing_tokens(&mut run, thousand)?;
        if thousand.len() == 1_000 {
            thousands.push(spent);
        }
    }
    Ok(thousands)
}

/// Draws a conversation; returns the milliseconds per thousand tokens of each turn.
fn measure_conversation() -> io::Result<Vec<f64>> {
    let mut drawing = DrawingBench::new();
    let text = AnswerKind::Prose.make_text(TURN_TOKENS);
    let tokens = split_tokens(&text);
    let mut turns = Vec::new();
    for turn in 0..TURNS {
        drawing.log.run = format!("r{turn}");
        let mut run = Ingest::new(&IngestOptions::default());
        let spent = drawing.time_drawing_tokens(&mut run, &tokens)?;
        run.finish(InputEnd::EndOfInput, None, &mut drawing.log);
        let ended = drawing.time_drawing_pending()?;
        turns.push((spent + ended) * 1e3 / to_f64(tokens.len()));
    }
    Ok(turns)
}

/// Writer that discards its input.
#[derive(Debug, Default)]
struct NullWriter;

impl Write for NullWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(std::hint::black_box(bytes).len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Growing log, and the patches not yet drawn.
struct PatchLog {
    encoder: Encoder,
    run: String,
    seq: u64,
    patches: Vec<String>,
}

impl Sink for PatchLog {
    fn on_event(&mut self, at_ms: Option<Millis>, event: Event<'_>) {
        let record = Record { seq: self.seq, at_ms, run: self.run.as_str().into(), event };
        self.seq += 1;
        let patches = &mut self.patches;
        self.encoder.push(&record, &mut |frame| patches.push(frame.data.to_owned()));
    }
}

/// Chat and screen fed from a log, without a terminal.
struct DrawingBench {
    log: PatchLog,
    chat: Chat,
    screen: Screen<NullWriter>,
    began: Instant,
}

impl DrawingBench {
    fn new() -> DrawingBench {
        let kind =
            StreamKind { format: FrameFormat::Patch, ..StreamKind::new(ViewName::Transcript) };
        let look = RenderOptions { size: SIZE, hyperlinks: HyperlinkMode::Osc8 };
        DrawingBench {
            log: PatchLog {
                encoder: Encoder::new(kind, "session"),
                run: "r".to_owned(),
                seq: 0,
                patches: Vec::new(),
            },
            chat: Chat::new(ViewName::Transcript, look, History::new(&[]), "".into()),
            screen: Screen::new(NullWriter, SIZE, 0, TerminalFeatures::default()),
            began: Instant::now(),
        }
    }

    /// Draws these tokens, a few per frame; returns the milliseconds.
    fn time_drawing_tokens(&mut self, run: &mut Ingest, tokens: &[&str]) -> io::Result<f64> {
        let mut spent = 0.0;
        for together in tokens.chunks(TOKENS_PER_FRAME) {
            let delta =
                serde_json::json!({ "choices": [{ "delta": { "content": together.concat() } }] });
            run.push(format!("data: {delta}\n\n").as_bytes(), None, &mut self.log);
            spent += self.time_drawing_pending()?;
        }
        Ok(spent)
    }

    /// Draws the pending patches as one frame; returns the milliseconds.
    fn time_drawing_pending(&mut self) -> io::Result<f64> {
        let before = ThreadTime::now();
        for data in self.log.patches.drain(..) {
            let patch = decode(&data, self.chat.renderer().page())
                .map_err(|invalid| io::Error::other(invalid.problem))?;
            self.chat.apply_patch(&patch, self.began);
        }
        let settled = self.chat.take_settled();
        let live = self.chat.render_live_region(self.began);
        let frame = Frame { settled: &settled, live: &live.rows, cursor: live.cursor };
        self.screen.draw_frame(frame)?;
        Ok(before.elapsed().as_secs_f64() * 1e3)
    }
}
