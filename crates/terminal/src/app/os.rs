//! Operating system access: stop signals, suspension, the external editor, exported files.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use millpond_engine::view::{ItemKind, ItemState, Page};

/// Listener for SIGTERM and SIGHUP.
pub(super) struct StopSignals {
    #[cfg(unix)]
    sigterm: tokio::signal::unix::Signal,
    #[cfg(unix)]
    sighup: tokio::signal::unix::Signal,
}

impl StopSignals {
    #[cfg(unix)]
    pub(super) fn listen() -> std::io::Result<StopSignals> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(StopSignals {
            sigterm: signal(SignalKind::terminate())?,
            sighup: signal(SignalKind::hangup())?,
        })
    }

    #[cfg(unix)]
    pub(super) async fn wait(&mut self) {
        tokio::select! {
            _ = self.sigterm.recv() => {}
            _ = self.sighup.recv() => {}
        }
    }

    #[cfg(not(unix))]
    pub(super) fn listen() -> std::io::Result<StopSignals> {
        Ok(StopSignals {})
    }

    #[cfg(not(unix))]
    pub(super) async fn wait(&mut self) {
        std::future::pending().await
    }
}

/// Suspends this process with SIGTSTP, as Ctrl-Z does, until it is continued.
pub(super) fn suspend_process() {
    #[cfg(unix)]
    let _unstopped = signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP);
}

/// Opens `text` in `$VISUAL`, `$EDITOR` or vi, and returns the edited text.
pub(super) fn edit_in_external_editor(text: &str) -> Result<String, String> {
    let editor = ["VISUAL", "EDITOR"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|set| !set.is_empty()));
    let editor = editor.unwrap_or_else(|| "vi".to_owned());
    let failed = |error: std::io::Error| format!("cannot run editor `{editor}`: {error}");
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
        return Err(format!("editor `{editor}` failed ({status}); message unchanged"));
    }
    let edited = std::fs::read_to_string(file.path()).map_err(failed)?;
    Ok(edited.trim_end_matches('\n').to_owned())
}

/// Writes `text` to a file that must not exist.
pub(super) fn write_new_file(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())
}

/// Renders the messages of the page as Markdown.
pub(super) fn page_messages_as_markdown(page: &Page) -> String {
    let shown = page.items.values().filter(|item| item.state != ItemState::Withdrawn);
    let texts = shown.filter_map(|item| match item.kind {
        ItemKind::User => Some(format!("> {}\n\n", item.text.trim_end().replace('\n', "\n> "))),
        ItemKind::Text => Some(format!("{}\n\n", item.text.trim_end())),
        ItemKind::Reasoning
        | ItemKind::Tool
        | ItemKind::Steps
        | ItemKind::Entry
        | ItemKind::Action
        | ItemKind::Ask
        | ItemKind::Request
        | ItemKind::Checkpoint
        | ItemKind::Notice
        | ItemKind::Error
        | ItemKind::Withdrawal => None,
    });
    texts.collect()
}
