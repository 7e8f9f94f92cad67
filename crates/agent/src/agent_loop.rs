//! The agent loop: calls a model and runs its tools, round after round, until the model is done.
//!
//! All state of a run is in its log: a run that waits for an answer when its process ends is
//! resumed by the next process.

mod budget;
mod call_batch;
mod checkpoints;
mod compaction;
mod model_call;
mod tool_calls;
mod tool_output;

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use millpond_engine::event::{FailureReason, Millis, NoticeLevel};
use millpond_engine::ingest::{DialectName, IngestOptions};
use millpond_engine::run::{InputEnd, RunOptions, SealPolicy};
use millpond_log::agent::{Agent, AgentDescription, AgentFuture, Job, ToolDescription};

use crate::checkpoint::CheckpointStore;
use crate::limits::{ASK_EXPIRES_AFTER, CONTEXT_TOKENS_DEFAULT, ROUNDS_MAX, RUN_TIME_MAX};
use crate::mcp::ServerUnavailable;
use crate::model::TokenRates;
use crate::policy::{ToolPolicies, ToolPolicy};
use crate::provider::Provider;
use crate::run_writer::{AppendFailed, ImageMode, RunWriter};
use crate::session_history::{SessionHistory, load_session_history};
use crate::stop_signal::StopSignal;
use crate::tools::{BuiltinTool, ToolCatalogue, Toolbox};

pub use budget::{BUDGET_ASK_PREFIX, RAISE_BUDGET_ANSWER};
use checkpoints::LastCheckpoint;
use tool_calls::{FirstCalls, ResumedAsks};

/// Handling of tools whose policy is `ask`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalMode {
    /// A person approves each call.
    Ask,
    /// `--yolo`: all approvals are skipped.
    Yolo,
}

/// Notice at the start of every run without approvals.
pub const YOLO_NOTICE: &str = "--yolo: tools run without approval";

/// Limits of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunLimits {
    /// Model calls.
    pub rounds: u32,
    /// Wall time, without waiting for people.
    pub work_time: Duration,
    /// Input and output tokens.
    pub tokens: Option<u64>,
    /// Cost of the run in US dollars.
    pub cost_usd: Option<f64>,
    /// Cost of the session in US dollars above which a person is asked.
    pub budget_usd: Option<f64>,
    /// Context window of the model; a conversation close to it is compacted.
    pub context_tokens: u64,
    /// Time a person has to answer an ask.
    pub answer_timeout: Duration,
}

impl Default for RunLimits {
    fn default() -> RunLimits {
        RunLimits {
            rounds: ROUNDS_MAX,
            work_time: RUN_TIME_MAX,
            tokens: None,
            cost_usd: None,
            budget_usd: None,
            context_tokens: CONTEXT_TOKENS_DEFAULT,
            answer_timeout: ASK_EXPIRES_AFTER,
        }
    }
}

/// Configuration of a `ModelAgent`.
#[derive(Clone, Debug)]
pub struct ModelAgentConfig {
    /// Calls the model.
    pub provider: Provider,
    /// Format of the model's replies.
    pub dialect: DialectName,
    /// System prompt.
    pub system_prompt: String,
    /// Tools of the working folder and of MCP servers.
    pub toolbox: Toolbox,
    /// Tool policies of the profile.
    pub policies: ToolPolicies,
    /// Approvals on or off.
    pub approval_mode: ApprovalMode,
    /// Limits of each run.
    pub limits: RunLimits,
    /// Prices of tokens.
    pub rates: TokenRates,
    /// How the model's replies are read.
    pub run_options: RunOptions,
    /// Snapshots of the working folder before a tool changes it.
    pub checkpoints: Option<CheckpointStore>,
}

/// An agent that calls a model and runs its tools.
#[derive(Clone, Debug)]
pub struct ModelAgent(Arc<ModelAgentConfig>);

impl ModelAgent {
    /// Creates the agent.
    pub fn new(config: ModelAgentConfig) -> ModelAgent {
        ModelAgent(Arc::new(config))
    }
}

impl ModelAgentConfig {
    /// Policy of the tool: the profile's, else the tool's default; with `--yolo`, never `Ask`.
    fn effective_tool_policy(&self, tool: &str) -> ToolPolicy {
        let default = self
            .toolbox
            .find_enabled_builtin(tool)
            .map_or(ToolPolicy::Ask, BuiltinTool::default_policy);
        match self.policies.policy_for(tool).unwrap_or(default) {
            ToolPolicy::Ask if self.approval_mode == ApprovalMode::Yolo => ToolPolicy::Allow,
            policy => policy,
        }
    }
}

