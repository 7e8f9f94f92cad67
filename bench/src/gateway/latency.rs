//! From a delta sent to the same delta read, when nothing else was sent within the window.

use std::io;
use std::time::Duration;

use tokio::task::LocalSet;

use super::load::{Writing, crowd, now_ns, stamp};
use super::process::Server;
use super::quantile;
use super::server::Kind;

pub(super) async fn run(deltas: u64) -> io::Result<()> {
    LocalSet::new().run_until(measure(deltas)).await
}

async fn measure(deltas: u64) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let server = Server::start(Kind::Gateway, 0, folder.path(), 0)?;
    let mut writing = Writing::begin(&server).await?;
    writing.delta(&stamp(0, now_ns())).await?;
    let seen = crowd(&server, &server.stream(Kind::Gateway), 1).await?;
    seen.borrow_mut().counting = true;
    for n in 1..=deltas {
        tokio::time::sleep(Duration::from_millis(50)).await;
        writing.delta(&stamp(n, now_ns())).await?;
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    let mut seen = seen.borrow_mut();
    seen.latency_ns.sort_unstable();
    println!(
        "ingest to reader, {} of {deltas} deltas: p50 {} us, p99 {} us",
        seen.events,
        quantile(&seen.latency_ns, 500) / 1000,
        quantile(&seen.latency_ns, 990) / 1000
    );
    Ok(())
}
