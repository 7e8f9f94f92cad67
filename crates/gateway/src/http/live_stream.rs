//! An open stream: frames for as long as its reader has access.
//!
//! A reader that follows its channel only polls it. Slow work, such as reading the log or checking
//! access, is a separate future.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame};
use millpond_engine::event::Millis;

use crate::access::Caller;
use crate::fold::{Framing, Topic};
use crate::gateway::Gateway;
use crate::reader::{PollOutcome, ReadError, Reader, Start};
use millpond_log::id::SessionId;
use millpond_log::metrics::{OpenReaderGauge, Transport};
use millpond_log::store::StoreError;

use super::access_middleware::CheckedCaller;
use super::error::ApiError;
use super::sessions::find_visible_session;
use super::stream::StreamQuery;

/// Body of a streaming response, also used by `WebSockets`.
pub(super) struct LiveStream {
    /// First event after a resume, saying if the cursor was valid.
    resume_frame: Option<Bytes>,
    state: StreamState,
}

enum StreamState {
    Following(Box<OpenStream>),
    CatchingUp(CatchUpFuture),
    Ended,
}

type CatchUpFuture =
    Pin<Box<dyn Future<Output = (Box<OpenStream>, Result<Bytes, &'static str>)> + Send>>;

/// A stream that is not closed.
struct OpenStream {
    reader: Reader,
    reader_gauge: OpenReaderGauge,
    framing: Framing,
    caller: Caller,
    session: SessionId,
    deleted_ms: Option<Millis>,
    /// Access epoch of the last check.
    checked_access_epoch: u64,
    gateway: Arc<Gateway>,
}

impl LiveStream {
    pub(super) async fn open(
        gateway: Arc<Gateway>,
        CheckedCaller { caller, access_epoch: unrest }: CheckedCaller,
        raw_id: &str,
        query: &StreamQuery,
        last_id: Option<&str>,
        framing: Framing,
    ) -> Result<LiveStream, ApiError> {
        let session = find_visible_session(&gateway, caller, raw_id).await?;
        let topic = Topic {
            session: session.id,
            kind: query.parse_stream_kind(gateway.default_view)?,
            framing,
        };
        let cursor = last_id.or(query.cursor.as_deref()).filter(|text| !text.is_empty());
        let start = match cursor {
            None => query.parse_start_without_cursor()?,
            Some(cursor) => Start::from_cursor(cursor, topic, &gateway.log).await?,
        };
        let resume_frame = cursor.map(|_| {
            let recovered = start != Start::Snapshot;
            let data = format!("{{\"recovered\":{recovered},\"head\":{}}}", session.head);
            framing.format_event_without_cursor("stream", &data).into()
        });
        let version = query.parse_protocol_version()?;
        let transport = match framing {
            Framing::ServerSentEvents => Transport::ServerSentEvents,
            Framing::JsonLines => Transport::WebSocket,
        };
        let open_stream = OpenStream {
            reader: Reader::new(gateway.channels.clone(), topic, start).with_version(version),
            reader_gauge: gateway.log.metrics().count_reader_until_drop(transport, topic.kind.view),
            framing,
            caller,
            session: session.id,
            deleted_ms: session.deleted_ms,
            checked_access_epoch: unrest,
            gateway,
        };
        Ok(LiveStream { resume_frame, state: StreamState::Following(Box::new(open_stream)) })
    }

    /// Polls for the next bytes; `None` after the last.
    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(resume_frame) = self.resume_frame.take() {
            return Poll::Ready(Some(resume_frame));
        }
        loop {
            let next_bytes = match &mut self.state {
                StreamState::Following(stream) => {
                    let polled = ready!(stream.poll_live(cx));
                    polled.map_err(|reason| stream.closed_frame(reason))
                }
                StreamState::CatchingUp(work) => {
                    let (stream, result) = ready!(work.as_mut().poll(cx));
                    let result = result.map_err(|reason| stream.closed_frame(reason));
                    self.state = StreamState::Following(stream);
                    result.map(PollOutcome::Bytes)
                }
                StreamState::Ended => return Poll::Ready(None),
            };
            match next_bytes {
                Ok(PollOutcome::Bytes(bytes)) if bytes.is_empty() => {}
                Ok(PollOutcome::Bytes(bytes)) => return Poll::Ready(Some(bytes)),
                Ok(PollOutcome::NeedsLogRead) => self.start_catch_up(),
                Err(last_frame) => {
                    self.state = StreamState::Ended;
                    return Poll::Ready(Some(last_frame));
                }
            }
        }
    }

    fn start_catch_up(&mut self) {
        if let StreamState::Following(mut stream) =
            std::mem::replace(&mut self.state, StreamState::Ended)
        {
            self.state = StreamState::CatchingUp(Box::pin(async move {
                let result = stream.recheck_access_and_read_log().await;
                (stream, result)
            }));
        }
    }
}

impl Body for LiveStream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.get_mut().poll_next(cx).map(|next| next.map(|bytes| Ok(Frame::data(bytes))))
    }
}

impl OpenStream {
    fn poll_live(&mut self, cx: &mut Context<'_>) -> Poll<Result<PollOutcome, &'static str>> {
        if self.gateway.access_epoch() != self.checked_access_epoch {
            return Poll::Ready(Ok(PollOutcome::NeedsLogRead));
        }
        let outcome = ready!(self.reader.poll_live(cx));
        if let Ok(PollOutcome::Bytes(bytes)) = &outcome {
            self.reader_gauge.add_sent_bytes(bytes.len());
        }
        Poll::Ready(outcome.map_err(|error| close_reason(&error)))
    }

    /// Checks access if it changed, then reads the log.
    async fn recheck_access_and_read_log(&mut self) -> Result<Bytes, &'static str> {
        let access_epoch = self.gateway.access_epoch();
        if access_epoch != self.checked_access_epoch {
            self.check_still_allowed().await?;
            self.checked_access_epoch = access_epoch;
        }
        let bytes =
            self.reader.catch_up_by_one_read().await.map_err(|error| close_reason(&error))?;
        self.reader_gauge.add_sent_bytes(bytes.len());
        Ok(bytes)
    }

    /// Fails with the reason if the reader must be closed.
    async fn check_still_allowed(&self) -> Result<(), &'static str> {
        if *self.gateway.scheduler.stopping.borrow() {
            return Err("stopping");
        }
        if !self.gateway.is_still_authorised(self.caller).await {
            return Err("revoked");
        }
        if self.has_session_deletion_changed().await {
            return Err("deleted");
        }
        Ok(())
    }

    /// True if the session was erased, deleted or restored since this stream was opened.
    async fn has_session_deletion_changed(&self) -> bool {
        let (id, deleted_ms) = (self.session, self.deleted_ms);
        let found =
            self.gateway.log.call_store(move |store| store.load_session_even_deleted(id)).await;
        // If the lookup fails, the next read reports it.
        found.is_ok_and(|row| row.is_none_or(|session| session.deleted_ms != deleted_ms))
    }

    /// Last event of a stream that the gateway closes. The client resumes at the id of the frame
    /// before.
    fn closed_frame(&self, reason: &str) -> Bytes {
        self.framing
            .format_event_without_cursor("closed", &format!("{{\"reason\":\"{reason}\"}}"))
            .into()
    }
}

/// Reason in the `closed` event.
fn close_reason(error: &ReadError) -> &'static str {
    match error {
        ReadError::TooSlow => "too_slow",
        ReadError::Store(StoreError::NoSession(_)) => "deleted",
        ReadError::Store(StoreError::Damaged { .. }) => "damaged",
        ReadError::Store(_) | ReadError::StoreReopened => "storage",
    }
}
