//! The loop: rounds of a model and its tools, until the model has said what it had to say.
//!
//! Where a run stands is what its log says: a run that waited for an answer when its process ended
//! goes on in the next one from there.

mod budget;
mod calls;
mod checkpoints;
mod compact;
mod reply;

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::event::{FailureReason, Level, Millis};
use engine::ingest::filter::ControlWord;
use engine::ingest::{DialectName, Options};
use engine::run::{Cut, RunOptions, Seals};
use gateway::agent::{About, Agent, Job, ToolAbout, Working};

use crate::checkpoint::Checkpoints;
use crate::limits::{ASK_EXPIRES_AFTER, CONTEXT_TOKENS, ROUNDS_MAX, RUN_TIME_MAX};
use crate::mcp::Away;
use crate::memory::{Memory, remember};
use crate::model::Rates;
use crate::pen::{Pen, Pictures, Unkept};
use crate::policy::{Policies, Policy};
use crate::provider::Provider;
use crate::stop::Stopping;
use crate::tools::{Builtin, Catalogue, Toolbox};

pub use budget::{BUDGET_ASK, GO_ON};
use calls::Asks;
use checkpoints::LastCheckpoint;

/// Whether a person is asked about what the policy says to ask about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caution {
    Ask,
    /// `--yolo`: nobody is asked anything.
    Yolo,
}

/// Said at the beginning of every run in which nobody is asked.
pub const YOLO_WORDS: &str = "--yolo: tools run, and nobody is asked";

/// How far one run goes by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    pub rounds: u32,
    /// Waiting for people aside.
    pub time: Duration,
    pub tokens: Option<u64>,
    pub cost_usd: Option<f64>,
    /// What a session may cost before a person is asked.
    pub budget_usd: Option<f64>,
    /// What the model can take in; a conversation that comes near is summed up.
    pub context_tokens: u64,
    /// How long a person has to answer what is asked.
    pub answer_within: Duration,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            rounds: ROUNDS_MAX,
            time: RUN_TIME_MAX,
            tokens: None,
            cost_usd: None,
            budget_usd: None,
            context_tokens: CONTEXT_TOKENS,
            answer_within: ASK_EXPIRES_AFTER,
        }
    }
}

/// All that makes an agent of our own.
#[derive(Clone, Debug)]
pub struct Setup {
    pub provider: Provider,
    pub dialect: DialectName,
    pub system: String,
    pub toolbox: Toolbox,
    pub policies: Policies,
    pub caution: Caution,
    pub bounds: Bounds,
    pub rates: Rates,
    pub control_words: Vec<ControlWord>,
    /// Where the working folder is saved before a tool changes it, if anywhere.
    pub checkpoints: Option<Checkpoints>,
}

/// An agent that calls a model and runs its tools.
#[derive(Clone, Debug)]
pub struct Looped(Arc<Setup>);

impl Looped {
    pub fn new(setup: Setup) -> Looped {
        Looped(Arc::new(setup))
    }
}

impl Setup {
    /// What becomes of a call of this tool.
    fn policy_of(&self, tool: &str) -> Policy {
        let usual = self.toolbox.find(tool).map_or(Policy::Ask, Builtin::policy);
        match self.policies.of(tool).unwrap_or(usual) {
            Policy::Ask if self.caution == Caution::Yolo => Policy::Allow,
            policy => policy,
        }
    }
}

impl Agent for Looped {
    fn name(&self) -> &'static str {
        "millpond"
    }

    fn work(&self, job: Job) -> Working {
        Box::pin(work(Arc::clone(&self.0), job))
    }

    fn about(&self) -> Pin<Box<dyn Future<Output = About> + Send>> {
        let setup = Arc::clone(&self.0);
        Box::pin(async move {
            let (catalogue, away) = setup.toolbox.catalogue().await;
            let tools = catalogue.specs.iter().map(|spec| ToolAbout {
                name: spec.name.clone(),
                about: spec.about.clone(),
                policy: setup.policy_of(&spec.name).word(),
            });
            About {
                model: setup.provider.model_name().map(str::to_owned),
                tools: tools.collect(),
                missing: away.iter().map(ToString::to_string).collect(),
            }
        })
    }

    fn resumes(&self) -> bool {
        true
    }
}

/// Why a run does not go on.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Halt {
    /// It could not be kept; the gateway ends it.
    Unkept,
    /// It ends as its last reply did, or else as this says.
    End(Cut),
    Failed(FailureReason, String),
    /// The process ends while a person is asked: the next one goes on.
    Left,
}

impl From<Unkept> for Halt {
    fn from(_: Unkept) -> Halt {
        Halt::Unkept
    }
}

impl From<Cut> for Halt {
    fn from(cut: Cut) -> Halt {
        Halt::End(cut)
    }
}

