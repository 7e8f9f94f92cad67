//! WebSocket echo server on the same stack as `/v1/ws`, for conformance suites.
//!
//! `echo_socket [BYTES_MAX]` prints its address and serves until its standard input ends. The
//! default limit is that of the gateway.

use std::error::Error;
use std::io::Write;

use axum::Router;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::routing::any;
use millpond_gateway::limits::SOCKET_INPUT_BYTES_MAX;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let bytes_max = std::env::args().nth(1).map(|word| word.parse()).transpose()?;
    let bytes_max = bytes_max.unwrap_or(SOCKET_INPUT_BYTES_MAX);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    writeln!(std::io::stdout(), "{}", listener.local_addr()?)?;
    let open = async move |upgrade: WebSocketUpgrade| {
        upgrade.max_message_size(bytes_max).max_frame_size(bytes_max).on_upgrade(echo)
    };
    let app = Router::new().route("/", any(open));
    let gone = async {
        let mut rest = Vec::new();
        let _gone = tokio::io::stdin().read_to_end(&mut rest).await;
    };
    tokio::select! {
        served = axum::serve(listener, app) => served?,
        () = gone => {}
    }
    Ok(())
}

async fn echo(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.recv().await {
        let said = match message {
            Message::Text(_) | Message::Binary(_) => socket.send(message).await,
            // Pings and closing are handled by the library.
            Message::Ping(_) | Message::Pong(_) | Message::Close(_) => Ok(()),
        };
        if said.is_err() {
            return;
        }
    }
}
