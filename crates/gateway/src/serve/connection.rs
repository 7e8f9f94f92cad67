//! One connection: HTTP/1, or HTTP/2 where that was agreed on under TLS.

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

use crate::bounds::Bounds;
use crate::fanout::Receiver;
use crate::limits::{HEADER_BYTES_MAX, HEADER_LIST_BYTES_MAX};

pub(super) struct Connection {
    pub(super) from: SocketAddr,
    pub(super) app: Router,
    pub(super) bounds: Bounds,
    /// Closes when all connections should end what they are at.
    pub(super) closing: Receiver<()>,
}

impl Connection {
    pub(super) async fn secured(self, tls: TlsAcceptor, stream: TcpStream) {
        let within = self.bounds.headers_within;
        let Ok(Ok(stream)) = tokio::time::timeout(within, tls.accept(stream)).await else { return };
        if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
            self.http2(stream).await;
        } else {
            self.http1(stream).await;
        }
    }

    pub(super) async fn http1<S: AsyncRead + AsyncWrite + Send + 'static>(self, stream: S) {
        let Connection { from, app, bounds, closing } = self;
        let service = hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo(from));
            app.clone().oneshot(request)
        });
        let mut server = http1::Builder::new();
        server
            .timer(TokioTimer::new())
            .header_read_timeout(bounds.headers_within)
            .max_buf_size(HEADER_BYTES_MAX);
        let io = TokioIo::new(Box::pin(patient(stream, bounds)));
        let answering = server.serve_connection(io, service).with_upgrades();
        until_closed(answering, http1::UpgradeableConnection::graceful_shutdown, closing).await;
    }

    async fn http2<S: AsyncRead + AsyncWrite + Send + 'static>(self, stream: S) {
        let Connection { from, app, bounds, closing } = self;
        let asked = Arc::new(Notify::new());
        let asks = Arc::clone(&asked);
        let service = hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
            asks.notify_one();
            request.extensions_mut().insert(ConnectInfo(from));
            app.clone().oneshot(request)
        });
        let mut server = http2::Builder::new(TokioExecutor::new());
        server
            .timer(TokioTimer::new())
            .keep_alive_interval(bounds.write_stalled)
            .keep_alive_timeout(bounds.write_stalled)
            .max_header_list_size(HEADER_LIST_BYTES_MAX);
        let io = TokioIo::new(Box::pin(patient(stream, bounds)));
        let answering = server.serve_connection(io, service);
        // Before the first request nobody else looks at the clock.
        let silent = async {
            if tokio::time::timeout(bounds.headers_within, asked.notified()).await.is_ok() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            () = until_closed(answering, http2::Connection::graceful_shutdown, closing) => {}
            () = silent => {}
        }
    }
}

/// A reader that takes nothing for so long is gone; its cursor is the last id it got.
fn patient<S: AsyncRead + AsyncWrite>(stream: S, bounds: Bounds) -> TimeoutWriter<S> {
    let mut stream = TimeoutWriter::new(stream);
    stream.set_timeout(Some(bounds.write_stalled));
    stream
}

/// Until one side is done with it. What is being answered when all close is still answered.
async fn until_closed<C: Future>(
    connection: C,
    finish: impl Fn(Pin<&mut C>),
    mut closing: Receiver<()>,
) {
    let mut connection = pin!(connection);
    let mut at = Stage::Begins;
    let ended = poll_fn(|cx| {
        if let Poll::Ready(ended) = connection.as_mut().poll(cx) {
            return Poll::Ready(ended);
        }
        let closes = match at {
            // The task has one waker: to say once whom to wake is enough, and saying it costs.
            Stage::Begins => closing.poll_take(cx).is_ready(),
            Stage::Goes => closing.is_closed(),
            Stage::Ends => return Poll::Pending,
        };
        if !closes {
            at = Stage::Goes;
            return Poll::Pending;
        }
        at = Stage::Ends;
        finish(connection.as_mut());
        connection.as_mut().poll(cx)
    });
    // Errors here are the other side's: a broken connection, a request that is none.
    let _other = ended.await;
}

enum Stage {
    Begins,
    Goes,
    Ends,
}
