//! Events to frames in each view, beside the ingest of the same stream, and bytes on the wire.

use std::hint::black_box;
use std::path::Path;

use engine::event::{Event, Millis, Record, Sink};
use engine::ingest::{Ingest, Options};
use engine::run::Cut;
use engine::view::ViewName;
use engine::wire::{Content, Encoder, Format, Kind, sse};

use crate::ingest;
use crate::streams::Provider;

/// Keeps a log, to be read again and again.
#[derive(Default)]
struct Keeper {
    records: Vec<Record<'static>>,
    text_bytes: usize,
}

impl Sink for Keeper {
    fn event(&mut self, at_ms: Option<Millis>, event: Event<'_>) {
        if let Event::TextAppended { text, .. } = &event {
            self.text_bytes += text.len();
        }
        let seq = self.records.len() as u64;
        let run = "r1".into();
        self.records.push(Record { seq, at_ms, run, event: event.into_owned() });
    }
}

fn log(stream: &[u8]) -> Keeper {
    let mut ingest = Ingest::new(&Options::default());
    let mut keeper = Keeper::default();
    ingest.push(stream, None, &mut keeper);
    ingest.finish(Cut::EndOfInput, None, &mut keeper);
    keeper
}

/// How many appends become one frame.
#[derive(Clone, Copy)]
enum Merge {
    None,
    Eight,
}

fn encode(kind: Kind, merge: Merge, records: &[Record<'_>]) -> usize {
    let mut encoder = Encoder::new(kind, "session", 0);
    if let Merge::Eight = merge {
        encoder = encoder.merging();
    }
    let mut bytes = 0;
    let mut line = String::new();
    let mut out = |frame: engine::wire::Frame<'_>| {
        line.clear();
        sse::write_event(&frame, &mut line);
        bytes += black_box(&line).len();
    };
    for (at, record) in records.iter().enumerate() {
        encoder.push(record, &mut out);
        if let (Merge::Eight, 7) = (merge, at % 8) {
            encoder.flush(&mut out);
        }
    }
    encoder.flush(&mut out);
    bytes
}

fn kind(view: ViewName, format: Format, content: Content) -> Kind {
    Kind { format, content, ..Kind::new(view) }
}

/// Frames of one view once, for a profiler.
pub(crate) fn once(view: ViewName, stream: &[u8]) -> usize {
    let records = log(stream).records;
    encode(kind(view, Format::Patch, Content::Delta), Merge::None, &records);
    records.len()
}

/// The log of it alone: to be subtracted.
pub(crate) fn only_log(stream: &[u8]) -> usize {
    log(stream).records.len()
}

/// A log of so many short messages with a tool between each two.
fn many_items(items: usize) -> Vec<u8> {
    let deltas = [
        r#"{"content":"Item."}"#,
        r#"{"tool_calls":[{"index":0,"id":"t","function":{"name":"look","arguments":"{}"}}]}"#,
    ];
    let mut stream = String::new();
    for item in 0..items {
        for delta in deltas {
            let id = item.to_string();
            let parts = ["data: {\"id\":\"c", &id, "\",\"choices\":[{\"delta\":", delta, "}]}\n\n"];
            stream.extend(parts);
        }
        stream += "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n";
    }
    stream.into_bytes()
}

#[allow(clippy::cast_precision_loss, reason = "figures for people")]
pub(crate) fn run(deltas: usize, data: Option<&Path>, repeats: usize) -> std::io::Result<()> {
    println!("CPU time, shortest of {repeats}; {deltas} text deltas; patch frames as SSE");
    println!("| stream | view | ingest ms | frames ms | frames / ingest |");
    println!("| --- | --- | --- | --- | --- |");
    for provider in Provider::ALL {
        let stream = ingest::stream_of(provider, deltas, data)?;
        let read = ingest::shortest(repeats, || {
            black_box(ingest::events(provider, black_box(&stream)));
        });
        let log = log(&stream);
        for view in ViewName::ALL {
            for (name, format) in [("patch", Format::Patch), ("own, delta", Format::Own)] {
                let kind = kind(view, format, Content::Delta);
                let time = ingest::shortest(repeats, || {
                    black_box(encode(kind, Merge::None, black_box(&log.records)));
                });
                println!(
                    "| {} | {} {name} | {:.1} | {:.1} | {:.0} % |",
                    provider.name(),
                    view.as_str(),
                    read.as_secs_f64() * 1e3,
                    time.as_secs_f64() * 1e3,
                    100.0 * time.as_secs_f64() / read.as_secs_f64(),
                );
            }
        }
    }
    growth(repeats);
    bytes(data)
}

/// What ten times as many items cost.
fn growth(repeats: usize) {
    println!("\n| view | 1,000 items ms | 10,000 items ms | growth |\n| --- | --- | --- | --- |");
    let (few, many) = (log(&many_items(1_000)).records, log(&many_items(10_000)).records);
    for view in ViewName::ALL {
        let time = |records: &[Record<'_>]| {
            let kind = kind(view, Format::Patch, Content::Delta);
            let time = ingest::shortest(repeats, || {
                black_box(encode(kind, Merge::None, black_box(records)));
            });
            time.as_secs_f64() * 1e3
        };
        let (few, many) = (time(&few), time(&many));
        println!("| {} | {few:.2} | {many:.2} | x {:.1} |", view.as_str(), many / few);
    }
}

#[allow(clippy::cast_precision_loss, reason = "figures for people")]
fn bytes(data: Option<&Path>) -> std::io::Result<()> {
    const DELTAS: usize = 10_000;
    let log = log(&ingest::stream_of(Provider::Chat, DELTAS, data)?);
    let times = |bytes: usize| bytes as f64 / log.text_bytes as f64;
    println!("\nBytes as SSE for each byte of text, {DELTAS} deltas");
    println!("| view | patch | patch, 8 merged | own, delta | own, accumulated |");
    println!("| --- | --- | --- | --- | --- |");
    for view in ViewName::ALL {
        let of = |format, content, merge| {
            times(encode(kind(view, format, content), merge, &log.records))
        };
        println!(
            "| {} | {:.2} | {:.2} | {:.1} | {:.0} |",
            view.as_str(),
            of(Format::Patch, Content::Delta, Merge::None),
            of(Format::Patch, Content::Delta, Merge::Eight),
            of(Format::Own, Content::Delta, Merge::None),
            of(Format::Own, Content::Accumulated, Merge::None),
        );
    }
    Ok(())
}
