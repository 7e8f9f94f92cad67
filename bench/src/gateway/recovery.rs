//! How long a gateway takes to start on a long log whose run nobody ended.

use std::io;
use std::time::Duration;

use tokio::task::LocalSet;

use super::load::{Writing, crowd, now_ns, stamp};
use super::process::Server;
use super::server::Kind;

pub(super) async fn run(events: u64) -> io::Result<()> {
    LocalSet::new().run_until(measure(events)).await
}

async fn measure(events: u64) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let server = Server::start(Kind::Gateway, 0, folder.path(), 0)?;
    let mut writing = Writing::begin(&server).await?;
    writing.delta(&stamp(0, now_ns())).await?;
    let seen = crowd(&server, &server.stream(Kind::Gateway), 1).await?;
    seen.borrow_mut().counting = true;
    for n in 1..events {
        writing.hold(&stamp(n, now_ns()));
        if n % 64 == 0 {
            writing.flush().await?;
        }
    }
    writing.flush().await?;
    while seen.borrow().events + 1 < events {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    server.kill()?;
    let server = Server::start(Kind::Gateway, 0, folder.path(), 0)?;
    println!(
        "start after a kill, {events} events in an open run: {:?}, of it opening the log and ending the run {:?}",
        server.started, server.opened
    );
    Ok(())
}
