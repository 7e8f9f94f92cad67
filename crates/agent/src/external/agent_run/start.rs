//! Starts an external agent for a job and runs it to its end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use millpond_engine::event::{FailureReason, NoticeLevel};
use millpond_engine::ingest::IngestOptions;
use millpond_engine::run::InputEnd;
use millpond_log::agent::Job;
use millpond_log::clock::random_bytes;
use millpond_log::digest::Digest;

use crate::conversation::Conversation;
use crate::external::ExternalAgentConfig;
use crate::external::agent_kind::{Transport, is_safe_session_id};
use crate::external::connection::Connection;
use crate::external::hook::HookServer;
use crate::external::protocol::TurnInput;
use crate::images::{add_omitted_images_note, inline_kept_images};
use crate::model::TokenRates;
use crate::run_writer::RunWriter;
use crate::session_history::load_agent_session_id;
use crate::stop_signal::StopSignal;

use super::AgentRun;

pub(super) const NO_IMAGES_NOTICE: &str =
    "This agent does not accept images; a note replaced them.";

/// Starts the agent for the job's prompt and runs it to its end.
pub(in crate::external) async fn run_external_agent(config: Arc<ExternalAgentConfig>, job: Job) {
    let Some(control) = job.stop_request_receiver() else { return };
    let Some((log, session, _)) = job.log_and_ids() else { return };
    let agent_session = match load_agent_session_id(&log, session, config.kind.log_name()).await {
        Ok(id) => id.filter(|id| is_safe_session_id(id)),
        Err(error) => {
            tracing::error!(%error, "cannot read the conversation");
            return;
        }
    };
    let mut images = job.prompt.images.clone();
    inline_kept_images(&log, session, &mut images).await;
    let cannot_see_images = config.kind.transport() == Transport::PrintOnly && !images.is_empty();
    let omitted = if cannot_see_images { images.len() } else { 0 };
    let turn = TurnInput {
        prompt: add_omitted_images_note(&job.prompt.text, omitted),
        images,
        folder: config.folder.to_string_lossy().into_owned(),
        agent_session: agent_session.clone(),
        model: config.model.clone(),
        session_params: config.session_params.clone(),
    };
    let mut writer = new_run_writer(&config, job);
    writer.ignore_prompt_echo(&turn.prompt);
    if cannot_see_images {
        let notice = writer.write_or_fail_run(|out| {
            out.append_notice(NoticeLevel::Warning, NO_IMAGES_NOTICE);
        });
        if notice.await.is_err() {
            return;
        }
    }
    let Ok(answers) = writer.open_answer_channel_if_run_open() else { return };
    let mut stop_signal = StopSignal::new(control);
    let started = stop_signal.run_or_drop_on_stop(start_agent_process(&config, &turn)).await;
    let (connection, hooks) = match started {
        Ok(Ok(started)) => started,
        Ok(Err(message)) => return fail_run(writer, &message).await,
        Err(end) => return writer.finish_run(end).await,
    };
    let protocol = config.kind.new_protocol(turn.clone(), config.sign_in_method.clone());
    let run = AgentRun {
        config,
        turn,
        writer,
        stop_signal,
        answers,
        protocol,
        hooks,
        connection,
        logged_agent_session: agent_session,
        unlogged_agent_session: None,
        started_at: Instant::now(),
        human_wait_time: Duration::ZERO,
    };
    Box::pin(run.run_to_end()).await;
}

fn new_run_writer(config: &ExternalAgentConfig, job: Job) -> RunWriter {
    let run = config.run_options.clone();
    let options = IngestOptions { dialect: config.kind.dialect().or(config.dialect), run };
    let conversation = Conversation::default();
    RunWriter::new(job, &options, TokenRates::default(), config.answer_timeout, conversation)
}

/// Writes that the run failed, and its end.
async fn fail_run(mut writer: RunWriter, message: &str) {
    if writer
        .write_or_fail_run(|out| {
            out.report_failed_and_end_text(FailureReason::Error, message);
        })
        .await
        .is_ok()
    {
        writer.finish_run(InputEnd::EndOfInput).await;
    }
}

/// Starts the agent's process; the error is a message for people.
pub(super) async fn start_agent_process(
    config: &ExternalAgentConfig,
    turn: &TurnInput,
) -> Result<(Connection, Option<HookServer>), String> {
    let mut command = config.build_command(turn);
    let hooks = config.install_gemini_hooks_if_own_home(&mut command).map_err(|error| {
        format!("cannot install the approval hook of `{}`: {error}", config.program_display_name())
    })?;
    let connection = match config.kind.transport() {
        Transport::PrintOnly | Transport::JsonLines => Connection::spawn_piped(command),
        Transport::HttpServer => {
            let password = Digest(random_bytes().map_err(|error| error.to_string())?).to_string();
            command.env("OPENCODE_SERVER_PASSWORD", &password);
            Connection::spawn_server_and_open_events(command, "/event", password).await
        }
    };
    let title = config.program_display_name();
    let started = connection.map(|connection| (connection, hooks));
    started.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            format!("`{title}` not found: install it, or set `command` in the profile")
        }
        std::io::ErrorKind::ArgumentListTooLong => {
            format!("the message is too long for the command line of `{title}`")
        }
        _ => format!("cannot start `{title}`: {error}"),
    })
}
