//! Writes one run: what a model's reply becomes, and what is said beside it, in one order.

mod made;

use std::collections::BTreeMap;
use std::time::Duration;

use engine::event::{Event, Image, Millis, Usage, UsageScope};
use engine::ingest::{Ingest, Options};
use engine::run::{Cut, Verdict, Writer};
use gateway::agent::Job;
use gateway::clock::now_ms;
use gateway::digest::Digest;
use gateway::runs::Answer;
use gateway::store::StoreError;
use tokio::sync::mpsc;

use crate::conversation::{Conversation, Turn};
use crate::model::Rates;
use crate::pictures::{load, without};

use made::Made;
pub use made::{Known, KnownTools};

/// The run could not be kept: whoever works on it stops. The gateway has seen to its ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run could not be kept")]
pub struct Unkept;

/// What becomes of pictures when a model is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pictures {
    Shown,
    /// In a word: the model does not want them.
    Told,
}

/// Pictures of a conversation that a model is sent again, the newest first.
const PICTURES_MAX: usize = 8;

#[derive(Debug)]
pub struct Pen {
    job: Job,
    ingest: Ingest,
    made: Made,
    pub conversation: Conversation,
    used: Used,
    /// What all runs of the session have.
    session: Used,
    /// How long the conversation was when a provider last counted it.
    counted_bytes: usize,
    said: usize,
    /// What is asked and not answered, and until when.
    asks: BTreeMap<String, Millis>,
}

/// What the run has used so far, as its provider says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Used {
    pub tokens: u64,
    pub cost_usd: f64,
    /// By the last call, if nothing was summed up since.
    pub last: Option<Usage>,
}

impl Used {
    pub fn hear(&mut self, event: &Event<'_>, rates: Rates) {
        match event {
            Event::UsageReported { scope: UsageScope::Round, usage } => {
                self.tokens += rates.input_tokens(usage) + usage.output_tokens.unwrap_or(0);
                self.cost_usd += usage.cost_usd.unwrap_or(0.0);
                self.last = Some(*usage);
            }
            Event::HistoryCompacted { .. } => self.last = None,
            _ => {}
        }
    }
}

impl Pen {
    pub fn new(
        job: Job,
        options: &Options,
        rates: Rates,
        answer_within: Duration,
        conversation: Conversation,
    ) -> Pen {
        let made = Made::new(rates, answer_within);
        let ingest = Ingest::new(options);
        Pen {
            job,
            ingest,
            made,
            conversation,
            used: Used::default(),
            session: Used::default(),
            counted_bytes: 0,
            said: 0,
            asks: BTreeMap::new(),
        }
    }

    /// The source tells again what the run began with.
    pub fn expect_echo(&mut self, prompt: &str) {
        self.made.echo = Some(prompt.to_owned());
    }

    /// Takes in the messages that a person wants in this run.
    pub async fn join(&mut self) -> Result<(), Unkept> {
        let Some((log, session, _)) = self.job.place() else { return Err(Unkept) };
        let joining = match self.job.joining().await {
            Ok(Some(joining)) if !joining.messages.is_empty() => joining,
            Ok(_) => return Ok(()),
            Err(error) => {
                tracing::error!(%error, %session, "messages cannot join their run for now");
                return Ok(());
            }
        };
        self.say(|out| {
            for message in &joining.messages {
                out.note(Event::PromptJoined { queued: message.id.to_string().into() });
                out.prompt_with(&message.text, &message.images);
            }
        })
        .await?;
        if let Err(error) = joining.joined(&log, session).await {
            // They are passed over when their turn comes.
            tracing::error!(%error, %session, "messages that joined a run still wait");
        }
        Ok(())
    }

    /// What is known of tools from now on.
    pub fn know(&mut self, tools: KnownTools) {
        self.made.tools = tools;
    }

    pub fn used(&self) -> Used {
        self.used
    }

    /// What the runs of the session before this one have used.
    pub fn recall_used(&mut self, before: Used) {
        self.session = before;
        self.counted_bytes = self.conversation.bytes();
    }

    /// What the session has cost so far.
    pub fn spent_usd(&self) -> f64 {
        self.session.cost_usd
    }

    pub fn last_call_usd(&self) -> f64 {
        self.session.last.and_then(|usage| usage.cost_usd).unwrap_or(0.0)
    }

    /// What the next call will take in, about: what the last one did, and what was said since.
    pub fn context_tokens(&self) -> u64 {
        const BYTES_PER_TOKEN: usize = 4;
        let tokens = |bytes: usize| u64::try_from(bytes / BYTES_PER_TOKEN).unwrap_or(u64::MAX);
        let bytes = self.conversation.bytes();
        self.session.last.map_or(tokens(bytes), |usage| {
            let took = self.made.rates.input_tokens(&usage) + usage.output_tokens.unwrap_or(0);
            took + tokens(bytes.saturating_sub(self.counted_bytes))
        })
    }

    /// How much the model has said: a number that grows with each word, thought and call.
    pub fn said(&self) -> usize {
        self.said
    }

    /// Until when an ask that is opened now waits.
    pub fn answer_until(&self) -> Millis {
        self.made.answer_until()
    }

    /// What is asked and not answered.
    pub fn open_asks(&self) -> Vec<String> {
        self.asks.keys().cloned().collect()
    }

