//! `millpond restore`: lists checkpoints of a folder, or restores its files to one.

use std::io::{BufRead, IsTerminal, Write};
use std::process::ExitCode;

use millpond_agent::checkpoint::CheckpointStore;

use crate::args::RestoreArgs;
use crate::command::{block_on, print_error_and_return_failure};
use crate::print_to_stdout;
use crate::show::print_to_stderr;

/// Runs `millpond restore`.
pub(crate) fn run(args: &RestoreArgs) -> ExitCode {
    block_on(list_or_restore(args))
        .unwrap_or_else(|problem| print_error_and_return_failure(&problem))
}

/// Lists the checkpoints, or shows the changes, asks and restores.
async fn list_or_restore(args: &RestoreArgs) -> Result<ExitCode, String> {
    let data = args.config.load_settings()?.data_folder()?;
    let folder = args
        .folder
        .canonicalize()
        .map_err(|error| format!("cannot use {}: {error}", args.folder.display()))?;
    let checkpoints = CheckpointStore::for_folder(&data, &folder);
    let words = |error: millpond_agent::checkpoint::CheckpointError| error.to_string();
    let Some(beginning) = &args.hash else {
        let all = checkpoints.list().await.map_err(words)?;
        if all.is_empty() {
            print_to_stderr(&format!("no checkpoints for {}", folder.display()));
        }
        let lines: Vec<_> =
            all.iter().map(|one| format!("{}  {}\n", one.hash, one.saved_at)).collect();
        return Ok(print_to_stdout(lines.concat().as_bytes()));
    };
    let hash = checkpoints.find_hash_by_prefix(beginning).await.map_err(words)?;
    let diff = checkpoints.stage_files_and_preview_restore(&hash).await.map_err(words)?;
    if diff.is_empty() {
        print_to_stderr("nothing to restore: the files match the checkpoint");
        return Ok(ExitCode::SUCCESS);
    }
    print_to_stdout(diff.as_bytes());
    if !args.yes && !ask_for_confirmation()? {
        print_to_stderr("cancelled: no files changed");
        return Ok(ExitCode::FAILURE);
    }
    let before = checkpoints.save_then_restore(&hash).await.map_err(words)?;
    print_to_stderr(&format!("restored; to undo, run: millpond restore {}", &before[..12]));
    Ok(ExitCode::SUCCESS)
}

/// Asks on the terminal and returns true for yes. Without a terminal, returns an error.
fn ask_for_confirmation() -> Result<bool, String> {
    let mut input = std::io::stdin().lock();
    if !std::io::stdin().is_terminal() {
        return Err("cannot ask: standard input is not a terminal; use --yes".to_owned());
    }
    let mut screen = std::io::stderr().lock();
    let asked = screen.write_all(b"Apply these changes? [y/N] ").and_then(|()| screen.flush());
    asked.map_err(|error| error.to_string())?;
    let mut line = String::new();
    input.read_line(&mut line).map_err(|error| error.to_string())?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}
