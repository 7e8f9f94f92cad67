//! Ingests arbitrary bytes as the dialect in `MILLPOND_DIALECT` (detected if unset). The events are
//! the same however the bytes are cut, form a well-formed log, and end once.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use millpond_engine::event::{Event, Millis, Sink};
use millpond_engine::ingest::{DialectName, Ingest, IngestOptions};
use millpond_engine::run::InputEnd;
use millpond_engine::run::grammar::EventOrderChecker;

static OPTIONS: LazyLock<IngestOptions> = LazyLock::new(|| {
    let name = std::env::var("MILLPOND_DIALECT").ok();
    let dialect = name.map(|name| name.parse::<DialectName>().expect("a dialect's name"));
    IngestOptions { dialect, ..IngestOptions::default() }
});

#[derive(Default, PartialEq, Debug)]
struct EventCollector(Vec<(Option<Millis>, Event<'static>)>);

impl Sink for EventCollector {
    fn on_event(&mut self, at: Option<Millis>, event: Event<'_>) {
        self.0.push((at, event.into_owned()));
    }
}

fn ingest_chunks<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> EventCollector {
    let mut ingest = Ingest::new(&OPTIONS);
    let mut kept = EventCollector::default();
    for chunk in chunks {
        ingest.push(chunk, None, &mut kept);
    }
    ingest.finish(InputEnd::EndOfInput, None, &mut kept);
    kept
}

fuzz_target!(|bytes: &[u8]| {
    let whole = ingest_chunks([bytes]);
    let mut order = EventOrderChecker::default();
    for (_, event) in &whole.0 {
        order.apply(event).unwrap();
    }
    assert!(order.is_ended());
    // The cut is derived from the bytes, so that a seed is just a stream.
    let sum = bytes.iter().fold(7usize, |sum, &byte| sum.wrapping_mul(31) ^ usize::from(byte));
    let cut = sum % (bytes.len() + 1);
    assert_eq!(ingest_chunks([&bytes[..cut], &bytes[cut..]]), whole);
    assert_eq!(ingest_chunks(bytes.chunks(1 + sum % 7)), whole);
});
