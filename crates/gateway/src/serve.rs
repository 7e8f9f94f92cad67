//! Connections: accepting them, bounding them, and letting them go.

mod connection;

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

use crate::fanout::{Sender, fanout};
use crate::gateway::Gateway;
use crate::http::router;
use crate::messages::keep_working;

use connection::Connection;

/// Serves until `stop` is done, then lets runs and streams end and closes.
pub async fn serve(
    gateway: Arc<Gateway>,
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let app = router(Arc::clone(&gateway));
    tokio::spawn(keep_working(Arc::clone(&gateway)));
    let bounds = gateway.bounds;
    let room = Arc::new(Semaphore::new(bounds.connections));
    let (closing, _) = fanout(1, ());
    let mut stop = std::pin::pin!(stop);
    loop {
        let next = async {
            let permit = Arc::clone(&room).acquire_owned().await.map_err(io::Error::other)?;
            listener.accept().await.map(|accepted| (permit, accepted))
        };
        let accepted = tokio::select! {
            accepted = next => accepted,
            () = &mut stop => break,
        };
        let (permit, (stream, from)) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of file descriptors, most likely: others close, and it goes on.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        // Frames are small and each one matters now.
        let _slower = stream.set_nodelay(true);
        let connection = Connection { from, app: app.clone(), bounds, closing: closing.taker() };
        match tls.clone() {
            None => tokio::spawn(async move {
                connection.http1(stream).await;
                drop(permit);
            }),
            Some(tls) => tokio::spawn(async move {
                connection.secured(tls, stream).await;
                drop(permit);
            }),
        };
    }
    drop(listener);
    drain(&gateway, closing, &room).await;
    Ok(())
}

/// Ends runs as interrupted and streams with a word, and waits for both, up to a bound.
async fn drain(gateway: &Gateway, closing: Sender<()>, room: &Semaphore) {
    let drained = async {
        gateway.runs.stop_all().await;
        gateway.stop_streams();
        drop(closing);
        let all = u32::try_from(gateway.bounds.connections).unwrap_or(u32::MAX);
        let _all_gone = room.acquire_many(all).await;
    };
    if tokio::time::timeout(gateway.bounds.drain, drained).await.is_err() {
        tracing::warn!("some connections did not close in time");
        gateway.stop_streams();
    }
    gateway.channels.close_all();
    gateway.log.close().await;
}
