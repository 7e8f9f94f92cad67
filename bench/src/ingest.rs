//! Ingest benchmark: bytes to events, filter included, against the baseline.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cpu_time::ProcessTime;
use millpond_engine::event::{Event, Millis, Sink};
use millpond_engine::filter::{Filter, FilterStart, Piece, TagTable};
use millpond_engine::ingest::{Ingest, IngestOptions};
use millpond_engine::run::InputEnd;

use crate::floor;
use crate::streams::{self, Provider};

/// Size of one chunk.
const CHUNK_BYTES: usize = 16 << 10;

/// Sink that counts events and text bytes.
#[derive(Default)]
pub(crate) struct EventCounter {
    pub(crate) events: usize,
    pub(crate) text_bytes: usize,
}

impl Sink for EventCounter {
    fn on_event(&mut self, _at: Option<Millis>, event: Event<'_>) {
        self.events += 1;
        if let Event::TextAppended { text, .. } = &event {
            self.text_bytes += text.len();
        }
        black_box(&event);
    }
}

/// Ingests the whole stream and counts its events.
pub(crate) fn ingest_stream(provider: Provider, stream: &[u8]) -> EventCounter {
    let name = match provider {
        Provider::Chat => "openai-chat",
        Provider::Responses => "openai-responses",
        Provider::Anthropic => "anthropic",
    };
    let options = IngestOptions { dialect: name.parse().ok(), ..IngestOptions::default() };
    let mut ingest = Ingest::new(&options);
    let mut counter = EventCounter::default();
    for chunk in stream.chunks(CHUNK_BYTES) {
        ingest.push(chunk, None, &mut counter);
    }
    ingest.finish(InputEnd::EndOfInput, None, &mut counter);
    counter
}

/// Runs `job` several times and returns the shortest CPU time, the least disturbed.
pub(crate) fn measure_shortest_cpu_time(repeats: usize, mut job: impl FnMut()) -> Duration {
    let times = (0..repeats.max(1)).map(|_| {
        let start = ProcessTime::now();
        job();
        start.elapsed()
    });
    times.min().unwrap_or_default()
}

/// Reads the stream from the folder, or generates it.
pub(crate) fn load_or_make_stream(
    provider: Provider,
    deltas: usize,
    data: Option<&Path>,
) -> std::io::Result<Vec<u8>> {
    match data {
        Some(folder) => std::fs::read(folder.join(format!("{}_{deltas}.sse", provider.name()))),
        None => Ok(streams::make_stream(provider, deltas)),
    }
}

/// Runs the ingest benchmark and prints its table.
#[allow(clippy::cast_precision_loss, reason = "figures for people")]
pub(crate) fn run_ingest_bench(
    deltas: usize,
    data: Option<&Path>,
    repeats: usize,
) -> std::io::Result<()> {
    println!("CPU time, shortest of {repeats}; {deltas} text deltas in each stream");
    println!(
        "| stream | payloads | floor ms | ingest ms | ingest / floor rate | allocations per delta |"
    );
    println!("| --- | --- | --- | --- | --- | --- |");
    for provider in Provider::ALL {
        let stream = load_or_make_stream(provider, deltas, data)?;
        let (payloads, _) = floor::count_payloads_and_text(provider, &stream);
        let bare = measure_shortest_cpu_time(repeats, || {
            black_box(floor::count_payloads_and_text(provider, black_box(&stream)));
        });
        let ours = measure_shortest_cpu_time(repeats, || {
            black_box(ingest_stream(provider, black_box(&stream)));
        });
        let allocations = allocation_counter::measure(|| {
            black_box(ingest_stream(provider, &stream));
        });
        println!(
            "| {} | {payloads} | {:.1} | {:.1} | {:.0} % | {:.4} |",
            provider.name(),
            bare.as_secs_f64() * 1e3,
            ours.as_secs_f64() * 1e3,
            100.0 * bare.as_secs_f64() / ours.as_secs_f64(),
            allocations.count_total as f64 / payloads as f64,
        );
    }
    measure_and_print_filter(&load_or_make_stream(Provider::Chat, deltas, data)?, repeats);
    Ok(())
}

/// Prints the cost of the filter per delta.
#[allow(clippy::cast_precision_loss, reason = "figures for people")]
fn measure_and_print_filter(stream: &[u8], repeats: usize) {
    let deltas = floor::chat_text_deltas(stream);
    let table = Arc::new(TagTable::default());
    let filtered = measure_shortest_cpu_time(repeats, || {
        let mut filter = Filter::new(Arc::clone(&table), FilterStart::Text);
        let mut bytes = 0;
        let mut out = |piece: Piece<'_>| {
            if let Piece::Visible(text) = piece {
                bytes += text.len();
            }
        };
        for delta in &deltas {
            filter.push(black_box(delta), &mut out);
        }
        filter.end_message_keeping_open_tag(&mut out);
        black_box(bytes);
    });
    let passed_on = measure_shortest_cpu_time(repeats, || {
        let mut bytes = 0;
        for delta in &deltas {
            bytes += black_box(delta).len();
        }
        black_box(bytes);
    });
    let cost = filtered.saturating_sub(passed_on).as_secs_f64() * 1e9 / deltas.len() as f64;
    println!("\nfilter: {cost:.1} ns per delta, over {} deltas", deltas.len());
}
