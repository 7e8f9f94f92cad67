//! Any bytes, read as the dialect that `MILLPOND_DIALECT` names (recognised if it is not set):
//! cut anywhere they give the same events, those are a well-formed log, and it ends once.
#![no_main]

use std::sync::LazyLock;

use engine::event::{Event, Millis, Sink};
use engine::ingest::{DialectName, Ingest, Options};
use engine::run::Cut;
use engine::run::grammar::Grammar;
use libfuzzer_sys::fuzz_target;

static OPTIONS: LazyLock<Options> = LazyLock::new(|| {
    let name = std::env::var("MILLPOND_DIALECT").ok();
    let from = name.map(|name| name.parse::<DialectName>().expect("a dialect's name"));
    Options { from, ..Options::default() }
});

#[derive(Default, PartialEq, Debug)]
struct Kept(Vec<(Option<Millis>, Event<'static>)>);

impl Sink for Kept {
    fn event(&mut self, at: Option<Millis>, event: Event<'_>) {
        self.0.push((at, event.into_owned()));
    }
}

fn events<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Kept {
    let mut ingest = Ingest::new(&OPTIONS);
    let mut kept = Kept::default();
    for chunk in chunks {
        ingest.push(chunk, None, &mut kept);
    }
    ingest.finish(Cut::EndOfInput, None, &mut kept);
    kept
}

fuzz_target!(|bytes: &[u8]| {
    let whole = events([bytes]);
    let mut grammar = Grammar::default();
    for (_, event) in &whole.0 {
        grammar.apply(event).unwrap();
    }
    assert!(grammar.is_ended());
    // Where to cut follows from the bytes, so that a seed is just a stream.
    let sum = bytes.iter().fold(7usize, |sum, &byte| sum.wrapping_mul(31) ^ usize::from(byte));
    let cut = sum % (bytes.len() + 1);
    assert_eq!(events([&bytes[..cut], &bytes[cut..]]), whole);
    assert_eq!(events(bytes.chunks(1 + sum % 7)), whole);
});
