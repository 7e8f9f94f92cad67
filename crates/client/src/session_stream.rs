//! Stream of one session in one view, with reconnection and resume.
//!
//! Invariant: pages and patches arrive in order, each once. A page replaces everything before it.
//! After a lost connection the stream resumes after the last event that was handed on, so nothing
//! is missing and nothing comes twice.

use millpond_engine::ingest::frame::{CutterOutput, SseDecoder};
use millpond_engine::view::{Page, Patch, Thinking, ViewName};
use millpond_engine::wire::ProtocolVersion;
use millpond_engine::wire::patch::PatchDecoder;
use reqwest::{Method, Response};
use serde::Deserialize;
use tokio::sync::mpsc;

use crate::backoff::Backoff;
use crate::error::Refusal;
use crate::limits::{
    EVENT_BYTES_MAX, RECONNECT_DELAY_MAX, RECONNECT_DELAY_MIN, STREAM_IDLE_TIMEOUT,
    UPDATES_QUEUED_MAX,
};
use crate::request::send_and_require_success;
use crate::sessions::Snapshot;
use crate::{GatewayClient, RequestError};

/// One update of a followed session.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamUpdate {
    /// The whole page: at the start, or because the stream could not be resumed.
    Page(Box<Page>),
    /// A change of the page before.
    Patch(Box<Patch<'static>>),
    /// The connection is open.
    Connected,
    /// The connection is lost; another attempt follows.
    Disconnected(ConnectionLoss),
    /// The stream has ended for good; nothing follows.
    Closed(StreamEnd),
}

/// Why a connection was lost.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectionLoss {
    /// A transient error of the request, or a connection that broke.
    #[error(transparent)]
    Request(RequestError),
    #[error("cannot reach the gateway: connection timed out")]
    IdleTimeout,
    #[error("an event exceeds {EVENT_BYTES_MAX} bytes; reloading the page")]
    EventTooLong,
    #[error("unreadable update, reloading the page: {0}")]
    InvalidPatch(String),
}

/// Why a stream ended for good.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StreamEnd {
    /// The gateway refuses the stream.
    #[error(transparent)]
    Refused(RequestError),
    #[error("the gateway closed the stream: {}", .0.as_str())]
    Closed(CloseReason),
    #[error("cannot parse the gateway's page: {0}")]
    InvalidPage(String),
}

/// Reason with which the gateway closes a stream that must not be opened again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// Access was revoked.
    Revoked,
    /// The session was deleted.
    Deleted,
    /// The session's log is damaged.
    Damaged,
}

impl CloseReason {
    const ALL: [CloseReason; 3] =
        [CloseReason::Revoked, CloseReason::Deleted, CloseReason::Damaged];

    /// Word of the protocol.
    pub fn as_str(self) -> &'static str {
        match self {
            CloseReason::Revoked => "revoked",
            CloseReason::Deleted => "deleted",
            CloseReason::Damaged => "damaged",
        }
    }
}

/// Session to follow, and its view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamRequest {
    pub session: String,
    pub view: ViewName,
    pub thinking: Thinking,
}

impl StreamRequest {
    /// Query parameters of the request.
    pub(crate) fn to_query_parameters(
        &self,
        version: ProtocolVersion,
    ) -> Vec<(&'static str, &'static str)> {
        let thinking = match self.thinking {
            Thinking::ViewDefault => None,
            Thinking::Hide => Some("hide"),
            Thinking::Latest => Some("latest"),
            Thinking::Show => Some("show"),
        };
        let mut query = vec![("view", self.view.as_str()), ("format", "patch")];
        query.extend(match version {
            ProtocolVersion::V1 => None,
            ProtocolVersion::V2 => Some(("protocol", "2")),
        });
        query.extend(thinking.map(|word| ("thinking", word)));
        query
    }
}

