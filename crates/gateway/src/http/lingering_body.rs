//! A request's body that is drained when it is dropped before its end.
//!
//! A server that closes a connection with unread input resets it, and the client may then lose a
//! response that it has not read yet, such as the reason why its stream was rejected.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use futures_util::StreamExt;
use hyper::body::{Frame, SizeHint};
use tokio::time::timeout;

use crate::limits::{LINGER_QUIET_TIMEOUT, LINGER_TIMEOUT};

/// Middleware: wraps the request's body, whoever rejects the request.
pub(super) async fn linger_on_unread_body(request: Request, next: Next) -> Response {
    next.run(request.map(|body| Body::new(LingeringBody { body }))).await
}

struct LingeringBody {
    body: Body,
}

impl HttpBody for LingeringBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for LingeringBody {
    fn drop(&mut self) {
        if !self.body.is_end_stream()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(drain_body_until_quiet(std::mem::take(&mut self.body)));
        }
    }
}

/// Reads and discards the rest of a body, until its client sends nothing more for a while.
async fn drain_body_until_quiet(body: Body) {
    let mut chunks = body.into_data_stream();
    let drained =
        async { while let Ok(Some(Ok(_))) = timeout(LINGER_QUIET_TIMEOUT, chunks.next()).await {} };
    let _drained = timeout(LINGER_TIMEOUT, drained).await;
}
