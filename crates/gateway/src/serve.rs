//! Connections: accepting them, bounding them, and letting them go.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{Notify, Semaphore, watch};
use tokio_io_timeout::TimeoutStream;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

use crate::bounds::Bounds;
use crate::gateway::Gateway;
use crate::http::router;
use crate::limits::{HEADER_BYTES_MAX, HEADER_LIST_BYTES_MAX};
use crate::messages::keep_working;

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
    let (closing, closed) = watch::channel(false);
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
        let (app, tls, closed) = (app.clone(), tls.clone(), closed.clone());
        tokio::spawn(async move {
            match tls {
                None => connection(stream, from, app, bounds, closed).await,
                Some(tls) => {
                    let shaken =
                        tokio::time::timeout(bounds.headers_within, tls.accept(stream)).await;
                    if let Ok(Ok(stream)) = shaken {
                        connection(stream, from, app, bounds, closed).await;
                    }
                }
            }
            drop(permit);
        });
    }
    drop(listener);
    drain(&gateway, closing, &room).await;
    Ok(())
}

/// Ends runs as interrupted and streams with a word, and waits for both, up to a bound.
async fn drain(gateway: &Gateway, closing: watch::Sender<bool>, room: &Semaphore) {
    let drained = async {
        gateway.runs.stop_all().await;
        gateway.stopping.send_replace(true);
        closing.send_replace(true);
        let all = u32::try_from(gateway.bounds.connections).unwrap_or(u32::MAX);
        let _all_gone = room.acquire_many(all).await;
    };
    if tokio::time::timeout(gateway.bounds.drain, drained).await.is_err() {
        tracing::warn!("some connections did not close in time");
    }
    gateway.channels.close_all();
    gateway.log.close().await;
}

async fn connection<S>(
    stream: S,
    from: SocketAddr,
    app: Router,
    bounds: Bounds,
    mut closing: watch::Receiver<bool>,
) where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let mut stream = TimeoutStream::new(stream);
    // A reader that takes nothing for so long is gone; its cursor is the last id it got.
    stream.set_write_timeout(Some(bounds.write_stalled));
    let asked = Arc::new(Notify::new());
    let asks = Arc::clone(&asked);
    let service = hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
        asks.notify_one();
        request.extensions_mut().insert(ConnectInfo(from));
        app.clone().oneshot(request)
    });
    let mut server = auto::Builder::new(TokioExecutor::new());
    server
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(bounds.headers_within)
        .max_buf_size(HEADER_BYTES_MAX);
    server
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(bounds.write_stalled)
        .keep_alive_timeout(bounds.write_stalled)
        .max_header_list_size(HEADER_LIST_BYTES_MAX);
    let io = TokioIo::new(Box::pin(stream));
    let mut connection = std::pin::pin!(server.serve_connection_with_upgrades(io, service));
    // Until it is known which HTTP is spoken, nobody else looks at the clock.
    let silent = async {
        if tokio::time::timeout(bounds.headers_within, asked.notified()).await.is_ok() {
            std::future::pending::<()>().await;
        }
    };
    // Errors here are the other side's: a broken connection, a request that is none.
    tokio::select! {
        _gone = connection.as_mut() => return,
        () = silent => return,
        _ = closing.wait_for(|closing| *closing) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _gone = connection.await;
}
