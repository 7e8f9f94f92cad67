//! Endpoints that read a session: the stream of a view, its snapshot, and the raw log.

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use millpond_engine::view::{Thinking, ViewName};
use millpond_engine::wire::{ContentMode, FrameFormat, ProtocolVersion, StreamKind};
use serde::Deserialize;

use crate::access::Caller;
use crate::fold::{Fold, FrameRange, Framing, Topic};
use crate::reader::Start;

use super::AppState;
use super::access_middleware::{AnyCaller, CheckedCaller};
use super::error::ApiError;
use super::extract::{Path, Query};
use super::live_stream::LiveStream;
use super::sessions::find_visible_session;

/// Query of a stream.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StreamQuery {
    view: Option<String>,
    format: Option<String>,
    content: Option<String>,
    thinking: Option<String>,
    /// Version of the protocol; missing in requests of old clients.
    protocol: Option<String>,
    pub(super) cursor: Option<String>,
    /// Start of a stream without a cursor.
    from: Option<String>,
    /// For paths that do not name it.
    pub(super) session: Option<String>,
}

impl StreamQuery {
    /// The kind of stream; `view` is the default view.
    pub(super) fn parse_stream_kind(&self, view: ViewName) -> Result<StreamKind, ApiError> {
        let view = match self.view.as_deref() {
            None => view,
            Some(name) => name.parse().map_err(|_| {
                let names = ViewName::ALL.iter().map(|view| view.as_str()).collect::<Vec<_>>();
                let message = format!("Unknown view `{name}`. Use {}.", names.join(", "));
                ApiError::bad_request(message)
            })?,
        };
        Ok(StreamKind {
            view,
            format: parse_choice_or_default(
                "format",
                self.format.as_deref(),
                &[("own", FrameFormat::Native), ("patch", FrameFormat::Patch)],
            )?,
            content: parse_choice_or_default(
                "content",
                self.content.as_deref(),
                &[("accumulated", ContentMode::Accumulated), ("delta", ContentMode::Delta)],
            )?,
            thinking: parse_choice_or_default(
                "thinking",
                self.thinking.as_deref(),
                &[("hide", Thinking::Hide), ("latest", Thinking::Latest), ("show", Thinking::Show)],
            )?,
        })
    }

    /// The version of the protocol.
    pub(super) fn parse_protocol_version(&self) -> Result<ProtocolVersion, ApiError> {
        parse_choice_or_default("protocol", self.protocol.as_deref(), &[("2", ProtocolVersion::V2)])
    }
}

/// Value of the query parameter `from`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum StartWord {
    /// With a snapshot of the page.
    #[default]
    Snapshot,
    /// With the first frame.
    Start,
}

impl StreamQuery {
    pub(super) fn parse_start_without_cursor(&self) -> Result<Start, ApiError> {
        let choices = [("start", StartWord::Start), ("snapshot", StartWord::Snapshot)];
        Ok(match parse_choice_or_default("from", self.from.as_deref(), &choices)? {
            StartWord::Start => Start::Beginning,
            StartWord::Snapshot => Start::Snapshot,
        })
    }
}

fn parse_choice_or_default<T: Copy + Default>(
    name: &str,
    value: Option<&str>,
    choices: &[(&str, T)],
) -> Result<T, ApiError> {
    let Some(value) = value else { return Ok(T::default()) };
    let found = choices.iter().find(|(choice, _)| *choice == value);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names = choices.iter().map(|(choice, _)| *choice).collect::<Vec<_>>();
        ApiError::bad_request(format!("`{name}` must be one of {}.", names.join(", ")))
    })
}

/// Streams a view as server-sent events: history first, then live frames.
pub(super) async fn stream_view(
    State(gateway): AppState,
    caller: CheckedCaller,
    Path(raw_id): Path<String>,
    Query(query): Query<StreamQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let last_id = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let stream =
        LiveStream::open(gateway, caller, &raw_id, &query, last_id, Framing::ServerSentEvents)
            .await?;
    Ok(sse_response(Body::new(stream)))
}

pub(super) fn sse_response(body: Body) -> Response {
    const HEADERS: [(HeaderName, HeaderValue); 3] = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store, no-transform")),
        // Keeps proxies from buffering.
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (HEADERS, body).into_response()
}

/// Source of server-sent events that ends with a reason.
pub(super) trait FrameSource: Send + 'static {
    /// Waits for the next frames, or for the reason for closing.
    fn wait_for_frames(&mut self) -> impl Future<Output = Result<Bytes, &'static str>> + Send;
}

/// Body of the source's frames, and of one `closed` event when it ends.
pub(super) fn build_sse_body_with_closed_event(source: impl FrameSource) -> Body {
    Body::from_stream(futures_util::stream::unfold(Some(source), |source| async move {
        let mut source = source?;
        let (bytes, source) = match source.wait_for_frames().await {
            Ok(bytes) => (bytes, Some(source)),
            Err(reason) => {
                let data = format!("{{\"reason\":\"{reason}\"}}");
                let closed = Framing::ServerSentEvents.format_event_without_cursor("closed", &data);
                (closed.into(), None)
            }
        };
        Some((Ok::<_, std::io::Error>(bytes), source))
    }))
}

/// Returns the page of a view.
pub(super) async fn get_snapshot(
    State(gateway): AppState,
    AnyCaller(caller): AnyCaller,
    Path(raw_id): Path<String>,
    Query(query): Query<StreamQuery>,
) -> Result<Response, ApiError> {
    let session = find_visible_session(&gateway, caller, &raw_id).await?;
    let topic = Topic {
        session: session.id,
        kind: query.parse_stream_kind(gateway.default_view)?,
        framing: Framing::JsonLines,
    };
    let version = query.parse_protocol_version()?;
    let mut fold = Fold::new(topic, &gateway.log).with_merging();
    let (mut no_frames, range) = (String::new(), FrameRange::empty());
    while fold.read_and_encode_next_records(&gateway.log, &mut no_frames, range).await? {}
    let mut page = String::new();
    fold.write_snapshot(version, &mut page);
    Ok(([(header::CONTENT_TYPE, "application/json")], page).into_response())
}

/// Returns the log: one JSON record per line.
pub(super) async fn get_log(
    State(gateway): AppState,
    AnyCaller(caller): AnyCaller,
    Path(raw_id): Path<String>,
) -> Result<Response, ApiError> {
    // The log includes hidden text; guests see only views.
    if let Caller::Guest { .. } = caller {
        return Err(ApiError::not_found());
    }
    let session = find_visible_session(&gateway, caller, &raw_id).await?;
    let log = gateway.log.clone();
    let (id, head) = (session.id, session.head);
    // Read before responding, so that a failure becomes an error response.
    let first = log.read(id, 0).await?;
    let chunks = futures_util::stream::unfold((0, Some(first)), move |(next_seq, prefetched)| {
        let log = log.clone();
        async move {
            if head <= next_seq {
                return None;
            }
            let chunks = match prefetched {
                Some(chunks) => Ok(chunks),
                None => log.read(id, next_seq).await,
            };
            let chunks = match chunks {
                Ok(chunks) => chunks,
                Err(error) => return Some((Err(std::io::Error::other(error)), (u64::MAX, None))),
            };
            let end = chunks.last().map_or(u64::MAX, |chunk| chunk.next_seq());
            let text: String = chunks.iter().map(|chunk| &*chunk.lines).collect();
            Some((Ok(Bytes::from(text)), (end, None)))
        }
    });
    let kind = [(header::CONTENT_TYPE, "application/jsonl")];
    Ok((kind, Body::from_stream(chunks)).into_response())
}
