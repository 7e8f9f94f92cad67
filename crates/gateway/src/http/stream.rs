//! Reading a session: its stream in a view, its page at once, its log as it is.

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use engine::view::{Thinking, ViewName};
use engine::wire::{Content, Format, Kind};
use serde::Deserialize;

use crate::access::Caller;
use crate::fold::{Fold, Spelling, Topic};
use crate::reader::Start;

use super::App;
use super::error::ApiError;
use super::extract::{Path, Query};
use super::gate::{Anyone, Checked};
use super::live::Stream;
use super::sessions::find;

/// Which stream of a session.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    view: Option<String>,
    format: Option<String>,
    content: Option<String>,
    thinking: Option<String>,
    pub(super) cursor: Option<String>,
    /// Where one without a cursor begins.
    from: Option<String>,
    /// Where the path does not name it.
    pub(super) session: Option<String>,
}

impl Wanted {
    /// The kind of stream, in a view that is given if none is named.
    pub(super) fn kind(&self, view: ViewName) -> Result<Kind, ApiError> {
        let view = match self.view.as_deref() {
            None => view,
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
    pub(super) fn beginning(&self) -> Result<Start, ApiError> {
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
    who: Checked,
    Path(word): Path<String>,
    Query(wanted): Query<Wanted>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let last_id = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let stream = Stream::open(gateway, who, &word, &wanted, last_id, Spelling::Events).await?;
    Ok(event_stream(Body::new(stream)))
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

/// The page of a view as it stands.
pub(super) async fn snapshot(
    State(gateway): App,
    Anyone(caller): Anyone,
    Path(word): Path<String>,
    Query(wanted): Query<Wanted>,
) -> Result<Response, ApiError> {
    let session = find(&gateway, caller, &word).await?;
    let topic =
        Topic { session: session.id, kind: wanted.kind(gateway.view)?, spelling: Spelling::Lines };
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
