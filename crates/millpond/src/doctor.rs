//! `millpond doctor`: checks, repairs or backs up the log.

use std::process::ExitCode;

use millpond_log::store::sqlite::SqliteStore;

use crate::args::DoctorArgs;
use crate::command::print_error_and_return_failure;
use crate::show::print_to_stderr;

/// Runs `millpond doctor`.
pub(crate) fn run(args: &DoctorArgs) -> ExitCode {
    match check_repair_or_backup(args) {
        Ok(LogState::Sound) => ExitCode::SUCCESS,
        Ok(LogState::Damaged) => ExitCode::FAILURE,
        Err(problem) => print_error_and_return_failure(&problem),
    }
}

/// State of the log after the command.
enum LogState {
    Sound,
    Damaged,
}

/// Checks, repairs or backs up the store, as the arguments say.
fn check_repair_or_backup(args: &DoctorArgs) -> Result<LogState, String> {
    let settings = args.config.load_settings()?;
    let folder = settings.data_folder()?;
    if !SqliteStore::exists_in(&folder) {
        // Opening the store would create it.
        let folder = folder.display();
        return Err(format!("no log in {folder}: use --data with the folder of `millpond serve`"));
    }
    if let Some(to) = &args.backup {
        SqliteStore::backup_store_of_directory_to_file(&folder, to)
            .map_err(|error| format!("cannot copy to {}: {error}", to.display()))?;
        print_to_stderr(&format!("copied to {}", to.display()));
        return Ok(LogState::Sound);
    }
    let store =
        SqliteStore::open(&folder, settings.durability.value).map_err(|error| error.to_string())?;
    let report = if args.repair { store.repair() } else { store.check() };
    let report = report.map_err(|error| error.to_string())?;
    for damage in &report.damages {
        print_to_stderr(&damage.to_string());
    }
    let (sessions, records) = (report.sessions, report.records);
    let result = match report.damages.len() as u64 + report.unlisted {
        0 => "no damage found".to_owned(),
        damages => format!("damage found: {damages}, repaired: {}", report.repaired),
    };
    print_to_stderr(&format!("sessions: {sessions}, good records: {records}; {result}"));
    Ok(if report.is_sound() { LogState::Sound } else { LogState::Damaged })
}
