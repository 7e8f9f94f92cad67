//! How long it takes to attach to a long run among many sessions and to have all of it.

use std::io;
use std::time::Instant;

use tokio::io::AsyncReadExt;

use super::load::{Writing, open};
use super::process::Server;
use super::quantile;
use super::server::Kind;

const SESSIONS: u64 = 10_000;
const EVENTS: u64 = 2000;

pub(super) async fn run(repeats: usize) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let server = Server::start(Kind::Gateway, 0, folder.path(), SESSIONS)?;
    let mut writing = Writing::begin(&server).await?;
    for n in 0..EVENTS {
        writing.delta(&format!("word {n} ")).await?;
    }
    writing.delta("the last one").await?;
    writing.end().await?;
    let mut taken = Vec::new();
    let target = server.stream(Kind::Gateway);
    for _ in 0..repeats {
        let begun = Instant::now();
        let mut stream = open(&server, &target).await?;
        let mut buffer = Vec::with_capacity(1 << 20);
        while memchr::memmem::find(&buffer, b"{\"ended\"").is_none() {
            let had = buffer.len();
            if stream.read_buf(&mut buffer).await? == 0 {
                return Err(io::Error::other("the stream ended early"));
            }
            // Only what is new is looked at next time, but for a word cut in two.
            buffer.drain(..had.saturating_sub(16));
        }
        taken.push(u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX));
    }
    taken.sort_unstable();
    println!(
        "attach and replay of {EVENTS} events among {SESSIONS} sessions: p50 {} us, p99 {} us",
        quantile(&taken, 500),
        quantile(&taken, 990)
    );
    Ok(())
}
