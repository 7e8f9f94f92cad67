//! What showing a message costs: bytes to the terminal, time, memory.
//!
//!     cargo run --release -p millpond-terminal --example measure
#![allow(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "it prints a table of figures"
)]

use std::io::{self, Write};

use cpu_time::ThreadTime;
use terminal::markdown::{Links, Markdown};
use terminal::row::Row;
use terminal::screen::{Cursor, Features, Frame, Leave, Screen};
use terminal::size::Size;
use terminal::style::Style;

const SIZE: Size = Size { cols: 120, rows: 40 };
const TOKENS_PER_FRAME: usize = 3;
/// Frames after which the status says another second.
const FRAMES_PER_SECOND: usize = 30;
const FOOTER_ROWS: u16 = 4;

/// Counts, and keeps nothing.
#[derive(Debug, Default)]
struct Counter {
    bytes: usize,
    writes: usize,
}

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len();
        self.writes += 1;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Cost {
    tokens: usize,
    bytes: usize,
    writes: usize,
    /// Processor time of each thousand tokens, in milliseconds.
    thousands: Vec<f64>,
}

/// Streams a text, a few tokens to the frame, above a status that moves and an input line.
fn stream(text: &str) -> io::Result<Cost> {
    let tokens = tokens(text);
    let mut thousands = Vec::new();
    let mut markdown = Markdown::new(Size::new(SIZE.cols, SIZE.rows - FOOTER_ROWS), Links::Behind);
    let mut screen = Screen::new(Counter::default(), SIZE, 0, Features::default());
    let mut frame = 0;
    for thousand in tokens.chunks(1_000) {
        let before = ThreadTime::now();
        for chunk in thousand.chunks(TOKENS_PER_FRAME) {
            for token in chunk {
                markdown.push(token);
            }
            draw(&mut screen, &mut markdown, frame)?;
            frame += 1;
        }
        if thousand.len() == 1_000 {
            thousands.push(before.elapsed().as_secs_f64() * 1e3);
        }
    }
    markdown.finish();
    draw(&mut screen, &mut markdown, 0)?;
    let counter = screen.leave(Leave::Erase)?;
    Ok(Cost { tokens: tokens.len(), bytes: counter.bytes, writes: counter.writes, thousands })
}

fn draw(screen: &mut Screen<Counter>, markdown: &mut Markdown, frame: usize) -> io::Result<()> {
    const SPINNER: [&str; 4] = ["⠋", "⠙", "⠹", "⠸"];
    let settled = markdown.take_settled();
    let mut live = markdown.live();
    let seconds = frame / FRAMES_PER_SECOND;
    let spinner = SPINNER[frame / 4 % SPINNER.len()];
    live.push(Row::default());
    live.push(Row::line(
        &format!("{spinner} answering · {seconds} s · Ctrl-C cancels"),
        Style::DIM,
    ));
    live.push(Row::line("> ", Style::PLAIN));
    live.push(Row::line("transcript · demo", Style::DIM));
    let cursor = Cursor::At { row: live.len() - 2, col: 2 };
    screen.draw(Frame { settled: &settled, live: &live, cursor })
}

/// About four characters each, as models cut them.
fn tokens(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let len = if first.is_ascii() { 5 } else { 2 };
        let end = rest.char_indices().nth(len).map_or(rest.len(), |(at, _)| at);
        let (token, later) = rest.split_at(end);
        out.push(token);
        rest = later;
    }
    out
}

fn prose(tokens: usize) -> String {
    const WORDS: [&str; 12] = [
        "stream",
        "the",
        "renderer",
        "of",
        "settled",
        "rows",
        "and",
        "**never**",
        "changes",
        "what",
        "`scrolled`",
        "away",
    ];
    let mut text = String::new();
    let mut seed = 7_usize;
    while text.len() < tokens * 5 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push_str(WORDS[(seed >> 33) % WORDS.len()]);
        text.push(if (seed >> 20).is_multiple_of(70) { '\n' } else { ' ' });
        if (seed >> 20).is_multiple_of(70) {
            text.push('\n');
        }
    }
    text
}

fn paragraph(tokens: usize) -> String {
    prose(tokens).replace('\n', " ")
}

fn code(tokens: usize) -> String {
    let mut text = "```rust\n".to_owned();
    let mut line = 0;
    while text.len() < tokens * 5 {
        line += 1;
        text.extend([format!(
            "    let value_{line} = compute(\"name {line}\", {line})?; // step {line}\n"
        )]);
    }
    text + "```\n"
}

fn table(tokens: usize) -> String {
    let mut text = "| number | name | description |\n|---:|---|---|\n".to_owned();
    let mut row = 0;
    while text.len() < tokens * 5 {
        row += 1;
        let name = "abcdefghij".get(..row % 10).unwrap_or("");
        text.extend([format!("| {row} | name {name} | a description of entry {row} |\n")]);
    }
    text
}

fn list(tokens: usize) -> String {
    let mut text = String::new();
    while text.len() < tokens * 5 {
        text.push_str(
            "- an item of the list that says **something** of its own\n  - and one below it\n",
        );
    }
    text
}

fn cjk(tokens: usize) -> String {
    let sentence = "水は流れて止まらず、行は一度だけ書かれる。画面は静かで、何も消えない。";
    let mut text = String::new();
    while text.chars().count() < tokens * 2 {
        text.push_str(sentence);
        if text.len().is_multiple_of(7) {
            text.push_str("\n\n");
        }
    }
    text
}

fn open_emphasis(tokens: usize) -> String {
    "**never closed and ".repeat(tokens * 5 / 19)
}

fn resident_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn main() -> io::Result<()> {
    type Make = fn(usize) -> String;
    let kinds: [(&str, Make); 7] = [
        ("prose", prose),
        ("one paragraph", paragraph),
        ("code", code),
        ("table", table),
        ("list", list),
        ("CJK", cjk),
        ("emphasis never closed", open_emphasis),
    ];
    // Colours are loaded once, when the first code needs them.
    stream(&code(10))?;
    println!(
        "| message | bytes per token | ms per 1,000 tokens, of the first 8,000 | of the last of 64,000 | ratio |"
    );
    println!("| --- | ---: | ---: | ---: | ---: |");
    for (name, make) in kinds {
        let short = stream(&make(1_000))?;
        assert!(short.writes <= short.tokens / TOKENS_PER_FRAME + 3, "one write per frame");
        let bytes = short.bytes as f64 / short.tokens as f64;
        let costs = [stream(&make(64_000))?, stream(&make(64_000))?];
        // Other programs can only add to the time: the least of a few is the truest.
        let least =
            |of: &dyn Fn(&Cost) -> Vec<f64>| costs.iter().flat_map(of).fold(f64::MAX, f64::min);
        let first = least(&|cost| cost.thousands[..8].to_vec());
        let end = least(&|cost| cost.thousands[cost.thousands.len() - 8..].to_vec());
        println!("| {name} | {bytes:.1} | {first:.2} | {end:.2} | {:.2} |", end / first);
    }
    stream(&prose(100_000))?;
    if let Some(kib) = resident_kib() {
        println!("\nresident after 100,000 more tokens: {:.1} MB", kib as f64 / 1024.0);
    }
    Ok(())
}
