//! Measures how long a gateway takes to start on a long log with an open run.

use std::io;
use std::time::Duration;

use tokio::task::LocalSet;

use super::load::{RunUpload, format_stamp, now_ns, start_readers_and_await_data};
use super::process::ServerProcess;
use super::server::ServerKind;

pub(super) async fn run_recovery_bench(events: u64) -> io::Result<()> {
    LocalSet::new().run_until(measure_and_print_recovery(events)).await
}

async fn measure_and_print_recovery(events: u64) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let server = ServerProcess::start(ServerKind::Gateway, 0, folder.path(), 0)?;
    let mut writing = RunUpload::start(&server).await?;
    writing.send_delta(&format_stamp(0, now_ns())).await?;
    let seen =
        start_readers_and_await_data(&server, &server.stream_path(ServerKind::Gateway), 1).await?;
    seen.borrow_mut().is_counting = true;
    for n in 1..events {
        writing.queue_delta(&format_stamp(n, now_ns()));
        if n % 64 == 0 {
            writing.send_queued().await?;
        }
    }
    writing.send_queued().await?;
    while seen.borrow().events + 1 < events {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    server.kill()?;
    let server = ServerProcess::start(ServerKind::Gateway, 0, folder.path(), 0)?;
    println!(
        "start after a kill, {events} events in an open run: {:?}, of it opening the log and ending the run {:?}",
        server.startup_time, server.log_open_time
    );
    Ok(())
}
