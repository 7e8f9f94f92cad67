//! Files as they were before an agent changed them.

use std::io::{BufRead, IsTerminal, Write};
use std::process::ExitCode;

use agent::checkpoint::Checkpoints;

use crate::args::RestoreArgs;
use crate::print;
use crate::serve::data_folder;
use crate::show::say;

pub(crate) fn run(args: &RestoreArgs) -> ExitCode {
    let done = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start: {error}"))
        .and_then(|runtime| runtime.block_on(restore(args)));
    match done {
        Ok(status) => status,
        Err(problem) => {
            say(&problem);
            ExitCode::FAILURE
        }
    }
}

async fn restore(args: &RestoreArgs) -> Result<ExitCode, String> {
    let data = data_folder(&args.config.load()?)?;
    let folder = args
        .folder
        .canonicalize()
        .map_err(|error| format!("cannot use {}: {error}", args.folder.display()))?;
    let checkpoints = Checkpoints::of(&data, &folder);
    let words = |error: agent::checkpoint::NoCheckpoint| error.to_string();
    let Some(beginning) = &args.hash else {
        let all = checkpoints.list().await.map_err(words)?;
        if all.is_empty() {
            say(&format!("no checkpoints of {}", folder.display()));
        }
        let lines: Vec<_> = all.iter().map(|one| format!("{}  {}\n", one.hash, one.at)).collect();
        return Ok(print(lines.concat().as_bytes()));
    };
    let hash = checkpoints.find(beginning).await.map_err(words)?;
    let diff = checkpoints.diff(&hash).await.map_err(words)?;
    if diff.is_empty() {
        say("the folder is as it was then: nothing to do");
        return Ok(ExitCode::SUCCESS);
    }
    print(diff.as_bytes());
    if !args.yes && !agreed()? {
        say("nothing was changed");
        return Ok(ExitCode::FAILURE);
    }
    let before = checkpoints.restore(&hash).await.map_err(words)?;
    say(&format!("done; to undo it: millpond restore {}", &before[..12]));
    Ok(ExitCode::SUCCESS)
}

/// Whether the person says yes; without one nothing is done.
fn agreed() -> Result<bool, String> {
    let mut input = std::io::stdin().lock();
    if !std::io::stdin().is_terminal() {
        return Err("nobody is there to be asked: --yes does it without asking".to_owned());
    }
    let mut screen = std::io::stderr().lock();
    let asked =
        screen.write_all(b"Change the files like that? [y/N] ").and_then(|()| screen.flush());
    asked.map_err(|error| error.to_string())?;
    let mut line = String::new();
    input.read_line(&mut line).map_err(|error| error.to_string())?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}
