//! Texts on standard input, their sentences on standard output: one JSON string per line becomes
//! one JSON array of pieces.
//!
//! `echo '"One. Two."' | cargo run -p millpond-engine --example sentences`

use std::io::{BufRead, Write};

use millpond_engine::sentence::{SentenceSplitter, SplitOutput};

fn split_sentences(text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut open = String::new();
    let mut out = |output: SplitOutput<'_>| match output {
        SplitOutput::Text(text) => open.push_str(text),
        SplitOutput::PieceEnd => pieces.push(std::mem::take(&mut open)),
    };
    let mut splitter = SentenceSplitter::new();
    splitter.push(text, &mut out);
    splitter.finish(&mut out);
    pieces
}

fn main() -> std::io::Result<()> {
    let mut out = std::io::BufWriter::new(std::io::stdout());
    for line in std::io::stdin().lock().lines() {
        let text: String = serde_json::from_str(&line?)?;
        serde_json::to_writer(&mut out, &split_sentences(&text))?;
        out.write_all(b"\n")?;
    }
    out.flush()
}
