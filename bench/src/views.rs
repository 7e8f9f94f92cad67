//! View benchmark: events to frames in each view, against the ingest of the same stream; growth
//! with the number of items; bytes on the wire.

use std::hint::black_box;
use std::path::Path;

use millpond_engine::event::{Event, Millis, Record, Sink};
use millpond_engine::ingest::{Ingest, IngestOptions};
use millpond_engine::run::InputEnd;
use millpond_engine::view::ViewName;
use millpond_engine::wire::{ContentMode, Encoder, FrameFormat, StreamKind, sse};

use crate::ingest;
use crate::streams::Provider;

/// Sink that collects records.
#[derive(Default)]
struct RecordCollector {
    records: Vec<Record<'static>>,
    text_bytes: usize,
}

impl Sink for RecordCollector {
    fn on_event(&mut self, at_ms: Option<Millis>, event: Event<'_>) {
        if let Event::TextAppended { text, .. } = &event {
            self.text_bytes += text.len();
        }
        let seq = self.records.len() as u64;
        let run = "r1".into();
        self.records.push(Record { seq, at_ms, run, event: event.into_owned() });
    }
}

/// Ingests the stream and returns its records.
fn collect_records(stream: &[u8]) -> RecordCollector {
    let mut ingest = Ingest::new(&IngestOptions::default());
    let mut keeper = RecordCollector::default();
    ingest.push(stream, None, &mut keeper);
    ingest.finish(InputEnd::EndOfInput, None, &mut keeper);
    keeper
}

/// Merging of appends into one frame.
#[derive(Clone, Copy)]
enum Merge {
    None,
    Eight,
}

/// Encodes all records as SSE frames and returns their size in bytes.
fn encode_and_count_bytes(kind: StreamKind, merge: Merge, records: &[Record<'_>]) -> usize {
    let mut encoder = Encoder::new(kind, "session");
    if let Merge::Eight = merge {
        encoder = encoder.with_merging();
    }
    let mut bytes = 0;
    let mut line = String::new();
    let mut out = |frame: millpond_engine::wire::Frame<'_>| {
        line.clear();
        sse::write_sse_event(&frame, &mut line);
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

fn stream_kind(view: ViewName, format: FrameFormat, content: ContentMode) -> StreamKind {
    StreamKind { format, content, ..StreamKind::new(view) }
}

/// Ingests the stream and encodes one view once, for a profiler. Returns the number of events.
pub(crate) fn ingest_and_encode_view(view: ViewName, stream: &[u8]) -> usize {
    let records = collect_records(stream).records;
    encode_and_count_bytes(
        stream_kind(view, FrameFormat::Patch, ContentMode::Delta),
        Merge::None,
        &records,
    );
    records.len()
}

/// Ingests the stream once, without a view. Returns the number of events.
pub(crate) fn ingest_and_count_records(stream: &[u8]) -> usize {
    collect_records(stream).records.len()
}

/// Generates a stream of short messages, each followed by a tool call.
fn make_many_items_stream(items: usize) -> Vec<u8> {
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

/// Runs the view benchmarks and prints their tables.
#[allow(clippy::cast_precision_loss, reason = "figures for people")]
pub(crate) fn run_views_bench(
    deltas: usize,
    data: Option<&Path>,
    repeats: usize,
) -> std::io::Result<()> {
    println!("CPU time, shortest of {repeats}; {deltas} text deltas; patch frames as SSE");
    println!("| stream | view | ingest ms | frames ms | frames / ingest |");
    println!("| --- | --- | --- | --- | --- |");
    for provider in Provider::ALL {
        let stream = ingest::load_or_make_stream(provider, deltas, data)?;
        let read = ingest::measure_shortest_cpu_time(repeats, || {
            black_box(ingest::ingest_stream(provider, black_box(&stream)));
        });
        let log = collect_records(&stream);
        for view in ViewName::ALL {
            for (name, format) in
                [("patch", FrameFormat::Patch), ("own, delta", FrameFormat::Native)]
            {
                let kind = stream_kind(view, format, ContentMode::Delta);
                let time = ingest::measure_shortest_cpu_time(repeats, || {
                    black_box(encode_and_count_bytes(kind, Merge::None, black_box(&log.records)));
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
    measure_and_print_growth(repeats);
    measure_and_print_wire_bytes(data)
}

/// Prints how the time grows with ten times as many items.
fn measure_and_print_growth(repeats: usize) {
    println!("\n| view | 1,000 items ms | 10,000 items ms | growth |\n| --- | --- | --- | --- |");
    let (few, many) = (
        collect_records(&make_many_items_stream(1_000)).records,
        collect_records(&make_many_items_stream(10_000)).records,
    );
    for view in ViewName::ALL {
        let time = |records: &[Record<'_>]| {
            let kind = stream_kind(view, FrameFormat::Patch, ContentMode::Delta);
            let time = ingest::measure_shortest_cpu_time(repeats, || {
                black_box(encode_and_count_bytes(kind, Merge::None, black_box(records)));
            });
            time.as_secs_f64() * 1e3
        };
        let (few, many) = (time(&few), time(&many));
        println!("| {} | {few:.2} | {many:.2} | x {:.1} |", view.as_str(), many / few);
    }
}

/// Prints the bytes on the wire per byte of text.
#[allow(clippy::cast_precision_loss, reason = "figures for people")]
fn measure_and_print_wire_bytes(data: Option<&Path>) -> std::io::Result<()> {
    const DELTAS: usize = 10_000;
    let log = collect_records(&ingest::load_or_make_stream(Provider::Chat, DELTAS, data)?);
    let times = |bytes: usize| bytes as f64 / log.text_bytes as f64;
    println!("\nBytes as SSE for each byte of text, {DELTAS} deltas");
    println!("| view | patch | patch, 8 merged | own, delta | own, accumulated |");
    println!("| --- | --- | --- | --- | --- |");
    for view in ViewName::ALL {
        let of = |format, content, merge| {
            times(encode_and_count_bytes(stream_kind(view, format, content), merge, &log.records))
        };
        println!(
            "| {} | {:.2} | {:.2} | {:.1} | {:.0} |",
            view.as_str(),
            of(FrameFormat::Patch, ContentMode::Delta, Merge::None),
            of(FrameFormat::Patch, ContentMode::Delta, Merge::Eight),
            of(FrameFormat::Native, ContentMode::Delta, Merge::None),
            of(FrameFormat::Native, ContentMode::Accumulated, Merge::None),
        );
    }
    Ok(())
}
