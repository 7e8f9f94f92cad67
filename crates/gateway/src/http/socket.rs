//! The stream of a view over a WebSocket: a text message holds one frame or more, a JSON line each.
//!
//! Nothing is heard from the client but that it goes away; commands come over HTTP.
//!
//! A message arrives whole or not at all, so that a long history is sent in many: on a connection
//! that breaks again and again a client still gets on.

use std::future::poll_fn;

use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade, close_code};
use axum::response::Response;
use bytes::Bytes;

use crate::fold::Spelling;
use crate::limits::{SOCKET_BYTES_MAX, SOCKET_MESSAGE_BYTES};

use super::App;
use super::error::ApiError;
use super::extract::Query;
use super::gate::Checked;
use super::live::Stream;
use super::stream::Wanted;

pub(super) async fn open(
    State(gateway): App,
    who: Checked,
    Query(wanted): Query<Wanted>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, ApiError> {
    let word =
        wanted.session.as_deref().ok_or_else(|| ApiError::bad_request("Say which `session`."))?;
    let stream = Stream::open(gateway, who, word, &wanted, None, Spelling::Lines).await?;
    let upgrade = upgrade
        .map_err(|fault| ApiError::new(fault.status(), "not_a_websocket", fault.body_text()))?;
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
            next = poll_fn(|cx| stream.poll_next(cx)) => {
                let Some(bytes) = next else {
                    let frame = CloseFrame { code: close_code::AWAY, reason: "".into() };
                    // It may have gone first.
                    let _gone = socket.send(Message::Close(Some(frame))).await;
                    return;
                };
                for text in messages(bytes) {
                    if socket.send(Message::Text(text)).await.is_err() {
                        return;
                    }
                }
            }
        }
    }
}

/// Whole lines, in messages that are only as long as one of them makes it.
fn messages(mut lines: Bytes) -> impl Iterator<Item = Utf8Bytes> {
    std::iter::from_fn(move || {
        let (short, rest) = lines.split_at_checked(SOCKET_MESSAGE_BYTES).unwrap_or((&lines, &[]));
        let last = short.iter().rposition(|byte| *byte == b'\n').filter(|_| !rest.is_empty());
        let next = rest.iter().position(|byte| *byte == b'\n').map(|at| short.len() + at);
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
        let made: Vec<Utf8Bytes> = messages(Bytes::from(text.clone())).collect();
        assert_eq!(made.iter().map(|message| message.len()).collect::<Vec<_>>(), expected);
        assert_eq!(made.iter().map(Utf8Bytes::as_str).collect::<String>(), text);
        assert!(made.iter().all(|message| message.ends_with('\n')), "a frame is never divided");
    }

    #[test]
    fn a_history_is_sent_in_messages_of_whole_frames() {
        const MAX: usize = SOCKET_MESSAGE_BYTES;
        check(&[], &[]);
        check(&[5, 7], &[12]);
        check(&[MAX], &[MAX]);
        check(&[MAX, 1], &[MAX, 1]);
        check(&[MAX - 1, 2, 3], &[MAX - 1, 5]);
        check(&[MAX + 1, 2, 3], &[MAX + 1, 5]);
        check(&[3, 4 * MAX, 3], &[3, 4 * MAX, 3]);
    }
}
