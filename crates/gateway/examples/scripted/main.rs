//! A gateway on a port of its own whose agent plays recorded streams, for clients in other
//! languages: real in everything but the model.
//!
//! `scripted FOLDER [PORT...]` prints `{"base", "token"}` on one line and serves until its standard
//! input ends. Ports are those of proxies in front of it. What a message says is what is played;
//! see `part.rs`.

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use gateway::access::Allowed;
use gateway::clock::{now_ms, random};
use gateway::gateway::Gateway;
use gateway::id::OwnerId;
use gateway::serve::serve;
use gateway::store::sqlite::{Durability, SqliteStore};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

use stage::Stage;

mod part;
mod stage;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let fixtures = arguments.next().ok_or("usage: scripted FOLDER [PORT...]")?;
    let proxies: Vec<String> = arguments.map(|port| format!("127.0.0.1:{port}")).collect();
    let folder = tempfile::tempdir()?;
    let store = Arc::new(SqliteStore::open(folder.path(), Durability::Window)?);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let stage = Arc::new(Stage { fixtures: PathBuf::from(fixtures) });
    let allowed = Allowed::new(address.port(), false, &proxies, &[]);
    let gateway = Arc::new(Gateway::open(store, allowed, false, Some(stage)).await?);
    let owner = OwnerId::new(now_ms(), random()?);
    let (_, secret) = gateway.issue(owner, "scripted").await?;
    let hello =
        serde_json::json!({ "base": format!("http://{address}"), "token": secret.reveal() });
    writeln!(std::io::stdout(), "{hello}")?;
    let stop = async {
        // Whoever started it holds the other end, and is gone when it closes.
        let mut rest = Vec::new();
        let _gone = tokio::io::stdin().read_to_end(&mut rest).await;
    };
    serve(gateway, listener, None, stop).await?;
    Ok(())
}
