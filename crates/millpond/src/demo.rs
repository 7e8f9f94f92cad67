//! `millpond demo`: a live run of the built-in demo agent, in a temporary folder that is removed
//! afterwards. Reads no settings and no data of the user.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use millpond_agent::agent_loop::ApprovalMode;
use millpond_agent::profile::Profile;
use millpond_engine::event::{Event, Outcome, PromptOrigin};
use millpond_engine::view::{View, ViewOptions};
use millpond_engine::wire::StreamKind;
use millpond_log::clock::{now_ms, random_bytes};
use millpond_log::id::{OwnerId, QueuedId, SessionId};
use millpond_log::queue::Delivery;
use millpond_log::scheduler::Scheduler;
use millpond_log::store::sqlite::{Durability, SqliteStore};
use millpond_log::store::{QueuedMessage, Session, Store};
use millpond_terminal::output::RowOutput;
use millpond_terminal::page_display::PageDisplay;
use tokio::signal::unix::SignalKind;

use crate::args::DemoArgs;
use crate::command::{build_multi_thread_runtime, print_error_and_return_failure};
use crate::serve::listen_for_signals;
use crate::show::print_to_stderr;
use crate::stream_debug::{DebugOutput, DebugTarget};

/// Prompt that the demo agent answers with a run of three rounds.
const PROMPT: &str = "Tour this folder: what is here, and what is left to do?";

/// Signals that cancel the run; SIGHUP comes from a terminal that is closed.
const CANCEL_SIGNALS: [SignalKind; 3] =
    [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];

/// Files of the folder that the demo agent works in.
const SAMPLE_FILES: [(&str, &str); 4] = [
    ("README.md", "# Pond\n\nMeasures the level of a pond and warns when it is too low.\n"),
    ("src/main.py", "from level import read_level\n\nprint(read_level())\n"),
    ("src/level.py", "def read_level():\n    # TODO: read the sensor\n    return 42\n"),
    ("notes.md", "- TODO: order a second sensor\n"),
];

/// Runs `millpond demo`.
pub(crate) fn run(args: &DemoArgs) -> ExitCode {
    match run_in_temporary_folder(args) {
        Ok(Outcome::Completed) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::FAILURE,
        Ok(_) => ExitCode::from(3),
        Err(problem) => print_error_and_return_failure(&problem),
    }
}

fn run_in_temporary_folder(args: &DemoArgs) -> Result<Outcome, String> {
    let folder = tempfile::tempdir()
        .map_err(|error| format!("cannot create a temporary folder: {error}"))?;
    let runtime = build_multi_thread_runtime()?;
    let outcome = runtime.block_on(run_demo(args, folder.path()));
    // Before the folder: the store may still write to it.
    drop(runtime);
    outcome
}

/// Runs the agent and shows its run until it ends or Ctrl-C cancels it.
async fn run_demo(args: &DemoArgs, folder: &Path) -> Result<Outcome, String> {
    let (work, data) = (folder.join("work"), folder.join("data"));
    write_sample_files(&work).map_err(|error| format!("cannot write sample files: {error}"))?;
    let profile = Profile { folder: Some(work.clone()), ..Profile::default() };
    let agent = profile
        .read_files_and_build_agent(&work, &data, ApprovalMode::Ask, |_| None)
        .map_err(|error| error.to_string())?;
    let store = SqliteStore::open(&data, Durability::Window).map_err(|error| error.to_string())?;
    let owner = OwnerId::new(now_ms(), random_bytes().map_err(|error| error.to_string())?);
    let session = Session::new(owner, "demo", now_ms()).map_err(|error| error.to_string())?;
    store.create_session(&session).map_err(|error| error.to_string())?;
    let store: Arc<dyn Store> = Arc::new(store);
    let scheduler = Scheduler::open_and_recover_runs(store, Some(agent))
        .await
        .map_err(|error| error.to_string())?;
    DebugTarget::standard_error_if_on(&args.stream_debug)
        .turn_on(scheduler.log.stream_debug(), &data)?;
    let scheduler = Arc::new(scheduler);
    tokio::spawn(Arc::clone(&scheduler).resume_and_run_queues_until_stopped());
    let outcome = send_and_show_run(args, &scheduler, session.id).await?;
    scheduler.log.close().await;
    print_to_stderr(&format!(
        "end of the demo (view: {}). Try another --view, `millpond` to chat, or `millpond serve`",
        args.view_name().as_str()
    ));
    Ok(outcome)
}

fn write_sample_files(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder.join("src"))?;
    SAMPLE_FILES.iter().try_for_each(|(name, text)| std::fs::write(folder.join(name), text))
}

/// Sends the prompt, and shows the run live until it ends; Ctrl-C cancels it.
async fn send_and_show_run(
    args: &DemoArgs,
    scheduler: &Arc<Scheduler>,
    session: SessionId,
) -> Result<Outcome, String> {
    let log = &scheduler.log;
    let mut stop = std::pin::pin!(listen_for_signals(&CANCEL_SIGNALS)?);
    let mut log_end = log.watch_log_end(session).await.map_err(|error| error.to_string())?;
    let id = QueuedId::new(now_ms(), random_bytes().map_err(|error| error.to_string())?);
    let text = PROMPT.to_owned();
    let message = QueuedMessage {
        id,
        text,
        images: Vec::new(),
        origin: PromptOrigin::Person,
        accepted_ms: now_ms(),
    };
    scheduler
        .accept_message_once(session, message, Delivery::NextRun)
        .await
        .map_err(|error| error.to_string())?;
    let output = RowOutput::wait_for_cursor_and_open_stdout(|name| std::env::var(name).ok());
    let display = PageDisplay::start(args.view_name(), output);
    let mut view = View::new(args.view_name(), ViewOptions::default());
    let kind = StreamKind::new(args.view_name());
    let mut debug = DebugOutput::new(&args.stream_debug, [kind]);
    let (mut next_seq, mut outcome, mut is_stopping) = (0, None, false);
    while outcome.is_none() {
        tokio::select! {
            changed = log_end.changed() => changed.map_err(|_| "the log was closed".to_owned())?,
            () = &mut stop, if !is_stopping => is_stopping = true,
        }
        if is_stopping {
            // Repeated with each record: the run may not have started yet.
            scheduler.runs.request_cancel(id.into());
        }
        let chunks = log.read(session, next_seq).await.map_err(|error| error.to_string())?;
        for record in chunks.iter().flat_map(|chunk| chunk.records_from(next_seq)) {
            let record = record.map_err(|error| error.to_string())?;
            debug.print_view_patches_if_on(&record);
            view.apply(&record, &mut |patch| display.send_patch(patch));
            if let Event::RunEnded { ending } = &record.event {
                outcome = Some(ending.outcome);
            }
        }
        next_seq = chunks.last().map_or(next_seq, |chunk| chunk.next_seq());
    }
    match display.finish() {
        // The reader of standard output has closed it.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.to_string()),
        _ => Ok(outcome.unwrap_or(Outcome::Interrupted)),
    }
}
