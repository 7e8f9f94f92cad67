//! Arbitrary bytes give the same frames however they are cut.
#![no_main]

use libfuzzer_sys::fuzz_target;
use millpond_engine::ingest::frame::{Cutter, CutterOutput};

fn frames<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
    let mut cutter = Cutter::default();
    let mut frames = Vec::new();
    let mut out = |cutting: CutterOutput<'_>| frames.push(format!("{cutting:?}"));
    for chunk in chunks {
        cutter.push(chunk, &mut out);
    }
    cutter.finish(&mut out);
    frames
}

fuzz_target!(|input: (u16, u16, &[u8])| {
    let (one, two, bytes) = input;
    let whole = frames([bytes]);
    let one = usize::from(one) % (bytes.len() + 1);
    let two = one + usize::from(two) % (bytes.len() - one + 1);
    assert_eq!(frames([&bytes[..one], &bytes[one..two], &bytes[two..]]), whole);
    assert_eq!(frames(bytes.chunks(1)), whole);
});
