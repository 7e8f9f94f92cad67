//! Reading a session: its stream in a view, its page at once, its log as it is.

use std::pin::Pin;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use engine::view::{Thinking, ViewName};
use engine::wire::{Content, Format, Kind};
use serde::Deserialize;
use tokio::sync::watch;

use crate::access::Caller;
use crate::fold::{Fold, Spelling, Topic};
use crate::gateway::Gateway;
use crate::metrics::{ReaderCount, Transport};
use crate::reader::{ReadError, Reader, Start};
use crate::store::{Session, StoreError};

use super::App;
use super::error::ApiError;
use super::extract::{Path, Query};
use super::gate::Anyone;
use super::sessions::find;

/// Which stream of a session.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    view: Option<String>,
    format: Option<String>,
    content: Option<String>,
    thinking: Option<String>,
    cursor: Option<String>,
    /// Where one without a cursor begins.
    from: Option<String>,
    /// Where the path does not name it.
    pub(super) session: Option<String>,
}

impl Wanted {
    fn kind(&self) -> Result<Kind, ApiError> {
        let view = match self.view.as_deref() {
            None => ViewName::Latest,
            Some(word) => word.parse().map_err(|_| {
                let known = ViewName::ALL.iter().map(|view| view.as_str()).collect::<Vec<_>>();
                let message = format!("`{word}` is no view. Use {}.", known.join(", "));
                ApiError::bad_request(message)
            })?,
        };
        Ok(Kind {
            view,
            format: one_of(
                "format",
                self.format.as_deref(),
                &[("own", Format::Own), ("patch", Format::Patch)],
            )?,
            content: one_of(
                "content",
                self.content.as_deref(),
                &[("accumulated", Content::Accumulated), ("delta", Content::Delta)],
            )?,
            thinking: one_of(
                "thinking",
                self.thinking.as_deref(),
                &[("hide", Thinking::Hide), ("latest", Thinking::Latest), ("show", Thinking::Show)],
            )?,
        })
    }
}

/// Where a reader without a cursor begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Beginning {
    /// With the page as it stands.
    #[default]
    Snapshot,
    /// With the first frame.
    Start,
}

impl Wanted {
    fn beginning(&self) -> Result<Start, ApiError> {
        let known = [("start", Beginning::Start), ("snapshot", Beginning::Snapshot)];
        Ok(match one_of("from", self.from.as_deref(), &known)? {
            Beginning::Start => Start::Beginning,
            Beginning::Snapshot => Start::Snapshot,
        })
    }
}

fn one_of<T: Copy + Default>(
    name: &str,
    word: Option<&str>,
    known: &[(&str, T)],
) -> Result<T, ApiError> {
    let Some(word) = word else { return Ok(T::default()) };
    let found = known.iter().find(|(known, _)| *known == word);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let words = known.iter().map(|(word, _)| *word).collect::<Vec<_>>();
        ApiError::bad_request(format!("`{name}` is one of {}.", words.join(", ")))
    })
}

/// The stream of a view as server-sent events: history first, then what comes, without a seam.
pub(super) async fn events(
    State(gateway): App,
    Anyone(caller): Anyone,
    Path(word): Path<String>,
    Query(wanted): Query<Wanted>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let last_id = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let stream = Stream::open(gateway, caller, &word, &wanted, last_id, Spelling::Events).await?;
    Ok(event_stream(Body::from_stream(stream.into_bytes())))
}

pub(super) fn event_stream(body: Body) -> Response {
    const HEADERS: [(HeaderName, HeaderValue); 3] = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store, no-transform")),
        // A proxy that collects what it passes on would hold it back.
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (HEADERS, body).into_response()
}

/// What comes next for a stream.
enum Next {
    Bytes(Result<Bytes, ReadError>),
    /// Whoever reads may no longer be allowed to.
    Doubt,
    Stop,
}

/// A stream that is being read.
pub(super) struct Stream {
    reader: Reader,
    session: Session,
    counted: ReaderCount,
    spelling: Spelling,
    hello: Option<Bytes>,
    caller: Caller,
    revoked: watch::Receiver<u64>,
    stopping: watch::Receiver<bool>,
    /// Done when one of these two changes. Kept from frame to frame, because to begin waiting costs
    /// as much as a small frame.
    disturbed: Disturbed,
    gateway: Arc<Gateway>,
}

type Disturbed = Pin<Box<dyn Future<Output = ()> + Send + Sync>>;

fn disturbed(gateway: &Gateway) -> Disturbed {
    let mut revoked = gateway.revocations.subscribe();
    let mut stopping = gateway.stopping.subscribe();
    Box::pin(async move {
        tokio::select! {
            _ = revoked.changed() => {}
            _ = stopping.changed() => {}
        }
    })
}