impl Agent for ModelAgent {
    fn name(&self) -> &'static str {
        "millpond"
    }

    fn run_job(&self, job: Job) -> AgentFuture {
        Box::pin(run_agent_loop(Arc::clone(&self.0), job))
    }

    fn connect_tools_and_describe(&self) -> Pin<Box<dyn Future<Output = AgentDescription> + Send>> {
        let config = Arc::clone(&self.0);
        Box::pin(async move {
            let (catalogue, unavailable) =
                config.toolbox.connect_servers_and_build_catalogue().await;
            let tools = catalogue.specs.iter().map(|spec| ToolDescription {
                name: spec.name.clone(),
                about: spec.description.clone(),
                policy: config.effective_tool_policy(&spec.name).as_str(),
            });
            AgentDescription {
                model: config.provider.model_name().map(str::to_owned),
                tools: tools.collect(),
                missing: unavailable.iter().map(ToString::to_string).collect(),
            }
        })
    }

    fn can_resume_waiting_run(&self) -> bool {
        true
    }
}

/// Reason for which the loop stops.
#[derive(Clone, Debug, PartialEq, Eq)]
enum LoopExit {
    /// The log cannot be appended to; the gateway ends the run.
    AppendFailed,
    /// The run ends as its last reply declared, else by this `InputEnd`.
    Finish(InputEnd),
    /// The run fails with this reason and detail.
    Failed(FailureReason, String),
    /// The process ends while an ask is open: the next process resumes the run.
    LeaveWaiting,
}

impl From<AppendFailed> for LoopExit {
    fn from(_: AppendFailed) -> LoopExit {
        LoopExit::AppendFailed
    }
}

impl From<InputEnd> for LoopExit {
    fn from(input_end: InputEnd) -> LoopExit {
        LoopExit::Finish(input_end)
    }
}

/// State of one run while the loop works on it.
struct AgentLoop {
    config: Arc<ModelAgentConfig>,
    writer: RunWriter,
    stop_signal: StopSignal,
    resumed_asks: ResumedAsks,
    catalogue: Arc<ToolCatalogue>,
    reported_unavailable: Vec<ServerUnavailable>,
    last_checkpoint: LastCheckpoint,
    round_count: u32,
    image_mode: ImageMode,
    /// Times a person has raised the session's budget.
    budget_raises: u32,
    /// Tokens below which compaction is not tried again.
    compact_above_tokens: u64,
    /// Budget ask that an earlier process opened, and its expiry.
    resumed_budget_ask: Option<(String, Millis)>,
    started_at: Instant,
    /// Time spent only waiting for people.
    human_wait_time: Duration,
}

/// Runs the loop to its end and ends the run accordingly.
async fn run_agent_loop(config: Arc<ModelAgentConfig>, job: Job) {
    let Some(mut work) = AgentLoop::try_load_from_log(config, job).await else { return };
    let exit = match work.run_rounds().await {
        Ok(never) => match never {},
        Err(exit) => exit,
    };
    work.end_run_or_leave_waiting(exit).await;
}

impl AgentLoop {
    /// Restores the session and the run from the log. `None` if the run is over or unreadable.
    async fn try_load_from_log(config: Arc<ModelAgentConfig>, job: Job) -> Option<AgentLoop> {
        let control = job.stop_request_receiver()?;
        let (log, session, run) = job.log_and_ids()?;
        let memory = match load_session_history(&log, session, run, config.rates).await {
            Ok(memory) => memory,
            Err(error) => {
                tracing::error!(%error, %run, "cannot read the conversation");
                return None;
            }
        };
        let SessionHistory {
            conversation,
            run_events: events,
            open_asks: asks,
            budget,
            usage_before_run: used_before,
        } = memory;
        let run = RunOptions { seal_policy: SealPolicy::Keep, ..config.run_options.clone() };
        let options = IngestOptions { dialect: Some(config.dialect), run };
        let mut writer =
            RunWriter::new(job, &options, config.rates, config.limits.answer_timeout, conversation);
        writer.set_usage_before_run(used_before);
        for event in &events {
            writer.replay_logged_event(event);
        }
        let rounds = writer.conversation.active_run_round_count();
        let first_calls =
            if rounds == 0 { FirstCalls::OfThisProcess } else { FirstCalls::OfEarlierProcess };
        Some(AgentLoop {
            config,
            writer,
            stop_signal: StopSignal::new(control),
            resumed_asks: ResumedAsks::new(asks, first_calls),
            catalogue: Arc::default(),
            reported_unavailable: Vec::new(),
            last_checkpoint: LastCheckpoint::default(),
            round_count: rounds,
            image_mode: ImageMode::Send,
            budget_raises: budget.raises,
            compact_above_tokens: 0,
            resumed_budget_ask: budget.open_ask,
            started_at: Instant::now(),
            human_wait_time: Duration::ZERO,
        })
    }

