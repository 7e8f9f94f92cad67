//! A recorded stream to the bubbles view: one line per message, then how the run ended.
//!
//! `cargo run -p millpond-engine --example bubbles recorded.sse`

use millpond_engine::{
    Event, Ingest, IngestOptions, InputEnd, Page, Record, View, ViewName, ViewOptions,
};

/// The page of the bubbles view after the whole stream.
pub(crate) fn show_bubbles(stream: &[u8]) -> Page {
    let mut view = View::new(ViewName::Bubbles, ViewOptions::default());
    let mut page = Page::default();
    let mut seq = 0;
    let mut sink = |at_ms, event: Event<'_>| {
        let record = Record { seq, at_ms, run: "run".into(), event };
        view.apply(&record, &mut |patch| page.apply(&patch));
        seq += 1;
    };
    let mut ingest = Ingest::new(&IngestOptions::default());
    ingest.push(stream, None, &mut sink);
    ingest.finish(InputEnd::EndOfInput, None, &mut sink);
    page
}

#[allow(clippy::print_stdout, reason = "the example prints")]
fn main() -> std::io::Result<()> {
    let path = std::env::args().nth(1).ok_or_else(|| std::io::Error::other("no file named"))?;
    let page = show_bubbles(&std::fs::read(path)?);
    for item in page.items.values() {
        println!("{:?}: {}", item.kind, item.text);
    }
    println!("{}", page.label);
    Ok(())
}
