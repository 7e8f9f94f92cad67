//! Raw requests, as no well-behaved client would send them.

use std::net::{Ipv4Addr, SocketAddr};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use super::support::{TEST_TIMEOUT, TestGateway};

/// The response until the connection was closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RawResponse {
    /// 0 if it was closed without a response.
    pub(super) status: u16,
    pub(super) body: String,
}

impl TestGateway {
    pub(super) fn address(&self) -> SocketAddr {
        self.base.trim_start_matches("http://").parse().unwrap()
    }

    pub(super) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address()).await.unwrap()
    }

    /// Sends bytes and reads until the server closes.
    pub(super) async fn exchange_raw(&self, bytes: &[u8]) -> RawResponse {
        exchange(self.connect().await, bytes).await
    }

    /// The same from another loopback address: wrong credentials are counted per address.
    pub(super) async fn exchange_raw_from(&self, peer: Ipv4Addr, bytes: &[u8]) -> RawResponse {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((peer, 0).into()).unwrap();
        exchange(socket.connect(self.address()).await.unwrap(), bytes).await
    }
}

async fn exchange(mut stream: TcpStream, bytes: &[u8]) -> RawResponse {
    // It may be closed before all is written; the response still counts.
    let _closed = stream.write_all(bytes).await;
    read_response(&mut stream).await
}

pub(super) async fn read_response(stream: &mut TcpStream) -> RawResponse {
    let mut answer = Vec::new();
    let read_result = tokio::time::timeout(TEST_TIMEOUT, stream.read_to_end(&mut answer)).await;
    // A reset connection may have sent its response before.
    let _reset = read_result.expect("the connection stays open");
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default();
    RawResponse { status, body }
}

/// Builds a request with these headers and `Connection: close`.
pub(super) fn request_bytes(method: &str, target: &str, headers: &[String], body: &str) -> Vec<u8> {
    let headers: String = headers.iter().flat_map(|header| [&**header, "\r\n"]).collect();
    format!(
        "{method} {target} HTTP/1.1\r\n{headers}Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}
