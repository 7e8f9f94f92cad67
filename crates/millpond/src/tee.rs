//! Standard input to standard output, and to a gateway on the way.
//!
//! Invariant: what is passed through is passed through at once and unchanged, whatever the gateway
//! does.

use std::io::{Read, Write};
use std::process::ExitCode;

use gateway::id::SessionId;
use serde::Deserialize;
use tokio::sync::mpsc;

use crate::args::TeeArgs;
use crate::serve::{data_folder, key};
use crate::show::say;

/// Pieces that may wait for the gateway; one that is further behind is given up.
const WAITING_MAX: usize = 16 << 10;
const PIECE_BYTES: usize = 8 << 10;

#[derive(Deserialize)]
struct Taken {
    session: String,
    run: String,
    outcome: String,
}

#[derive(Deserialize)]
struct Refused {
    error: Problem,
}

#[derive(Deserialize)]
struct Problem {
    message: String,
}

pub(crate) fn run(args: &TeeArgs) -> ExitCode {
    let (target, token) = match target(args) {
        Ok(target) => target,
        Err(problem) => {
            say(&problem);
            return ExitCode::from(2);
        }
    };
    let (pieces, waiting) = mpsc::channel(WAITING_MAX);
    let sender = std::thread::spawn(move || send(&target, &token, waiting));
    let passed = pass_through(&pieces);
    drop(pieces);
    let sent = sender.join().unwrap_or_else(|_| Err("the sender failed".to_owned()));
    match (passed, sent) {
        (Ok(()), Ok(Taken { session, run, outcome })) => {
            say(&format!("session {session}, run {run}: {outcome}"));
            ExitCode::SUCCESS
        }
        // What the gateway says explains most.
        (_, Err(problem)) | (Err(problem), _) => {
            say(&problem);
            ExitCode::FAILURE
        }
    }
}

/// Where to send it, and with which token.
fn target(args: &TeeArgs) -> Result<(String, String), String> {
    let config = args.config.load()?;
    let base = match &args.url {
        Some(url) => url.trim_end_matches('/').to_owned(),
        None => format!("http://{}", config.text("listen")),
    };
    let token = if let Some(token) = &args.token {
        token.clone()
    } else {
        let folder = data_folder(&config)?;
        let token = key::read_token(&folder).ok_or_else(|| {
            format!(
                "no token in {}: start `millpond serve` once, or give --token",
                folder.display()
            )
        })?;
        token.reveal().to_owned()
    };
    let mut target = format!("{base}/v1/ingest/{}", args.from);
    if let Some(session) = &args.session {
        if session.parse::<SessionId>().is_err() {
            return Err(format!("`{session}` is no session: give the key that the gateway gave"));
        }
        target.push_str("?session=");
        target.push_str(session);
    }
    Ok((target, token))
}

/// A reader that has gone away has read enough; the gateway still gets the rest.
fn pass_through(pieces: &mpsc::Sender<Vec<u8>>) -> Result<(), String> {
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let mut piece = vec![0; PIECE_BYTES];
    let mut behind = false;
    loop {
        let len = match input.read(&mut piece) {
            Ok(0) if behind => {
                return Err("the gateway was away or too slow and has not got all of it".to_owned());
            }
            Ok(0) => return Ok(()),
            Ok(len) => len,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(format!("cannot read standard input: {error}")),
        };
        match output.write_all(&piece[..len]).and_then(|()| output.flush()) {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                return Err(format!("cannot write standard output: {error}"));
            }
            _ => {}
        }
        // What is left out cannot be made up for: from there on nothing is sent.
        behind = behind || pieces.try_send(piece[..len].to_vec()).is_err();
    }
}

fn send(target: &str, token: &str, waiting: mpsc::Receiver<Vec<u8>>) -> Result<Taken, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let body = futures_util::stream::unfold(waiting, |mut waiting| async {
            let piece = waiting.recv().await?;
            Some((Ok::<_, std::io::Error>(piece), waiting))
        });
        let answer = reqwest::Client::new()
            .post(target)
            .bearer_auth(token)
            .body(reqwest::Body::wrap_stream(body))
            .send()
            .await
            .map_err(|error| format!("the gateway did not take it: {}", root(&error)))?;
        let good = answer.status().is_success();
        let text = answer.text().await.map_err(|error| root(&error))?;
        if good {
            return serde_json::from_str(&text).map_err(|error| error.to_string());
        }
        let problem = serde_json::from_str::<Refused>(&text).map(|refused| refused.error.message);
        Err(format!("the gateway did not take it: {}", problem.unwrap_or(text)))
    })
}

/// What went wrong in the end.
fn root(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