/// Spawns a task that follows a session until the receiver is dropped or the stream is closed.
pub fn spawn_session_stream(
    client: GatewayClient,
    request: StreamRequest,
) -> mpsc::Receiver<StreamUpdate> {
    let (updates, receiver) = mpsc::channel(UPDATES_QUEUED_MAX);
    let backoff = Backoff::new(RECONNECT_DELAY_MIN, RECONNECT_DELAY_MAX);
    let decoder = PatchDecoder::default();
    let version = ProtocolVersion::V2;
    let stream =
        SessionStream { client, request, version, cursor: None, decoder, updates, backoff };
    tokio::spawn(stream.follow_until_closed());
    receiver
}

/// State of a followed session across connections.
struct SessionStream {
    client: GatewayClient,
    request: StreamRequest,
    /// Version 1 once a gateway has refused version 2.
    version: ProtocolVersion,
    /// Id of the last event that was handed on, after which the gateway resumes. `None` before the
    /// first event, and after an error that only a new page repairs.
    cursor: Option<String>,
    /// Decoder of the patch after that event.
    decoder: PatchDecoder,
    updates: mpsc::Sender<StreamUpdate>,
    backoff: Backoff,
}

/// Why reading a connection stopped.
enum ConnectionEnd {
    /// The gateway ended the response: it stops, or wants the client to reconnect.
    EndOfResponse,
    Lost(ConnectionLoss),
    Closed(StreamEnd),
    /// The receiver was dropped.
    ReceiverDropped,
}

/// An event of the stream, detached from the decoder's buffer.
struct StreamEvent {
    id: String,
    name: String,
    data: String,
}

#[derive(Deserialize)]
struct ClosedEvent {
    reason: String,
}

impl SessionStream {
    /// Connects until the stream is closed or the receiver is dropped.
    async fn follow_until_closed(mut self) {
        loop {
            let update = match self.connect_and_forward_events().await {
                ConnectionEnd::ReceiverDropped => return,
                ConnectionEnd::Closed(end) => {
                    let _dropped = self.updates.send(StreamUpdate::Closed(end)).await;
                    return;
                }
                ConnectionEnd::Lost(loss) => Some(StreamUpdate::Disconnected(loss)),
                ConnectionEnd::EndOfResponse => None,
            };
            if let Some(update) = update
                && self.updates.send(update).await.is_err()
            {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(self.backoff.next_pause()) => {}
                () = self.updates.closed() => return,
            }
        }
    }

    /// Opens a connection and hands its events on until it ends.
    async fn connect_and_forward_events(&mut self) -> ConnectionEnd {
        let updates = self.updates.clone();
        let response = tokio::select! {
            response = self.connect_with_protocol_fallback() => response,
            () = updates.closed() => return ConnectionEnd::ReceiverDropped,
        };
        let mut response = match response {
            Ok(response) => response,
            Err(error) if error.is_transient() => {
                return ConnectionEnd::Lost(ConnectionLoss::Request(error));
            }
            Err(error) => return ConnectionEnd::Closed(StreamEnd::Refused(error)),
        };
        if self.updates.send(StreamUpdate::Connected).await.is_err() {
            return ConnectionEnd::ReceiverDropped;
        }
        let mut decoder = SseDecoder::with_frame_bytes_max(EVENT_BYTES_MAX);
        loop {
            let chunk = tokio::select! {
                chunk = tokio::time::timeout(STREAM_IDLE_TIMEOUT, response.chunk()) => chunk,
                () = self.updates.closed() => return ConnectionEnd::ReceiverDropped,
            };
            let bytes = match chunk {
                Err(_) => return ConnectionEnd::Lost(ConnectionLoss::IdleTimeout),
                Ok(Err(error)) => {
                    let error = RequestError::from_transport_error(&error);
                    return ConnectionEnd::Lost(ConnectionLoss::Request(error));
                }
                Ok(Ok(None)) => return ConnectionEnd::EndOfResponse,
                Ok(Ok(Some(bytes))) => bytes,
            };
            if let Err(end) = self.decode_and_forward_chunk(&mut decoder, &bytes).await {
                return end;
            }
        }
    }

