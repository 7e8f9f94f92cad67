//! Servers under measurement: a gateway, and a bare loop that sends ready-made frames.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;
use axum::serve::ListenerExt;
use bytes::Bytes;
use millpond_gateway::access::{OriginPolicy, Scheme};
use millpond_gateway::channel::Channels;
use millpond_gateway::gateway::Gateway;
use millpond_log::id::{OwnerId, RunId};
use millpond_log::store::sqlite::{Durability, SqliteStore};
use millpond_log::store::{Batch, Chunk, Session, Store};
use tokio::net::TcpListener;
use tokio::sync::broadcast;
use tokio::time::MissedTickBehavior;

use super::load::{format_stamp, now_ns};

/// Kind of server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ServerKind {
    /// An axum server that broadcasts ready-made frames
    Bare,
    /// A gateway with its merge window
    Gateway,
    /// A gateway that sends every event immediately
    Unmerged,
}

/// Runs a server and prints its address, token, session and open time.
pub(super) fn serve_until_killed(
    kind: ServerKind,
    rate: u64,
    folder: &Path,
    sessions: u64,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        match kind {
            ServerKind::Bare => serve_bare_loop(listener, rate).await,
            ServerKind::Gateway => serve_gateway(listener, folder, sessions, None).await,
            ServerKind::Unmerged => {
                serve_gateway(listener, folder, sessions, Some(Duration::ZERO)).await
            }
        }
    })
}

async fn serve_bare_loop(listener: TcpListener, rate: u64) -> io::Result<()> {
    let (sender, _) = broadcast::channel::<Bytes>(64);
    let frames = sender.clone();
    tokio::spawn(async move {
        let mut tick =
            tokio::time::interval(Duration::from_secs(1) / u32::try_from(rate.max(1)).unwrap_or(1));
        tick.set_missed_tick_behavior(MissedTickBehavior::Burst);
        for n in 0_u64.. {
            tick.tick().await;
            let frame = format!("id:T{n}\ndata:\"{}\"\n\n", format_stamp(n, now_ns()));
            // Fails while there are no readers.
            let _unread = frames.send(frame.into());
        }
    });
    let app = Router::new().route(
        "/stream",
        get(move || {
            let frames = sender.subscribe();
            async move {
                let stream = futures_util::stream::unfold(frames, |mut frames| async {
                    let frame = frames.recv().await.ok()?;
                    Some((Ok::<_, io::Error>(frame), frames))
                });
                ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(stream))
                    .into_response()
            }
        }),
    );
    println!("{} - - 0", listener.local_addr()?);
    let listener = listener.tap_io(|stream| {
        let _slower = stream.set_nodelay(true);
    });
    axum::serve(listener, app).await
}

async fn serve_gateway(
    listener: TcpListener,
    folder: &Path,
    sessions: u64,
    window: Option<Duration>,
) -> io::Result<()> {
    let begun = std::time::Instant::now();
    let store = SqliteStore::open(folder, Durability::Window).map_err(io::Error::other)?;
    let store = Arc::new(store);
    let address = listener.local_addr()?;
    let allowed = OriginPolicy::new(address.port(), Scheme::Http, &[], &[]);
    let opened =
        Gateway::open_and_recover_runs(Arc::clone(&store), allowed, Scheme::Http, None).await;
    let mut gateway = opened.map_err(io::Error::other)?;
    let ready = begun.elapsed();
    if let Some(window) = window {
        gateway.channels = Channels::new(gateway.log.clone(), window);
    }
    let owner = OwnerId::new(1, [1; 10]);
    for n in 0..sessions {
        store_sample_session(&store, owner, n).map_err(io::Error::other)?;
    }
    let (_, token) = gateway.issue_token(owner, "bench").await.map_err(io::Error::other)?;
    let session = gateway.create_session_and_notify(owner, "").await.map_err(io::Error::other)?;
    println!("{address} {} {} {}", token.reveal(), session.id, ready.as_micros());
    millpond_gateway::serve::serve_and_shut_down(
        Arc::new(gateway),
        listener,
        None,
        std::future::pending(),
    )
    .await
}

/// Stores a session with 20 records.
fn store_sample_session(
    store: &SqliteStore,
    owner: OwnerId,
    n: u64,
) -> Result<(), millpond_log::store::StoreError> {
    let session = Session::new(owner, "One of many", n)?;
    store.create_session(&session)?;
    let line = |seq| {
        format!(
            "{{\"seq\":{seq},\"at_ms\":{seq},\"run\":\"\",\"type\":\"text_appended\",\
             \"message\":0,\"text\":\"so that a record is about as long as one that is real\"}}\n"
        )
    };
    let lines: String = (0..20).map(line).collect();
    let chunk = Chunk { epoch: 1, first: 0, len: 20, lines: lines.into() };
    store.append(&[Batch {
        session: session.id,
        run: RunId::new(n, [0; 10]),
        at_ms: n,
        chunk,
        run_boundaries: Vec::new(),
        searchable_texts: Vec::new(),
    }])
}
