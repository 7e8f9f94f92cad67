//! Accepts, limits and drains connections.

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
use crate::http::build_gateway_router;

use connection::Connection;

/// Serves until `stop` completes, then ends runs and streams and closes.
pub async fn serve_and_shut_down(
    gateway: Arc<Gateway>,
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let app = build_gateway_router(Arc::clone(&gateway));
    tokio::spawn(Arc::clone(&gateway.scheduler).resume_and_run_queues_until_stopped());
    let bounds = gateway.connection_limits;
    let permits = Arc::new(Semaphore::new(bounds.connections_max));
    let (closing, _) = fanout(1, ());
    let mut stop = std::pin::pin!(stop);
    loop {
        let next_connection = async {
            let permit = Arc::clone(&permits).acquire_owned().await.map_err(io::Error::other)?;
            listener.accept().await.map(|accepted| (permit, accepted))
        };
        let accepted = tokio::select! {
            accepted = next_connection => accepted,
            () = &mut stop => break,
        };
        let (permit, (stream, peer)) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Probably out of file descriptors; retry when others have closed.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        // Frames are small and must be sent at once.
        let _slower = stream.set_nodelay(true);
        let connection =
            Connection { peer, app: app.clone(), bounds, closing: closing.subscribe() };
        match tls.clone() {
            None => tokio::spawn(async move {
                connection.serve_http1(stream).await;
                drop(permit);
            }),
            Some(tls) => tokio::spawn(async move {
                connection.serve_tls(tls, stream).await;
                drop(permit);
            }),
        };
    }
    drop(listener);
    shut_down_gateway(&gateway, closing, &permits).await;
    Ok(())
}

/// Interrupts runs, closes streams, and waits for both up to the drain timeout; then closes the
/// channels and the log.
async fn shut_down_gateway(gateway: &Gateway, closing: Sender<()>, permits: &Semaphore) {
    let drained = async {
        gateway.scheduler.runs.interrupt_all_and_shut_down().await;
        gateway.set_stopping_and_wake_streams();
        drop(closing);
        let permit_count =
            u32::try_from(gateway.connection_limits.connections_max).unwrap_or(u32::MAX);
        let _all_gone = permits.acquire_many(permit_count).await;
    };
    if tokio::time::timeout(gateway.connection_limits.drain_timeout, drained).await.is_err() {
        tracing::warn!("some connections did not close in time");
        gateway.set_stopping_and_wake_streams();
    }
    gateway.channels.stop_present_and_future_channels();
    gateway.log.close().await;
}