    /// Runs rounds until one of them returns a `LoopExit`.
    async fn run_rounds(&mut self) -> Result<std::convert::Infallible, LoopExit> {
        if self.config.approval_mode == ApprovalMode::Yolo && self.round_count == 0 {
            self.writer
                .write_or_fail_run(|out| {
                    out.append_notice(NoticeLevel::Warning, YOLO_NOTICE);
                })
                .await?;
        }
        loop {
            match self.refresh_tools_and_log_unavailable_servers().await {
                // Asks of an earlier process stay open.
                Err(LoopExit::Finish(InputEnd::Interrupted))
                    if self.resumed_asks.has_open_asks() || self.resumed_budget_ask.is_some() =>
                {
                    return Err(LoopExit::LeaveWaiting);
                }
                result => result?,
            }
            let calls = self.writer.conversation.pending_calls();
            if !calls.is_empty() {
                self.run_tool_calls(calls).await?;
                continue;
            }
            if self.writer.is_end_requested_or_ended() {
                return Err(LoopExit::Finish(InputEnd::EndOfInput));
            }
            self.check_run_limits()?;
            self.ask_and_wait_if_over_budget().await?;
            self.writer.move_joining_messages_to_run().await?;
            self.compact_if_near_context_limit().await?;
            self.round_count += 1;
            self.call_model_and_log_reply().await?;
        }
    }

    /// Lists the tools of every server; writes one notice for each server that is unavailable.
    async fn refresh_tools_and_log_unavailable_servers(&mut self) -> Result<(), LoopExit> {
        let config = Arc::clone(&self.config);
        let (catalogue, unavailable) = self
            .stop_signal
            .run_or_drop_on_stop(config.toolbox.connect_servers_and_build_catalogue())
            .await?;
        self.writer.set_tool_details_by_name(catalogue.details.clone());
        self.catalogue = Arc::new(catalogue);
        for server in unavailable {
            if !self.reported_unavailable.contains(&server) {
                let notice = format!("{server}; continuing without its tools");
                self.writer
                    .write_or_fail_run(|out| {
                        out.append_notice(NoticeLevel::Warning, &notice);
                    })
                    .await?;
                self.reported_unavailable.push(server);
            }
        }
        Ok(())
    }

    /// Returns `LoopExit::Failed` if a limit of the run is reached. Writes nothing.
    fn check_run_limits(&self) -> Result<(), LoopExit> {
        let RunLimits { rounds, work_time: time, tokens, cost_usd, .. } = self.config.limits;
        let limit_reached = |detail: String| Err(LoopExit::Failed(FailureReason::Limit, detail));
        let used = self.writer.run_usage();
        if rounds <= self.round_count {
            return limit_reached(format!("stopped after {rounds} rounds, the limit for one run"));
        }
        let work_time = self.started_at.elapsed().saturating_sub(self.human_wait_time);
        if time <= work_time {
            return limit_reached(format!("stopped after {} s of work", work_time.as_secs()));
        }
        if let Some(max) = tokens.filter(|max| *max <= used.tokens) {
            return limit_reached(format!("stopped at {} tokens; the limit is {max}", used.tokens));
        }
        if let Some(max) = cost_usd.filter(|max| *max <= used.cost_usd) {
            return limit_reached(format!("stopped at ${:.4}; the limit is ${max}", used.cost_usd));
        }
        Ok(())
    }

    /// Writes the run's ending, or leaves it waiting.
    async fn end_run_or_leave_waiting(mut self, exit: LoopExit) {
        match exit {
            LoopExit::AppendFailed => {}
            LoopExit::LeaveWaiting => self.writer.leave_run_waiting(),
            LoopExit::Finish(input_end) => self.writer.finish_run(input_end).await,
            LoopExit::Failed(reason, detail) => {
                if self
                    .writer
                    .write_or_fail_run(|out| out.report_failed_and_end_text(reason, &detail))
                    .await
                    .is_ok()
                {
                    self.writer.finish_run(InputEnd::EndOfInput).await;
                }
            }
        }
    }
}
