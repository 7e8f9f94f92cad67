//! Measures attaching to and replaying a long run among many sessions.

use std::io;
use std::time::Instant;

use tokio::io::AsyncReadExt;

use super::load::{RunUpload, connect_and_request_stream};
use super::process::ServerProcess;
use super::quantile;
use super::server::ServerKind;

const SESSIONS: u64 = 10_000;
const EVENTS: u64 = 2000;

pub(super) async fn run_attach_bench(repeats: usize) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let server = ServerProcess::start(ServerKind::Gateway, 0, folder.path(), SESSIONS)?;
    let mut writing = RunUpload::start(&server).await?;
    for n in 0..EVENTS {
        writing.send_delta(&format!("word {n} ")).await?;
    }
    writing.send_delta("the last one").await?;
    writing.end_body_and_await_any_response().await?;
    let mut taken = Vec::new();
    let target = server.stream_path(ServerKind::Gateway);
    for _ in 0..repeats {
        let begun = Instant::now();
        let mut stream = connect_and_request_stream(&server, &target).await?;
        let mut buffer = Vec::with_capacity(1 << 20);
        while memchr::memmem::find(&buffer, b"{\"ended\"").is_none() {
            let had = buffer.len();
            if stream.read_buf(&mut buffer).await? == 0 {
                return Err(io::Error::other("the stream ended early"));
            }
            // Keep only the new bytes, and enough of the old for a marker cut in two.
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
