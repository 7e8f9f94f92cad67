//! One connection: HTTP/1, or HTTP/2 if negotiated under TLS.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

use axum::Router;
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio_io_timeout::TimeoutWriter;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

use crate::connection_limits::ConnectionLimits;
use crate::fanout::Receiver;
use crate::limits::{HEADER_BYTES_MAX, HEADER_LIST_BYTES_MAX};

pub(super) struct Connection {
    pub(super) peer: SocketAddr,
    pub(super) app: Router,
    pub(super) bounds: ConnectionLimits,
    /// Closes when all connections should shut down.
    pub(super) closing: Receiver<()>,
}

impl Connection {
    pub(super) async fn serve_tls(self, tls: TlsAcceptor, stream: TcpStream) {
        let handshake_timeout = self.bounds.headers_timeout;
        let Ok(Ok(stream)) = tokio::time::timeout(handshake_timeout, tls.accept(stream)).await
        else {
            return;
        };
        if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
            self.serve_http2(stream).await;
        } else {
            self.serve_http1(stream).await;
        }
    }

    pub(super) async fn serve_http1<S: AsyncRead + AsyncWrite + Send + 'static>(self, stream: S) {
        let Connection { peer, app, bounds, closing } = self;
        let service = hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo(peer));
            app.clone().oneshot(request)
        });
        let mut server = http1::Builder::new();
        server
            .timer(TokioTimer::new())
            .header_read_timeout(bounds.headers_timeout)
            .max_buf_size(HEADER_BYTES_MAX);
        let io = TokioIo::new(Box::pin(with_write_timeout(stream, bounds)));
        let connection = server.serve_connection(io, service).with_upgrades();
        serve_until_closed(connection, http1::UpgradeableConnection::graceful_shutdown, closing)
            .await;
    }

    async fn serve_http2<S: AsyncRead + AsyncWrite + Send + 'static>(self, stream: S) {
        let Connection { peer, app, bounds, closing } = self;
        let requested = Arc::new(Notify::new());
        let notify_requested = Arc::clone(&requested);
        let service = hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
            notify_requested.notify_one();
            request.extensions_mut().insert(ConnectInfo(peer));
            app.clone().oneshot(request)
        });
        let mut server = http2::Builder::new(TokioExecutor::new());
        server
            .timer(TokioTimer::new())
            .keep_alive_interval(bounds.write_timeout)
            .keep_alive_timeout(bounds.write_timeout)
            .max_header_list_size(HEADER_LIST_BYTES_MAX);
        let io = TokioIo::new(Box::pin(with_write_timeout(stream, bounds)));
        let connection = server.serve_connection(io, service);
        // Before the first request hyper has no timeout.
        let silent = async {
            if tokio::time::timeout(bounds.headers_timeout, requested.notified()).await.is_ok() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            () = serve_until_closed(connection, http2::Connection::graceful_shutdown, closing) => {}
            () = silent => {}
        }
    }
}

/// Adds the write timeout. A stalled reader is dropped and resumes at its last id.
fn with_write_timeout<S: AsyncRead + AsyncWrite>(
    stream: S,
    bounds: ConnectionLimits,
) -> TimeoutWriter<S> {
    let mut stream = TimeoutWriter::new(stream);
    stream.set_timeout(Some(bounds.write_timeout));
    stream
}

/// Serves until the connection ends or all are closed; open responses are finished first.
async fn serve_until_closed<C: Future>(
    connection: C,
    finish: impl Fn(Pin<&mut C>),
    mut closing: Receiver<()>,
) {
    let mut connection = pin!(connection);
    let mut stage = ConnectionStage::Starting;
    let ended = poll_fn(|cx| {
        if let Poll::Ready(ended) = connection.as_mut().poll(cx) {
            return Poll::Ready(ended);
        }
        let is_closing = match stage {
            // The task has one waker, so registering once is enough; registering on each poll is costly.
            ConnectionStage::Starting => closing.poll_recv(cx).is_ready(),
            ConnectionStage::Running => closing.is_closed(),
            ConnectionStage::Closing => return Poll::Pending,
        };
        if !is_closing {
            stage = ConnectionStage::Running;
            return Poll::Pending;
        }
        stage = ConnectionStage::Closing;
        finish(connection.as_mut());
        connection.as_mut().poll(cx)
    });
    // Errors here are the client's: a broken connection or an invalid request.
    let _other = ended.await;
}

enum ConnectionStage {
    Starting,
    Running,
    Closing,
}