    /// When the next of them is no longer waited for.
    pub fn next_expiry(&self) -> Option<Millis> {
        self.asks.values().min().copied()
    }

    /// Those that are no longer waited for.
    pub fn expired_asks(&self) -> Vec<String> {
        let now = now_ms();
        let late = self.asks.iter().filter(|(_, until)| **until <= now);
        late.map(|(ask, _)| ask.clone()).collect()
    }

    /// The run goes on from where its log says.
    pub fn recall(&mut self, event: &Event<'_>) {
        self.ingest.recall(event);
        self.count(event);
    }

    /// Bytes of a reply.
    pub async fn push(&mut self, bytes: &[u8]) -> Result<(), Unkept> {
        self.ingest.push(bytes, Some(now_ms()), &mut self.made);
        self.keep().await
    }

    /// Says something beside the reply.
    pub async fn say<T>(&mut self, say: impl FnOnce(&mut Writer<'_>) -> T) -> Result<T, Unkept> {
        let said = say(&mut self.ingest.writer(Some(now_ms()), &mut self.made));
        self.keep().await?;
        Ok(said)
    }

    pub async fn end_reply(&mut self) -> Result<Verdict, Unkept> {
        let verdict = self.ingest.end_reply(Some(now_ms()), &mut self.made);
        self.keep().await?;
        Ok(verdict)
    }

    /// Ends the run. What was said last of how it ends stands.
    pub async fn finish(mut self, cut: Cut) {
        self.ingest.finish(cut, Some(now_ms()), &mut self.made);
        // What could not be kept is ended by the job itself.
        let _kept = self.keep().await;
    }

    /// Leaves the run waiting for an answer, for the next process to find.
    pub fn leave(self) {
        self.job.leave_waiting();
    }

    /// Answers to what this run asks, from now on.
    pub fn take_answers(&self) -> Result<mpsc::Receiver<Answer>, Unkept> {
        self.job.take_answers().ok_or(Unkept)
    }

    /// The conversation as a model is to see it, with its newest pictures or with a word of them.
    pub async fn turns(&self, pictures: Pictures) -> Vec<Turn> {
        let mut turns = self.conversation.turns();
        if pictures == Pictures::Shown {
            self.load_newest(&mut turns).await;
        }
        for turn in &mut turns {
            if let Turn::Person(prompt) = turn {
                let came = prompt.images.len();
                prompt.images.retain(|image| {
                    pictures == Pictures::Shown && !matches!(image, Image::Kept { .. })
                });
                prompt.text = without(&prompt.text, came - prompt.images.len());
            } else if let Turn::Results(results) = turn
                && pictures == Pictures::Told
            {
                for result in results {
                    result.images.clear();
                }
            }
        }
        turns
    }

    /// Whether the model is shown any picture.
    pub fn shows(&self) -> bool {
        self.conversation.has_pictures()
    }

    async fn load_newest(&self, turns: &mut [Turn]) {
        let Some((log, session, _)) = self.job.place() else { return };
        let images = turns.iter_mut().rev().flat_map(|turn| match turn {
            Turn::Person(prompt) => prompt.images.iter_mut().rev().collect(),
            Turn::Agent(_) => Vec::new(),
            Turn::Results(results) => {
                results.iter_mut().rev().flat_map(|result| result.images.iter_mut().rev()).collect()
            }
        });
        let newest: Vec<&mut Image<'static>> = images.take(PICTURES_MAX).collect();
        load(&log, session, newest).await;
    }

    /// What the last reply said of its end is past.
    pub fn go_on(&mut self) {
        self.ingest.writer(None, &mut self.made).go_on();
    }

    /// Whether the agent has said that the run is to end.
    pub fn asks_to_end(&mut self) -> bool {
        self.ingest.writer(None, &mut self.made).asks_to_end()
    }

    /// Keeps bytes beside the log; gives the name by which they are found.
    pub async fn keep_blob(
        &self,
        kind: &'static str,
        bytes: Vec<u8>,
    ) -> Result<String, StoreError> {
        let (log, session, _) =
            self.job.place().ok_or_else(|| StoreError::Failed("the run has ended".to_owned()))?;
        let digest = Digest::of(&bytes);
        log.blocking(move |store| store.put_blob(session, digest.0, kind, &bytes)).await?;
        Ok(format!("blob {digest}"))
    }

    async fn keep(&mut self) -> Result<(), Unkept> {
        let facts = std::mem::take(&mut self.made.facts);
        for (_, event) in &facts {
            self.conversation.event(event);
            self.count(event);
        }
        self.job.write(facts).await.map_err(|_| Unkept)
    }

    fn count(&mut self, event: &Event<'_>) {
        match event {
            Event::TextAppended { .. }
            | Event::ReasoningAppended { .. }
            | Event::ToolStarted { .. } => {
                self.said += 1;
            }
            Event::UsageReported { .. } | Event::HistoryCompacted { .. } => {
                self.used.hear(event, self.made.rates);
                self.session.hear(event, self.made.rates);
                self.counted_bytes = self.conversation.bytes();
            }
            Event::AskOpened { ask, expires_at_ms, .. } => {
                self.asks.insert(ask.to_string(), expires_at_ms.unwrap_or(Millis::MAX));
            }
            Event::AskResolved { ask, .. } => {
                self.asks.remove(&**ask);
            }
            _ => {}
        }
    }
}
