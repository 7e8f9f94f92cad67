//! Says back what it hears over a WebSocket, on the stack that `/v1/ws` stands on, for conformance
//! suites, which need a server that answers.
//!
//! `echo_socket [BYTES_MAX]` prints its address and serves until its standard input ends. Without a
//! number the bound of messages is that of the gateway.

use std::error::Error;
use std::io::Write;

use axum::Router;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::routing::any;
use gateway::limits::SOCKET_BYTES_MAX;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let bytes_max = std::env::args().nth(1).map(|word| word.parse()).transpose()?;
    let bytes_max = bytes_max.unwrap_or(SOCKET_BYTES_MAX);
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
            // Pings and closings are answered below this.
            Message::Ping(_) | Message::Pong(_) | Message::Close(_) => Ok(()),
        };
        if said.is_err() {
            return;
        }
    }
}
