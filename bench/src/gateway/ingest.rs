//! Measures a gateway's CPU time per delta of an ingested stream, with no reader, one, and one in
//! each view, beside ingest and one view of the same bytes in memory.

use std::fmt::Write;
use std::io;
use std::time::Duration;

use millpond_engine::view::ViewName;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::{JoinHandle, LocalSet};

use super::load::connect_and_request_stream;
use super::process::ServerProcess;
use super::server::ServerKind;
use crate::ingest::measure_shortest_cpu_time;
use crate::streams::{Provider, make_stream};
use crate::views::ingest_and_encode_view;

/// Bytes of one piece of the body.
const PIECE_BYTES: usize = 16 << 10;

pub(super) async fn run_ingest_bench(deltas: usize, repeats: usize) -> io::Result<()> {
    println!("| stream | in memory, one view | no reader | one reader | a reader in each view |");
    println!("| --- | --- | --- | --- | --- |");
    for provider in [Provider::Chat, Provider::Anthropic] {
        let stream = make_stream(provider, deltas);
        let in_memory = measure_shortest_cpu_time(repeats, || {
            ingest_and_encode_view(ViewName::Latest, &stream);
        });
        let mut row = format!("| {} | {:.2} us |", provider.name(), per_delta(in_memory, deltas));
        let views = ViewName::ALL;
        for readers in [&views[..0], &views[..1], &views[..]] {
            let mut shortest = Duration::MAX;
            for _ in 0..repeats {
                let used = LocalSet::new()
                    .run_until(measure_server_cpu_time(provider, &stream, readers))
                    .await?;
                shortest = shortest.min(used);
            }
            let ratio = shortest.as_secs_f64() / in_memory.as_secs_f64();
            let per_delta = per_delta(shortest, deltas);
            let _infallible = write!(row, " {per_delta:.2} us, x {ratio:.1} |");
        }
        println!("{row}");
    }
    Ok(())
}

#[allow(clippy::cast_precision_loss, reason = "a number of deltas")]
fn per_delta(time: Duration, deltas: usize) -> f64 {
    time.as_secs_f64() * 1e6 / deltas as f64
}

/// CPU time of a server from the first byte of the stream until all readers have its end.
async fn measure_server_cpu_time(
    provider: Provider,
    stream: &[u8],
    views: &[ViewName],
) -> io::Result<Duration> {
    let folder = tempfile::tempdir()?;
    let server = ServerProcess::start(ServerKind::Gateway, 0, folder.path(), 0)?;
    let mut readers = Vec::new();
    for view in views {
        let target = format!(
            "/v1/sessions/{}/stream?view={}&format=patch&from=start&protocol=2",
            server.session,
            view.as_str()
        );
        let reader = connect_and_request_stream(&server, &target).await?;
        readers.push(tokio::task::spawn_local(read_until_run_ended(reader)));
    }
    let before = server.cpu_seconds();
    upload(provider, &server, stream).await?;
    join_all(readers).await?;
    Ok(Duration::from_secs_f64((server.cpu_seconds() - before).max(0.0)))
}

async fn join_all(readers: Vec<JoinHandle<io::Result<()>>>) -> io::Result<()> {
    for reader in readers {
        reader.await??;
    }
    Ok(())
}

async fn read_until_run_ended(mut stream: TcpStream) -> io::Result<()> {
    let mut buffer = Vec::with_capacity(1 << 16);
    while memchr::memmem::find(&buffer, b"{\"ended\"").is_none() {
        let had = buffer.len();
        if stream.read_buf(&mut buffer).await? == 0 {
            return Err(io::Error::other("the stream ended early"));
        }
        // Keep only the new bytes, and enough of the old for a marker cut in two.
        buffer.drain(..had.saturating_sub(16));
    }
    Ok(())
}

/// Sends a whole stream as a run, and waits for the answer.
async fn upload(provider: Provider, server: &ServerProcess, stream: &[u8]) -> io::Result<()> {
    let dialect = match provider {
        Provider::Chat => "openai-chat",
        Provider::Responses => "openai-responses",
        Provider::Anthropic => "anthropic",
    };
    let mut connection = TcpStream::connect(&server.address).await?;
    connection.set_nodelay(true)?;
    let head = format!(
        "POST /v1/ingest/{dialect}?session={} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
         Content-Length: {}\r\n\r\n",
        server.session,
        server.address,
        server.token,
        stream.len()
    );
    connection.write_all(head.as_bytes()).await?;
    for piece in stream.chunks(PIECE_BYTES) {
        connection.write_all(piece).await?;
    }
    let mut answer = [0; 1024];
    let len = connection.read(&mut answer).await?;
    if answer.get(..len).is_some_and(|answer| answer.starts_with(b"HTTP/1.1 200")) {
        return Ok(());
    }
    Err(io::Error::other("the stream was not ingested"))
}
