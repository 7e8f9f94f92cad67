//! Measures the memory per reader of an idle stream.

use std::io;
use std::time::Duration;

use tokio::task::LocalSet;

use super::load::{RunUpload, format_stamp, now_ns, start_readers_and_await_data};
use super::process::ServerProcess;
use super::server::ServerKind;

pub(super) async fn run_idle_bench(readers: usize) -> io::Result<()> {
    println!("| server | readers | KiB per reader | readers that got the next event |");
    println!("| --- | --- | --- | --- |");
    for kind in [ServerKind::Bare, ServerKind::Gateway] {
        LocalSet::new().run_until(measure_and_print_idle_memory(kind, readers)).await?;
    }
    Ok(())
}

async fn measure_and_print_idle_memory(kind: ServerKind, readers: usize) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    // The bare loop sends now and then: a reader counts as connected after its first event.
    let server = ServerProcess::start(kind, 1, folder.path(), 0)?;
    let mut writing = None;
    if kind != ServerKind::Bare {
        let mut begun = RunUpload::start(&server).await?;
        begun.send_delta(&format_stamp(0, now_ns())).await?;
        writing = Some(begun);
    }
    let before = server.resident_kib();
    let seen = start_readers_and_await_data(&server, &server.stream_path(kind), readers).await?;
    let grown = server.resident_kib() - before;
    seen.borrow_mut().is_counting = true;
    if let Some(writing) = &mut writing {
        writing.send_delta(&format_stamp(1, now_ns())).await?;
    }
    let all = u64::try_from(readers).unwrap_or(u64::MAX);
    let mut patience = 1000;
    while seen.borrow().events < all && 0 < patience {
        tokio::time::sleep(Duration::from_millis(10)).await;
        patience -= 1;
    }
    let per_reader = grown / f64::from(u32::try_from(readers.max(1)).unwrap_or(u32::MAX));
    let got = seen.borrow().events.min(all);
    println!("| {kind:?} | {readers} | {per_reader:.1} | {got} |");
    Ok(())
}
