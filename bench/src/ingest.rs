//! Bytes to events, filter included, beside the floor.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cpu_time::ProcessTime;
use engine::event::{Event, Millis, Sink};
use engine::ingest::filter::{Filter, Piece, StartsIn, TagTable};
use engine::ingest::{Ingest, Options};
use engine::run::Cut;

use crate::floor;
use crate::streams::{self, Provider};

/// Bytes that arrive at once.
const CHUNK_BYTES: usize = 16 << 10;

/// Counts what comes and keeps nothing.
#[derive(Default)]
pub(crate) struct Counter {
    pub(crate) events: usize,
    pub(crate) text_bytes: usize,
}

impl Sink for Counter {
    fn event(&mut self, _at: Option<Millis>, event: Event<'_>) {
        self.events += 1;
        if let Event::TextAppended { text, .. } = &event {
            self.text_bytes += text.len();
        }
        black_box(&event);
    }
}

pub(crate) fn events(provider: Provider, stream: &[u8]) -> Counter {
    let name = match provider {
        Provider::Chat => "openai-chat",
        Provider::Responses => "openai-responses",
        Provider::Anthropic => "anthropic",
    };
    let options = Options { from: name.parse().ok(), ..Options::default() };
    let mut ingest = Ingest::new(&options);
    let mut counter = Counter::default();
    for chunk in stream.chunks(CHUNK_BYTES) {
        ingest.push(chunk, None, &mut counter);
    }
    ingest.finish(Cut::EndOfInput, None, &mut counter);
    counter
}

/// The shortest CPU time of several runs: the one that was disturbed least.
pub(crate) fn shortest(repeats: usize, mut job: impl FnMut()) -> Duration {
    let times = (0..repeats.max(1)).map(|_| {
        let start = ProcessTime::now();
        job();
        start.elapsed()
    });
    times.min().unwrap_or_default()
}

pub(crate) fn stream_of(
    provider: Provider,
    deltas: usize,
    data: Option<&Path>,
) -> std::io::Result<Vec<u8>> {
    match data {
        Some(folder) => std::fs::read(folder.join(format!("{}_{deltas}.sse", provider.name()))),
        None => Ok(streams::make(provider, deltas)),
    }
}

#[allow(clippy::cast_precision_loss, reason = "figures for people")]
pub(crate) fn run(deltas: usize, data: Option<&Path>, repeats: usize) -> std::io::Result<()> {
    println!("CPU time, shortest of {repeats}; {deltas} text deltas in each stream");
    println!(
        "| stream | payloads | floor ms | ingest ms | ingest / floor rate | allocations per delta |"
    );
    println!("| --- | --- | --- | --- | --- | --- |");
    for provider in Provider::ALL {
        let stream = stream_of(provider, deltas, data)?;
        let (payloads, _) = floor::read(provider, &stream);
        let bare = shortest(repeats, || {
            black_box(floor::read(provider, black_box(&stream)));
        });
        let ours = shortest(repeats, || {
            black_box(events(provider, black_box(&stream)));
        });
        let allocations = allocation_counter::measure(|| {
            black_box(events(provider, &stream));
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
    hiding(&stream_of(Provider::Chat, deltas, data)?, repeats);
    Ok(())
}

/// What hiding costs on top of passing the same deltas on.
#[allow(clippy::cast_precision_loss, reason = "figures for people")]
fn hiding(stream: &[u8], repeats: usize) {
    let deltas = floor::chat_texts(stream);
    let table = Arc::new(TagTable::default());
    let filtered = shortest(repeats, || {
        let mut filter = Filter::new(Arc::clone(&table), StartsIn::Text);
        let mut bytes = 0;
        let mut out = |piece: Piece<'_>| {
            if let Piece::Visible(text) = piece {
                bytes += text.len();
            }
        };
        for delta in &deltas {
            filter.push(black_box(delta), &mut out);
        }
        filter.end_message(&mut out);
        black_box(bytes);
    });
    let passed_on = shortest(repeats, || {
        let mut bytes = 0;
        for delta in &deltas {
            bytes += black_box(delta).len();
        }
        black_box(bytes);
    });
    let cost = filtered.saturating_sub(passed_on).as_secs_f64() * 1e9 / deltas.len() as f64;
    println!("\nhiding: {cost:.1} ns a delta, over {} deltas", deltas.len());
}
