//! Streams of a view over a WebSocket: each text message holds one or more frames, a JSON line
//! each.
//!
//! Input from the client is ignored, except closing; commands use HTTP.
//!
//! A message arrives whole or not at all, so a long history is split: a client whose connection
//! keeps breaking still makes progress.

use std::future::poll_fn;

use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade, close_code};
use axum::response::Response;
use bytes::Bytes;

use crate::fold::Framing;
use crate::limits::{SOCKET_INPUT_BYTES_MAX, SOCKET_MESSAGE_TARGET_BYTES};

use super::AppState;
use super::access_middleware::CheckedCaller;
use super::error::ApiError;
use super::extract::Query;
use super::live_stream::LiveStream;
use super::stream::StreamQuery;

/// Upgrades to a WebSocket and streams a view.
pub(super) async fn open_socket(
    State(gateway): AppState,
    caller: CheckedCaller,
    Query(query): Query<StreamQuery>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, ApiError> {
    let raw_id =
        query.session.as_deref().ok_or_else(|| ApiError::bad_request("Missing `session`."))?;
    let stream =
        LiveStream::open(gateway, caller, raw_id, &query, None, Framing::JsonLines).await?;
    let upgrade = upgrade.map_err(|rejection| {
        ApiError::new(rejection.status(), "not_a_websocket", rejection.body_text())
    })?;
    let upgrade =
        upgrade.max_message_size(SOCKET_INPUT_BYTES_MAX).max_frame_size(SOCKET_INPUT_BYTES_MAX);
    Ok(upgrade.on_upgrade(|socket| send_frames_until_closed(socket, stream)))
}

/// Sends frames until the stream ends or the client closes.
async fn send_frames_until_closed(mut socket: WebSocket, mut stream: LiveStream) {
    loop {
        tokio::select! {
            heard = socket.recv() => match heard {
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => {}
            },
            next = poll_fn(|cx| stream.poll_next(cx)) => {
                let Some(bytes) = next else {
                    let frame = CloseFrame { code: close_code::AWAY, reason: "".into() };
                    // The client may have disconnected already.
                    let _gone = socket.send(Message::Close(Some(frame))).await;
                    return;
                };
                for text in split_into_messages(bytes) {
                    if socket.send(Message::Text(text)).await.is_err() {
                        return;
                    }
                }
            }
        }
    }
}

/// Splits lines into messages near the target size; a longer line is a message by itself.
fn split_into_messages(mut lines: Bytes) -> impl Iterator<Item = Utf8Bytes> {
    std::iter::from_fn(move || {
        let (within_max, rest) =
            lines.split_at_checked(SOCKET_MESSAGE_TARGET_BYTES).unwrap_or((&lines, &[]));
        let last = within_max.iter().rposition(|byte| *byte == b'\n').filter(|_| !rest.is_empty());
        let next = rest.iter().position(|byte| *byte == b'\n').map(|at| within_max.len() + at);
        let end = last.or(next).map_or(lines.len(), |at| at + 1);
        let message = lines.split_to(end);
        Utf8Bytes::try_from(message).ok().filter(|message| !message.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: &[usize], expected: &[usize]) {
        let text: String = lines.iter().map(|len| "x".repeat(len - 1) + "\n").collect();
        let messages: Vec<Utf8Bytes> = split_into_messages(Bytes::from(text.clone())).collect();
        assert_eq!(messages.iter().map(|message| message.len()).collect::<Vec<_>>(), expected);
        assert_eq!(messages.iter().map(Utf8Bytes::as_str).collect::<String>(), text);
        assert!(messages.iter().all(|message| message.ends_with('\n')), "a frame is never divided");
    }

    #[test]
    fn a_history_is_sent_in_messages_of_whole_frames() {
        const MAX: usize = SOCKET_MESSAGE_TARGET_BYTES;
        check(&[], &[]);
        check(&[5, 7], &[12]);
        check(&[MAX], &[MAX]);
        check(&[MAX, 1], &[MAX, 1]);
        check(&[MAX - 1, 2, 3], &[MAX - 1, 5]);
        check(&[MAX + 1, 2, 3], &[MAX + 1, 5]);
        check(&[3, 4 * MAX, 3], &[3, 4 * MAX, 3]);
    }
}
