//! Measures the time from sending a delta to reading it, with no other delta in the merge window.

use std::io;
use std::time::Duration;

use tokio::task::LocalSet;

use super::load::{RunUpload, format_stamp, now_ns, start_readers_and_await_data};
use super::process::ServerProcess;
use super::quantile;
use super::server::ServerKind;

pub(super) async fn run_latency_bench(deltas: u64) -> io::Result<()> {
    LocalSet::new().run_until(measure_and_print_latency(deltas)).await
}

async fn measure_and_print_latency(deltas: u64) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let server = ServerProcess::start(ServerKind::Gateway, 0, folder.path(), 0)?;
    let mut writing = RunUpload::start(&server).await?;
    writing.send_delta(&format_stamp(0, now_ns())).await?;
    let seen =
        start_readers_and_await_data(&server, &server.stream_path(ServerKind::Gateway), 1).await?;
    seen.borrow_mut().is_counting = true;
    for n in 1..=deltas {
        tokio::time::sleep(Duration::from_millis(50)).await;
        writing.send_delta(&format_stamp(n, now_ns())).await?;
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
