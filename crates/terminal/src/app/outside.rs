//! What is done outside of the terminal: files, signals, somebody's editor.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use engine::view::{Kind, Picture, State};

use crate::input::history::to_line;

/// Signals that ask the process to end.
pub(super) struct Stop {
    #[cfg(unix)]
    terminated: tokio::signal::unix::Signal,
    #[cfg(unix)]
    hung_up: tokio::signal::unix::Signal,
}

impl Stop {
    #[cfg(unix)]
    pub(super) fn new() -> std::io::Result<Stop> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Stop {
            terminated: signal(SignalKind::terminate())?,
            hung_up: signal(SignalKind::hangup())?,
        })
    }

    #[cfg(unix)]
    pub(super) async fn wanted(&mut self) {
        tokio::select! {
            _ = self.terminated.recv() => {}
            _ = self.hung_up.recv() => {}
        }
    }

    #[cfg(not(unix))]
    pub(super) fn new() -> std::io::Result<Stop> {
        Ok(Stop {})
    }

    #[cfg(not(unix))]
    pub(super) async fn wanted(&mut self) {
        std::future::pending().await
    }
}

/// Stops this process as Ctrl-Z does, until it is continued.
pub(super) fn stop_here() {
    #[cfg(unix)]
    let _unstopped = signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP);
}

/// Adds what was written to the file of it. One that cannot be written is done without.
pub(super) fn remember(file: Option<&Path>, text: &str) {
    let Some(file) = file else { return };
    let opened = std::fs::OpenOptions::new().create(true).append(true).open(file);
    let _unkept = opened.and_then(|mut file| file.write_all(to_line(text).as_bytes()));
}

/// A text as the person's editor gives it back.
pub(super) fn edited(text: &str) -> Result<String, String> {
    let editor = ["VISUAL", "EDITOR"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|set| !set.is_empty()));
    let editor = editor.unwrap_or_else(|| "vi".to_owned());
    let failed = |error: std::io::Error| format!("`{editor}` cannot be used: {error}");
    let file =
        tempfile::Builder::new().prefix("millpond-").suffix(".md").tempfile().map_err(failed)?;
    std::fs::write(file.path(), text).map_err(failed)?;
    let status = Command::new("sh")
        .arg("-c")
        .arg(format!("{editor} \"$1\""))
        .arg("sh")
        .arg(file.path())
        .status()
        .map_err(failed)?;
    if !status.success() {
        return Err(format!("`{editor}` ended with {status}: what you wrote is as it was"));
    }
    let edited = std::fs::read_to_string(file.path()).map_err(failed)?;
    Ok(edited.trim_end_matches('\n').to_owned())
}

/// Writes what the page says; says what became of it.
pub(super) fn export(folder: &Path, file: &str, picture: &Picture) -> String {
    let path = folder.join(file);
    let opened = std::fs::OpenOptions::new().write(true).create_new(true).open(&path);
    match opened.and_then(|mut file| file.write_all(page_text(picture).as_bytes())) {
        Ok(()) => format!("written to {}", path.display()),
        Err(error) => format!("not written to {}: {error}", path.display()),
    }
}

fn page_text(picture: &Picture) -> String {
    let shown = picture.items.values().filter(|item| item.state != State::Withdrawn);
    let texts = shown.filter_map(|item| match item.kind {
        Kind::User => Some(format!("> {}\n\n", item.text.trim_end().replace('\n', "\n> "))),
        Kind::Text => Some(format!("{}\n\n", item.text.trim_end())),
        _ => None,
    });
    texts.collect()
}
