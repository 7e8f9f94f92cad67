//! A stream that is being read: frames for as long as its reader may have them.
//!
//! A reader that is along with its channel takes from it and does nothing else. Whatever takes time,
//! reading the log or looking whether the reader is still welcome, is done by the side.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use engine::event::Millis;
use hyper::body::{Body, Frame};

use crate::access::Caller;
use crate::fold::{Spelling, Topic};
use crate::gateway::Gateway;
use crate::id::SessionId;
use crate::metrics::{ReaderCount, Transport};
use crate::reader::{Found, ReadError, Reader, Start};
use crate::store::StoreError;

use super::error::ApiError;
use super::gate::Checked;
use super::sessions::find;
use super::stream::Wanted;

pub(super) struct Stream {
    /// The first word, if there is one.
    hello: Option<Bytes>,
    state: State,
}

enum State {
    Along(Box<Open>),
    Busy(Work),
    Over,
}

type Work = Pin<Box<dyn Future<Output = (Box<Open>, Result<Bytes, &'static str>)> + Send>>;

struct Open {
    reader: Reader,
    counted: ReaderCount,
    spelling: Spelling,
    caller: Caller,
    session: SessionId,
    deleted_ms: Option<Millis>,
    /// When it was last looked whether the reader is welcome.
    looked: u64,
    gateway: Arc<Gateway>,
}

impl Stream {
    pub(super) async fn open(
        gateway: Arc<Gateway>,
        Checked { caller, unrest }: Checked,
        word: &str,
        wanted: &Wanted,
        last_id: Option<&str>,
        spelling: Spelling,
    ) -> Result<Stream, ApiError> {
        let session = find(&gateway, caller, word).await?;
        let topic = Topic { session: session.id, kind: wanted.kind(gateway.view)?, spelling };
        let cursor = last_id.or(wanted.cursor.as_deref()).filter(|word| !word.is_empty());
        let (epoch, head) = (gateway.log.store().epoch(), session.head);
        let start = Start::at(cursor, topic, epoch, head);
        // Says whether the stream goes on where the cursor stood.
        let recovered = start.is_ok();
        let hello = cursor.map(|_| {
            let data = format!("{{\"recovered\":{recovered},\"epoch\":{epoch},\"head\":{head}}}");
            spelling.aside("stream", &data).into()
        });
        let beginning = wanted.beginning()?;
        let start = match cursor {
            None => beginning,
            Some(_) => start.unwrap_or_else(|page| page),
        };
        let transport = match spelling {
            Spelling::Events => Transport::ServerSentEvents,
            Spelling::Lines => Transport::WebSocket,
        };
        let open = Open {
            reader: Reader::new(gateway.channels.clone(), topic, start),
            counted: gateway.log.metrics().reader(transport, topic.kind.view),
            spelling,
            caller,
            session: session.id,
            deleted_ms: session.deleted_ms,
            looked: unrest,
            gateway,
        };
        Ok(Stream { hello, state: State::Along(Box::new(open)) })
    }

    /// The next bytes, or nothing after the last.
    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(hello) = self.hello.take() {
            return Poll::Ready(Some(hello));
        }
        loop {
            let next = match &mut self.state {
                State::Along(open) => {
                    let next = ready!(open.poll_next(cx));
                    next.map_err(|reason| open.closed(reason))
                }
                State::Busy(work) => {
                    let (open, done) = ready!(work.as_mut().poll(cx));
                    let done = done.map_err(|reason| open.closed(reason));
                    self.state = State::Along(open);
                    done.map(Found::Bytes)
                }
                State::Over => return Poll::Ready(None),
            };
            match next {
                Ok(Found::Bytes(bytes)) if bytes.is_empty() => {}
                Ok(Found::Bytes(bytes)) => return Poll::Ready(Some(bytes)),
                Ok(Found::Work) => self.begin_work(),
                Err(last) => {
                    self.state = State::Over;
                    return Poll::Ready(Some(last));
                }
            }
        }
    }

    fn begin_work(&mut self) {
        if let State::Along(mut open) = std::mem::replace(&mut self.state, State::Over) {
            self.state = State::Busy(Box::pin(async move {
                let done = open.work().await;
                (open, done)
            }));
        }
    }
}

impl Body for Stream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.get_mut().poll_next(cx).map(|next| next.map(|bytes| Ok(Frame::data(bytes))))
    }
}

impl Open {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Found, &'static str>> {
        if self.gateway.unrest() != self.looked {
            return Poll::Ready(Ok(Found::Work));
        }
        let found = ready!(self.reader.poll_live(cx));
        if let Ok(Found::Bytes(bytes)) = &found {
            self.counted.sent(bytes.len());
        }
        Poll::Ready(found.map_err(|error| reason(&error)))
    }

    async fn work(&mut self) -> Result<Bytes, &'static str> {
        let unrest = self.gateway.unrest();
        if unrest != self.looked {
            self.look().await?;
            self.looked = unrest;
        }
        let bytes = self.reader.work().await.map_err(|error| reason(&error))?;
        self.counted.sent(bytes.len());
        Ok(bytes)
    }

    /// Says why the reader gets no more, if it does not.
    async fn look(&self) -> Result<(), &'static str> {
        if *self.gateway.stopping.borrow() {
            return Err("stopping");
        }
        if !self.gateway.may_come_in(self.caller).await {
            return Err("revoked");
        }
        if self.is_deleted().await {
            return Err("deleted");
        }
        Ok(())
    }

    /// Whether it was deleted since this stream was opened.
    async fn is_deleted(&self) -> bool {
        let (id, deleted_ms) = (self.session, self.deleted_ms);
        let found = self.gateway.log.blocking(move |store| store.session(id)).await;
        // What cannot be looked up now is found out by reading.
        found.is_ok_and(|found| found.is_none_or(|found| found.deleted_ms != deleted_ms))
    }

    /// The last word of a stream that ends before its client wanted it to. The id of the frame
    /// before is where to resume.
    fn closed(&self, reason: &str) -> Bytes {
        self.spelling.aside("closed", &format!("{{\"reason\":\"{reason}\"}}")).into()
    }
}

fn reason(error: &ReadError) -> &'static str {
    match error {
        ReadError::TooSlow => "too_slow",
        ReadError::Store(StoreError::NoSession(_)) => "deleted",
        ReadError::Store(StoreError::Damaged { .. }) => "damaged",
        ReadError::Store(_) | ReadError::NewEpoch => "storage",
    }
}