impl Stream {
    pub(super) async fn open(
        gateway: Arc<Gateway>,
        caller: Caller,
        word: &str,
        wanted: &Wanted,
        last_id: Option<&str>,
        spelling: Spelling,
    ) -> Result<Stream, ApiError> {
        let session = find(&gateway, caller, word).await?;
        let topic = Topic { session: session.id, kind: wanted.kind()?, spelling };
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
        Ok(Stream {
            counted: gateway.log.metrics().reader(transport, topic.kind.view),
            session,
            reader: Reader::new(gateway.log.clone(), gateway.channels.clone(), topic, start),
            spelling,
            hello,
            caller,
            revoked: gateway.revocations.subscribe(),
            stopping: gateway.stopping.subscribe(),
            disturbed: disturbed(&gateway),
            gateway,
        })
    }

    fn into_bytes(self) -> impl futures_util::Stream<Item = Result<Bytes, std::io::Error>> {
        futures_util::stream::unfold(Some(self), |stream| async move {
            let mut stream = stream?;
            match stream.next().await {
                Ok(bytes) => Some((Ok(bytes), Some(stream))),
                Err(last) => last.map(|bytes| (Ok(bytes), None)),
            }
        })
    }

    /// The next bytes, or the last ones.
    pub(super) async fn next(&mut self) -> Result<Bytes, Option<Bytes>> {
        if let Some(hello) = self.hello.take() {
            return Ok(hello);
        }
        loop {
            let next = self.wait().await;
            let reason = match next {
                Next::Bytes(Ok(bytes)) => {
                    self.counted.sent(bytes.len());
                    return Ok(bytes);
                }
                Next::Bytes(Err(error)) => reason(&error),
                Next::Doubt if !self.gateway.may_come_in(self.caller).await => "revoked",
                Next::Doubt if self.is_deleted().await => "deleted",
                Next::Doubt => continue,
                Next::Stop => "stopping",
            };
            return Err(Some(self.closed(reason)));
        }
    }

    async fn wait(&mut self) -> Next {
        loop {
            if self.revoked.has_changed().unwrap_or(true) {
                self.revoked.mark_unchanged();
                return Next::Doubt;
            }
            if *self.stopping.borrow() {
                return Next::Stop;
            }
            // Whatever is dropped here has lost nothing: a reader reads again what it missed.
            tokio::select! {
                biased;
                bytes = self.reader.next() => return Next::Bytes(bytes),
                () = &mut self.disturbed => self.disturbed = disturbed(&self.gateway),
            }
        }
    }

    /// The last word of a stream that ends before its client wanted it to. The id of the frame
    /// before is where to resume.
    fn closed(&self, reason: &str) -> Bytes {
        self.spelling.aside("closed", &format!("{{\"reason\":\"{reason}\"}}")).into()
    }

    /// Whether it was deleted since this stream was opened.
    async fn is_deleted(&self) -> bool {
        let Session { id, deleted_ms, .. } = self.session;
        let found = self.gateway.log.blocking(move |store| store.session(id)).await;
        // What cannot be looked up now is found out by reading.
        found.is_ok_and(|found| found.is_none_or(|found| found.deleted_ms != deleted_ms))
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

/// The page of a view as it stands.
pub(super) async fn snapshot(
    State(gateway): App,
    Anyone(caller): Anyone,
    Path(word): Path<String>,
    Query(wanted): Query<Wanted>,
) -> Result<Response, ApiError> {
    let session = find(&gateway, caller, &word).await?;
    let topic = Topic { session: session.id, kind: wanted.kind()?, spelling: Spelling::Lines };
    let mut fold = Fold::new(topic, gateway.log.store().epoch());
    let mut none = String::new();
    while fold.read_on(&gateway.log, &mut none, |_| false).await? {}
    let mut page = String::new();
    fold.snapshot(&mut page);
    Ok(([(header::CONTENT_TYPE, "application/json")], page).into_response())
}

/// The log as it is: one JSON record per line.
pub(super) async fn log(
    State(gateway): App,
    Anyone(caller): Anyone,
    Path(word): Path<String>,
) -> Result<Response, ApiError> {
    // Hidden text is in the log; a guest sees only what views show.
    if let Caller::Guest { .. } = caller {
        return Err(ApiError::not_found());
    }
    let session = find(&gateway, caller, &word).await?;
    let log = gateway.log.clone();
    let (id, head) = (session.id, session.head);
    // Read before anything is answered, so that what cannot be read is told as an error.
    let first = log.read(id, 0).await?;
    let chunks = futures_util::stream::unfold((0, Some(first)), move |(next, read)| {
        let log = log.clone();
        async move {
            if head <= next {
                return None;
            }
            let chunks = match read {
                Some(chunks) => Ok(chunks),
                None => log.read(id, next).await,
            };
            let chunks = match chunks {
                Ok(chunks) => chunks,
                Err(error) => return Some((Err(std::io::Error::other(error)), (u64::MAX, None))),
            };
            let end = chunks.last().map_or(u64::MAX, crate::store::Chunk::end);
            let text: String = chunks.iter().map(|chunk| &*chunk.lines).collect();
            Some((Ok(Bytes::from(text)), (end, None)))
        }
    });
    let kind = [(header::CONTENT_TYPE, "application/jsonl")];
    Ok((kind, Body::from_stream(chunks)).into_response())
}
