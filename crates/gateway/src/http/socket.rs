//! The stream of a view over a WebSocket: a text message holds one frame or more, a JSON line each.
//!
//! Nothing is heard from the client but that it goes away; commands come over HTTP.

use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade, close_code};
use axum::response::Response;

use crate::fold::Spelling;
use crate::limits::SOCKET_BYTES_MAX;

use super::App;
use super::error::ApiError;
use super::extract::Query;
use super::gate::Anyone;
use super::stream::{Stream, Wanted};

pub(super) async fn open(
    State(gateway): App,
    Anyone(caller): Anyone,
    Query(wanted): Query<Wanted>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, ApiError> {
    let word =
        wanted.session.as_deref().ok_or_else(|| ApiError::bad_request("Say which `session`."))?;
    let stream = Stream::open(gateway, caller, word, &wanted, None, Spelling::Lines).await?;
    let upgrade = upgrade.map_err(|fault| ApiError::bad_request(fault.body_text()))?;
    let upgrade = upgrade.max_message_size(SOCKET_BYTES_MAX).max_frame_size(SOCKET_BYTES_MAX);
    Ok(upgrade.on_upgrade(|socket| send(socket, stream)))
}

async fn send(mut socket: WebSocket, mut stream: Stream) {
    loop {
        tokio::select! {
            heard = socket.recv() => match heard {
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => {}
            },
            next = stream.next() => {
                let (bytes, last) = match next {
                    Ok(bytes) => (Some(bytes), false),
                    Err(bytes) => (bytes, true),
                };
                if let Some(text) = bytes.and_then(|bytes| Utf8Bytes::try_from(bytes).ok())
                    && socket.send(Message::Text(text)).await.is_err()
                {
                    return;
                }
                if last {
                    let frame = CloseFrame { code: close_code::AWAY, reason: "".into() };
                    // It may have gone first.
                    let _gone = socket.send(Message::Close(Some(frame))).await;
                    return;
                }
            }
        }
    }
}
