//! A gateway whose agent plays recorded streams, for tests of clients in other languages. All but
//! the model is real.
//!
//! `scripted FOLDER [PORT...]` prints `{"base", "token"}` on one line and serves until its standard
//! input ends. `PORT`s are those of proxies in front of it. The messages are described in
//! `play_request.rs`.

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use millpond_gateway::access::{OriginPolicy, Scheme};
use millpond_gateway::gateway::Gateway;
use millpond_gateway::serve::serve_and_shut_down;
use millpond_log::clock::{now_ms, random_bytes};
use millpond_log::id::OwnerId;
use millpond_log::store::sqlite::{Durability, SqliteStore};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

use playback_agent::PlaybackAgent;

mod play_request;
mod playback_agent;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let fixtures = arguments.next().ok_or("usage: scripted FOLDER [PORT...]")?;
    let proxies: Vec<String> = arguments.map(|port| format!("127.0.0.1:{port}")).collect();
    let folder = tempfile::tempdir()?;
    let store = Arc::new(SqliteStore::open(folder.path(), Durability::Window)?);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let stage = Arc::new(PlaybackAgent { fixtures: PathBuf::from(fixtures) });
    let allowed = OriginPolicy::new(address.port(), Scheme::Http, &proxies, &[]);
    let gateway =
        Arc::new(Gateway::open_and_recover_runs(store, allowed, Scheme::Http, Some(stage)).await?);
    let owner = OwnerId::new(now_ms(), random_bytes()?);
    let (_, secret) = gateway.issue_token(owner, "scripted").await?;
    let hello =
        serde_json::json!({ "base": format!("http://{address}"), "token": secret.reveal() });
    writeln!(std::io::stdout(), "{hello}")?;
    let stop = async {
        // Ends when the parent process closes its end.
        let mut rest = Vec::new();
        let _gone = tokio::io::stdin().read_to_end(&mut rest).await;
    };
    serve_and_shut_down(gateway, listener, None, stop).await?;
    Ok(())
}
