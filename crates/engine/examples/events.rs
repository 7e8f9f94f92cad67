//! The engine alone: a stream on standard input, its events on standard output.
//!
//! `cargo run -p millpond-engine --example events < recorded.sse`

use std::io::{Read, Write};

use millpond_engine::event::{Event, Millis, Record, Sink};
use millpond_engine::ingest::{Ingest, IngestOptions};
use millpond_engine::run::InputEnd;

struct Lines {
    seq: u64,
    out: std::io::BufWriter<std::io::Stdout>,
    failed: Option<std::io::Error>,
}

impl Sink for Lines {
    fn on_event(&mut self, at_ms: Option<Millis>, event: Event<'_>) {
        let record = Record { seq: self.seq, at_ms, run: "run".into(), event };
        self.seq += 1;
        let written = serde_json::to_writer(&mut self.out, &record)
            .map_err(Into::into)
            .and_then(|()| self.out.write_all(b"\n"));
        self.failed = self.failed.take().or(written.err());
    }
}

fn main() -> std::io::Result<()> {
    let out = std::io::BufWriter::new(std::io::stdout());
    let mut lines = Lines { seq: 0, out, failed: None };
    let mut ingest = Ingest::new(&IngestOptions::default());
    let mut input = std::io::stdin().lock();
    let mut buffer = vec![0; 16 << 10];
    loop {
        let len = input.read(&mut buffer)?;
        if len == 0 {
            break;
        }
        ingest.push(&buffer[..len], None, &mut lines);
    }
    ingest.finish(InputEnd::EndOfInput, None, &mut lines);
    lines.out.flush()?;
    lines.failed.map_or(Ok(()), Err)
}
