//! HTTP server whose responses are bytes of the test: each connection takes the next script.

use millpond_client::GatewayClient;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// How a connection ends after its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Orderly.
    Close,
    /// With a TCP reset.
    Reset,
    /// Not before the client closes it.
    Never,
}

/// Response to one connection.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    /// Each is written and flushed on its own.
    pub(crate) chunks: Vec<Vec<u8>>,
    pub(crate) end: End,
}

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// First line and headers, in lower case.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Request {
    /// Value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// Starts a server that answers connection after connection with the scripts, in order. Returns a
/// client of it and the requests that arrive.
pub(crate) async fn start_server(
    scripts: Vec<Script>,
) -> (GatewayClient, mpsc::UnboundedReceiver<Request>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, requests) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        for script in scripts {
            let (connection, _) = listener.accept().await.unwrap();
            play(connection, script, &sender).await;
        }
    });
    (GatewayClient::new(&format!("http://{address}/"), "secret").unwrap(), requests)
}

async fn play(mut connection: TcpStream, script: Script, sender: &mpsc::UnboundedSender<Request>) {
    connection.set_nodelay(true).unwrap();
    let _gone = sender.send(read_request(&mut connection).await);
    for chunk in &script.chunks {
        // The client may have closed it.
        if connection.write_all(chunk).await.is_err() {
            return;
        }
        connection.flush().await.unwrap();
        // Lets the client read this chunk before the next.
        tokio::task::yield_now().await;
    }
    match script.end {
        End::Close => connection.shutdown().await.unwrap_or_default(),
        End::Reset => connection.set_zero_linger().unwrap(),
        End::Never => while connection.read(&mut [0; 64]).await.is_ok_and(|len| 0 < len) {},
    }
}

/// Reads the head, and a body of a known length or of chunks.
async fn read_request(connection: &mut TcpStream) -> Request {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let request = Request { head: head.to_ascii_lowercase(), body: body.to_owned() };
            let length = request.header("content-length").map_or(0, |len| len.parse().unwrap());
            let is_chunked = request.header("transfer-encoding") == Some("chunked");
            if length <= body.len() && (!is_chunked || body.ends_with("0\r\n\r\n")) {
                return request;
            }
        }
        let len = connection.read(&mut buffer).await.unwrap();
        assert!(0 < len, "the request is cut: {bytes:?}");
        bytes.extend_from_slice(&buffer[..len]);
    }
}

/// Response with this status and body, and an orderly end.
pub(crate) fn response(status: u16, body: &str) -> Script {
    let head = format!(
        "HTTP/1.1 {status} Any\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    Script { chunks: vec![(head + body).into_bytes()], end: End::Close }
}

/// Error response of the gateway.
pub(crate) fn refusal(status: u16, code: &str) -> Script {
    response(status, &format!("{{\"error\":{{\"code\":\"{code}\",\"message\":\"No: {code}.\"}}}}"))
}

/// Event stream of these chunks.
pub(crate) fn event_stream(chunks: &[&[u8]], end: End) -> Script {
    // Without a length: the response ends with the connection.
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let mut all = vec![head.to_vec()];
    all.extend(chunks.iter().map(|chunk| chunk.to_vec()));
    Script { chunks: all, end }
}
