//! Requests by the letter, as no well-behaved client would send them.

use std::net::{Ipv4Addr, SocketAddr};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use super::support::{PATIENCE, Served};

/// What came back until the connection was closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// 0 when it was closed without a word.
    pub(super) status: u16,
    pub(super) body: String,
}

impl Served {
    pub(super) fn address(&self) -> SocketAddr {
        self.base.trim_start_matches("http://").parse().unwrap()
    }

    pub(super) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address()).await.unwrap()
    }

    /// Sends these bytes and reads until the other side closes.
    pub(super) async fn raw(&self, bytes: &[u8]) -> Answer {
        exchange(self.connect().await, bytes).await
    }

    /// The same from another address of this machine: wrong credentials are counted by address.
    pub(super) async fn raw_from(&self, from: Ipv4Addr, bytes: &[u8]) -> Answer {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((from, 0).into()).unwrap();
        exchange(socket.connect(self.address()).await.unwrap(), bytes).await
    }
}

async fn exchange(mut stream: TcpStream, bytes: &[u8]) -> Answer {
    // It may be closed before all is written; what it said counts.
    let _closed = stream.write_all(bytes).await;
    read_answer(&mut stream).await
}

pub(super) async fn read_answer(stream: &mut TcpStream) -> Answer {
    let mut answer = Vec::new();
    let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await;
    // A connection that was reset has still said what it said.
    let _reset = read.expect("the connection stays open");
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default();
    Answer { status, body }
}

/// A request with these lines of headers, after which the connection is closed.
pub(super) fn request(method: &str, target: &str, headers: &[String], body: &str) -> Vec<u8> {
    let headers: String = headers.iter().flat_map(|header| [&**header, "\r\n"]).collect();
    format!(
        "{method} {target} HTTP/1.1\r\n{headers}Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}
