//! What a reader costs that follows a stream on which nothing happens.

use std::io;
use std::time::Duration;

use tokio::task::LocalSet;

use super::load::{Writing, crowd, now_ns, stamp};
use super::process::Server;
use super::server::Kind;

pub(super) async fn run(readers: usize) -> io::Result<()> {
    println!("| server | readers | KiB per reader | readers that got the next event |");
    println!("| --- | --- | --- | --- |");
    for kind in [Kind::Bare, Kind::Gateway] {
        LocalSet::new().run_until(measure(kind, readers)).await?;
    }
    Ok(())
}

async fn measure(kind: Kind, readers: usize) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    // The bare loop speaks from time to time, because its readers are there once they heard it.
    let server = Server::start(kind, 1, folder.path(), 0)?;
    let mut writing = None;
    if kind != Kind::Bare {
        let mut begun = Writing::begin(&server).await?;
        begun.delta(&stamp(0, now_ns())).await?;
        writing = Some(begun);
    }
    let before = server.resident_kib();
    let seen = crowd(&server, &server.stream(kind), readers).await?;
    let grown = server.resident_kib() - before;
    seen.borrow_mut().counting = true;
    if let Some(writing) = &mut writing {
        writing.delta(&stamp(1, now_ns())).await?;
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