    /// Requests the stream after the last event. A gateway of version 0.1 refuses the parameter
    /// `protocol`; it is asked again without it.
    async fn connect_with_protocol_fallback(&mut self) -> Result<Response, RequestError> {
        match self.request_stream().await {
            Err(RequestError::Refused(Refusal { status: 400, .. }))
                if self.version == ProtocolVersion::V2 =>
            {
                self.version = ProtocolVersion::V1;
                self.request_stream().await
            }
            result => result,
        }
    }

    async fn request_stream(&self) -> Result<Response, RequestError> {
        let path = format!("/v1/sessions/{}/stream", self.request.session);
        let request = self
            .client
            .build_untimed_request(Method::GET, &path)
            .query(&self.request.to_query_parameters(self.version));
        send_and_require_success(match &self.cursor {
            Some(cursor) => request.header("last-event-id", cursor),
            None => request,
        })
        .await
    }

    /// Decodes a chunk and hands its events on.
    async fn decode_and_forward_chunk(
        &mut self,
        decoder: &mut SseDecoder,
        bytes: &[u8],
    ) -> Result<(), ConnectionEnd> {
        let mut events = Vec::new();
        let mut too_long = None;
        decoder.push(bytes, &mut |output| match output {
            CutterOutput::Frame(frame) if too_long.is_none() => events.push(StreamEvent {
                id: frame.id.to_owned(),
                name: frame.name.to_owned(),
                data: frame.data.to_owned(),
            }),
            // Later events depend on the skipped one.
            CutterOutput::Frame(_) | CutterOutput::Noise(_) => {}
            CutterOutput::TooLong { .. } => too_long = Some(ConnectionLoss::EventTooLong),
        });
        if let Some(pause) = decoder.reconnection_time() {
            self.backoff.set_min_and_reset_if_changed(pause);
        }
        for event in events {
            self.forward_event_and_advance_cursor(event).await?;
            self.backoff.reset();
        }
        match too_long {
            Some(loss) => Err(self.clear_cursor_and_return_loss(loss)),
            None => Ok(()),
        }
    }

    /// Forgets the cursor, so that the next connection begins with the whole page. Returns the loss
    /// as the end of the connection.
    fn clear_cursor_and_return_loss(&mut self, loss: ConnectionLoss) -> ConnectionEnd {
        self.cursor = None;
        ConnectionEnd::Lost(loss)
    }

    async fn forward_event_and_advance_cursor(
        &mut self,
        event: StreamEvent,
    ) -> Result<(), ConnectionEnd> {
        let StreamEvent { id, name, data } = event;
        match name.as_str() {
            "snapshot" => {
                let Snapshot { page } = serde_json::from_str(&data).map_err(|error| {
                    ConnectionEnd::Closed(StreamEnd::InvalidPage(error.to_string()))
                })?;
                self.decoder = PatchDecoder::after_page(&page);
                self.send_update(StreamUpdate::Page(Box::new(page))).await?;
            }
            "" => match self.decoder.decode(&data) {
                Ok(patch) => {
                    let patch = Box::new(patch.into_owned());
                    self.send_update(StreamUpdate::Patch(patch)).await?;
                }
                Err(invalid) => {
                    return Err(self.clear_cursor_and_return_loss(ConnectionLoss::InvalidPatch(
                        invalid.problem,
                    )));
                }
            },
            "closed" => {
                if let Some(reason) = parse_permanent_close_reason(&data) {
                    return Err(ConnectionEnd::Closed(StreamEnd::Closed(reason)));
                }
            }
            // Later versions may have more events.
            _ => {}
        }
        if !id.is_empty() {
            self.cursor = Some(id);
        }
        Ok(())
    }

    async fn send_update(&self, update: StreamUpdate) -> Result<(), ConnectionEnd> {
        self.updates.send(update).await.map_err(|_| ConnectionEnd::ReceiverDropped)
    }
}

/// Returns the reason of a `closed` event after which a reconnection is useless.
fn parse_permanent_close_reason(data: &str) -> Option<CloseReason> {
    let ClosedEvent { reason } = serde_json::from_str(data).ok()?;
    CloseReason::ALL.into_iter().find(|known| known.as_str() == reason)
}