/// One run, being worked on.
struct Work {
    setup: Arc<Setup>,
    pen: Pen,
    stopping: Stopping,
    asks: Asks,
    catalogue: Arc<Catalogue>,
    told_away: Vec<Away>,
    checkpoint: LastCheckpoint,
    rounds: u32,
    pictures: Pictures,
    /// How often a person has raised the budget of the session.
    raised: u32,
    /// A conversation is not summed up before it is as long as this, in tokens.
    compact_from: u64,
    /// What an earlier process asked about it, and until when.
    budget_ask: Option<(String, Millis)>,
    began: Instant,
    /// Time in which only people were waited for.
    waited: Duration,
}

async fn work(setup: Arc<Setup>, job: Job) {
    let Some(mut work) = Work::begin(setup, job).await else { return };
    let halt = match work.go_on().await {
        Ok(never) => match never {},
        Err(halt) => halt,
    };
    work.end(halt).await;
}

impl Work {
    async fn begin(setup: Arc<Setup>, job: Job) -> Option<Work> {
        let wish = job.wish()?;
        let (log, session, run) = job.place()?;
        let memory = match remember(&log, session, run, setup.rates).await {
            Ok(memory) => memory,
            Err(error) => {
                tracing::error!(%error, %run, "the conversation cannot be read");
                return None;
            }
        };
        let Memory { conversation, run: events, asks, budget, used_before } = memory;
        let control_words = setup.control_words.clone();
        let run = RunOptions { seals: Seals::Keep, control_words, ..RunOptions::default() };
        let options = Options { from: Some(setup.dialect), run };
        let mut pen =
            Pen::new(job, &options, setup.rates, setup.bounds.answer_within, conversation);
        pen.recall_used(used_before);
        for event in &events {
            pen.recall(event);
        }
        let rounds = pen.conversation.rounds();
        Some(Work {
            setup,
            pen,
            stopping: Stopping::new(wish),
            asks: Asks::found(asks, 0 < rounds),
            catalogue: Arc::default(),
            told_away: Vec::new(),
            checkpoint: LastCheckpoint::default(),
            rounds,
            pictures: Pictures::Shown,
            raised: budget.raised,
            compact_from: 0,
            budget_ask: budget.open,
            began: Instant::now(),
            waited: Duration::ZERO,
        })
    }

    /// Round after round.
    async fn go_on(&mut self) -> Result<std::convert::Infallible, Halt> {
        if self.setup.caution == Caution::Yolo && self.rounds == 0 {
            self.pen.say(|out| out.notice(Level::Warning, YOLO_WORDS)).await?;
        }
        loop {
            match self.look_for_tools().await {
                // What a person was asked before stays asked.
                Err(Halt::End(Cut::Interrupted))
                    if self.asks.wait() || self.budget_ask.is_some() =>
                {
                    return Err(Halt::Left);
                }
                looked => looked?,
            }
            let calls = self.pen.conversation.pending();
            if !calls.is_empty() {
                self.answer(calls).await?;
                continue;
            }
            if self.pen.asks_to_end() {
                return Err(Halt::End(Cut::EndOfInput));
            }
            self.check_bounds()?;
            self.ask_about_budget().await?;
            self.pen.join().await?;
            self.compact_if_long().await?;
            self.rounds += 1;
            self.reply().await?;
        }
    }

    /// Asks every server what it can do now. One that is away is told of once.
    async fn look_for_tools(&mut self) -> Result<(), Halt> {
        let setup = Arc::clone(&self.setup);
        let (catalogue, away) = self.stopping.or(setup.toolbox.catalogue()).await?;
        self.pen.know(catalogue.known.clone());
        self.catalogue = Arc::new(catalogue);
        for away in away {
            if !self.told_away.contains(&away) {
                let words = format!("{away}; its tools are left out for now");
                self.pen.say(|out| out.notice(Level::Warning, &words)).await?;
                self.told_away.push(away);
            }
        }
        Ok(())
    }

    /// What has been done so far is within bounds, and one more round may begin.
    fn check_bounds(&self) -> Result<(), Halt> {
        let Bounds { rounds, time, tokens, cost_usd, .. } = self.setup.bounds;
        let over = |words: String| Err(Halt::Failed(FailureReason::Limit, words));
        let used = self.pen.used();
        if rounds <= self.rounds {
            return over(format!("stopped after {rounds} rounds, the most that one run may have"));
        }
        let worked = self.began.elapsed().saturating_sub(self.waited);
        if time <= worked {
            return over(format!("stopped after {} s of work", worked.as_secs()));
        }
        if let Some(most) = tokens.filter(|most| *most <= used.tokens) {
            return over(format!("stopped at {} tokens; the limit is {most}", used.tokens));
        }
        if let Some(most) = cost_usd.filter(|most| *most <= used.cost_usd) {
            return over(format!("stopped at ${:.4}; the limit is ${most}", used.cost_usd));
        }
        Ok(())
    }

    async fn end(mut self, halt: Halt) {
        match halt {
            Halt::Unkept => {}
            Halt::Left => self.pen.leave(),
            Halt::End(cut) => self.pen.finish(cut).await,
            Halt::Failed(reason, detail) => {
                if self.pen.say(|out| out.fail(reason, &detail)).await.is_ok() {
                    self.pen.finish(Cut::EndOfInput).await;
                }
            }
        }
    }
}
