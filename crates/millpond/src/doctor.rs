//! Looks the log over, and mends it.

use std::process::ExitCode;

use gateway::store::sqlite::SqliteStore;

use crate::args::DoctorArgs;
use crate::serve::{data_folder, open_store};
use crate::show::say;

pub(crate) fn run(args: &DoctorArgs) -> ExitCode {
    match examine(args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            say(&problem);
            ExitCode::FAILURE
        }
    }
}

/// Says whether all is well.
fn examine(args: &DoctorArgs) -> Result<bool, String> {
    let config = args.config.load()?;
    let folder = data_folder(&config)?;
    if let Some(to) = &args.backup {
        SqliteStore::copy_of(&folder, to)
            .map_err(|error| format!("cannot copy to {}: {error}", to.display()))?;
        say(&format!("copied to {}", to.display()));
        return Ok(true);
    }
    let store = open_store(&config, &folder)?;
    let report = if args.repair { store.repair() } else { store.check() };
    let report = report.map_err(|error| error.to_string())?;
    for damage in &report.damages {
        say(&format!("{damage:?}"));
    }
    let (sessions, records, repaired) = (report.sessions, report.records, report.repaired);
    let found = report.damages.len() as u64 + report.more;
    say(&format!(
        "{sessions} sessions, {records} good records, {found} damages, {repaired} of them mended"
    ));
    Ok(report.is_sound())
}
