//! Calls of tools: which may be made, which a person is asked about, and what comes of them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::event::{AnsweredBy, AskOption, Image, Millis, StepId, Stop, ToolOutcome};
use engine::run::{Asking, Cut};
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use gateway::clock::now_ms;
use gateway::runs::{Answer, Heard};
use tokio::sync::mpsc;

use crate::approval::{Said as Verdict, exactly, read};
use crate::conversation::Call;
use crate::limits::CALLS_MAX;
use crate::memory::OpenAsk;
use crate::output::Output;
use crate::policy::Policy;
use crate::tools::{BadCall, Deed, Done, News, Prepared, Said, Teller, Toolbox};

use super::{Halt, Work};

/// News that may wait for the log.
const NEWS_WAITING_MAX: usize = 64;

/// Asks of this run that nobody has answered, by their ids.
#[derive(Debug, Default)]
pub(super) struct Asks {
    /// Those that an earlier process opened, by the step they are about.
    found: BTreeMap<StepId, OpenAsk>,
    /// Whether the calls that are to be answered first are an earlier process's.
    resumed: bool,
}

impl Asks {
    pub(super) fn found(asks: Vec<OpenAsk>, resumed: bool) -> Asks {
        Asks { found: asks.into_iter().map(|ask| (ask.step, ask)).collect(), resumed }
    }

    /// Whether something that an earlier process asked is still to be waited for.
    pub(super) fn wait(&self) -> bool {
        !self.found.is_empty()
    }
}

/// A call that waits for a person.
struct Waiting {
    call: Call,
    /// Of what was shown to the person.
    digest: String,
    expires_at_ms: Millis,
}

/// The calls of one round, on their way.
struct Going {
    waiting: BTreeMap<String, Waiting>,
    running: FuturesUnordered<BoxFuture<'static, (StepId, Done)>>,
    outputs: BTreeMap<StepId, Output>,
    news: mpsc::Receiver<News>,
    teller: mpsc::Sender<News>,
    /// Taken only while something may be asked: whoever answers at another time is told at once.
    answers: mpsc::Receiver<Answer>,
}

/// What to do with a call.
enum Ruling {
    Run,
    Ask,
    Deny(String),
}

impl Work {
    /// Answers all calls of a round; they run at the same time.
    pub(super) async fn answer(&mut self, calls: Vec<Call>) -> Result<(), Halt> {
        self.pen.go_on();
        let answers = self.pen.take_answers()?;
        let (teller, news) = mpsc::channel(NEWS_WAITING_MAX);
        let mut going = Going {
            waiting: BTreeMap::new(),
            running: FuturesUnordered::new(),
            outputs: BTreeMap::new(),
            news,
            teller,
            answers,
        };
        for (at, call) in calls.into_iter().enumerate() {
            if CALLS_MAX <= at {
                let words = format!("A round may call {CALLS_MAX} tools, and no more.");
                self.end_tool(call.step, Done::failed(words)).await?;
            } else {
                self.begin_call(call, &mut going).await?;
            }
        }
        self.asks.resumed = false;
        while !going.running.is_empty() || !going.waiting.is_empty() {
            self.next(&mut going).await?;
        }
        Ok(())
    }

    async fn begin_call(&mut self, call: Call, going: &mut Going) -> Result<(), Halt> {
        if let Some(found) = self.asks.found.remove(&call.step) {
            let OpenAsk { id, digest, expires_at_ms, .. } = found;
            going.waiting.insert(id, Waiting { call, digest, expires_at_ms });
            return Ok(());
        }
        if self.asks.resumed {
            // It may have been running: nobody knows how far it came.
            let words = "The process ended before this had a result; it was not done again.";
            let done = Done { outcome: ToolOutcome::NoResult, detail: Some(words.to_owned()) };
            return self.end_tool(call.step, done).await;
        }
        let prepared = match self.prepare(&call).await? {
            Ok(prepared) => prepared,
            Err(bad) => return self.end_tool(call.step, Done::failed(bad.0)).await,
        };
        if let Deed::AskPerson(question) = prepared.deed {
            return self.ask_person(call.step, &question).await;
        }
        match self.ruling(&call.name) {
            Ruling::Run => {
                self.save_before(&prepared.deed).await?;
                going.start(&self.setup.toolbox, call.step, prepared.deed);
                Ok(())
            }
            Ruling::Deny(words) => self.end_tool(call.step, Done::denied(words)).await,
            Ruling::Ask => self.open_ask(call, &prepared, going).await,
        }
    }

    /// Looks what a call would do, on a thread that may wait for the disk.
    async fn prepare(&mut self, call: &Call) -> Result<Result<Prepared, BadCall>, Halt> {
        let (setup, all) = (Arc::clone(&self.setup), Arc::clone(&self.catalogue));
        let call = call.clone();
        let preparing = tokio::task::spawn_blocking(move || setup.toolbox.prepare(&all, &call));
        let prepared = self.stopping.or(preparing).await?;
        Ok(prepared.unwrap_or_else(|_| Err(BadCall("The tool cannot be used.".to_owned()))))
    }

    fn ruling(&self, tool: &str) -> Ruling {
        let setup = &self.setup;
        match setup.policy_of(tool) {
            Policy::Deny => Ruling::Deny(format!("The person does not allow `{tool}` here.")),
            Policy::Allow => Ruling::Run,
            Policy::Ask if self.pen.conversation.is_always_allowed(tool) => Ruling::Run,
            Policy::Ask => Ruling::Ask,
        }
    }

    async fn open_ask(
        &mut self,
        call: Call,
        prepared: &Prepared,
        going: &mut Going,
    ) -> Result<(), Halt> {
        let id = format!("ask-{}", call.step.0);
        let expires_at_ms = self.pen.answer_until();
        let words = exactly(&prepared.words);
        let option =
            |id: &'static str, label: String| AskOption { id: id.into(), label: label.into() };
        let options = vec![
            option("allow", "Allow once".to_owned()),
            option("always", format!("Always allow {} in this session", call.name)),
            option("deny", "Deny".to_owned()),
        ];
        let asking = Asking {
            ask: &id,
            kind: prepared.kind,
            text: &words,
            options,
            step: Some(call.step),
            digest: Some(&prepared.digest),
            expires_at_ms: Some(expires_at_ms),
        };
        self.pen.say(|out| out.open_ask(asking)).await?;
        let digest = prepared.digest.clone();
        going.waiting.insert(id, Waiting { call, digest, expires_at_ms });
        Ok(())
    }

    /// Whatever happens next.
    async fn next(&mut self, going: &mut Going) -> Result<(), Halt> {
        let idle = going.running.is_empty().then(Instant::now);
        let expiry = going.next_expiry();
        let happened = tokio::select! {
            biased;
            cut = self.stopping.asked() => Happened::Stop(cut),
            Some(news) = going.news.recv() => Happened::News(news),
            Some((step, done)) = going.running.next() => Happened::Done(step, done),
            Some(answer) = going.answers.recv() => Happened::Answer(answer),
            () = tokio::time::sleep(expiry), if !going.waiting.is_empty() => Happened::Expiry,
        };
        self.waited += idle.map(|since| since.elapsed()).unwrap_or_default();
        match happened {
            Happened::Stop(cut) => self.stop(going, cut).await,
            Happened::News(news) => self.hear(news, going).await,
            Happened::Done(step, done) => {
                // What it said before it ended comes first.
                while let Ok(news) = going.news.try_recv() {
                    self.hear(news, going).await?;
                }
                self.end_output(step, going).await?;
                self.end_tool(step, done).await
            }
            Happened::Answer(answer) => self.hear_answer(answer, going).await,
            Happened::Expiry => self.expire(going).await,
        }
    }

    /// Everything stops. What only waits for a person is left for the next process.
    async fn stop(&mut self, going: &mut Going, cut: Cut) -> Result<(), Halt> {
        if cut == Cut::Interrupted && going.running.is_empty() {
            return Err(Halt::Left);
        }
        going.running.clear();
        for id in std::mem::take(&mut going.waiting).into_keys() {
            self.pen.say(|out| out.resolve_ask(&id, "", AnsweredBy::Nobody)).await?;
        }
        Err(Halt::End(cut))
    }

    async fn hear(&mut self, news: News, going: &mut Going) -> Result<(), Halt> {
        let News { step, said } = news;
        match said {
            Said::Output(text) => {
                let shown = going.outputs.entry(step).or_default().take(&text);
                if !shown.is_empty() {
                    self.pen.say(|out| out.output(step, &shown)).await?;
                }
            }
            Said::Progress(text) => self.pen.say(|out| out.progress(step, &text)).await?,
            Said::Image { media_type, base64 } => {
                let image = Image::Inline { media_type: media_type.into(), base64: base64.into() };
                self.pen.say(|out| out.output_image(step, image)).await?;
            }
        }
        Ok(())
    }

    /// The output is whole. What was too long for the log is kept beside it.
    async fn end_output(&mut self, step: StepId, going: &mut Going) -> Result<(), Halt> {
        let Some(output) = going.outputs.remove(&step) else { return Ok(()) };
        let Some(whole) = output.into_whole() else { return Ok(()) };
        let note = match self.pen.keep_blob("text/plain", whole.bytes).await {
            Ok(digest) => format!("\n… {} bytes more; all of it is kept as {digest}", whole.hidden),
            Err(_) => format!("\n… {} bytes more", whole.hidden),
        };
        self.pen.say(|out| out.output(step, &note)).await?;
        Ok(())
    }

    async fn end_tool(&mut self, step: StepId, done: Done) -> Result<(), Halt> {
        let Done { outcome, detail } = done;
        self.pen.say(|out| out.end_tool(step, outcome, detail.as_deref())).await?;
        Ok(())
    }

    async fn hear_answer(&mut self, answer: Answer, going: &mut Going) -> Result<(), Halt> {
        let Answer { ask, answer, heard } = answer;
        // Whoever answered may have gone; what they said still counts.
        let tell = |told| {
            let _gone = heard.send(told);
        };
        let Some(waiting) = going.waiting.get(&ask) else {
            tell(Heard::NotOpen);
            return Ok(());
        };
        let Some(verdict) = read(&answer) else {
            tell(Heard::NoOption);
            return Ok(());
        };
        if waiting.expires_at_ms <= now_ms() {
            tell(Heard::NotOpen);
            return self.expire(going).await;
        }
        let Some(waiting) = going.waiting.remove(&ask) else { return Ok(()) };
        // In the log before anything is done: it counts once, whatever happens next.
        self.pen.say(|out| out.resolve_ask(&ask, &answer, AnsweredBy::Person)).await?;
        tell(Heard::Taken);
        match verdict {
            Verdict::Deny(reason) => {
                let words = match reason {
                    Some(reason) => format!("The person said no: {reason}"),
                    None => "The person said no.".to_owned(),
                };
                self.end_tool(waiting.call.step, Done::denied(words)).await
            }
            Verdict::Allow | Verdict::Always => self.run_approved(waiting, going).await,
        }
    }

    /// Runs what was approved, if it still is what would happen.
    async fn run_approved(&mut self, waiting: Waiting, going: &mut Going) -> Result<(), Halt> {
        let Waiting { call, digest, .. } = waiting;
        match self.prepare(&call).await? {
            Ok(prepared) if prepared.digest == digest => {
                self.save_before(&prepared.deed).await?;
                going.start(&self.setup.toolbox, call.step, prepared.deed);
                Ok(())
            }
            Ok(_) => {
                let words = "Not done: what it would do has changed since the person was asked.";
                self.end_tool(call.step, Done::denied(words)).await
            }
            Err(bad) => self.end_tool(call.step, Done::failed(bad.0)).await,
        }
    }

    async fn expire(&mut self, going: &mut Going) -> Result<(), Halt> {
        let now = now_ms();
        let late = going.waiting.extract_if(.., |_, waiting| waiting.expires_at_ms <= now);
        for (id, waiting) in late.collect::<Vec<_>>() {
            self.pen.say(|out| out.resolve_ask(&id, "expired", AnsweredBy::Policy)).await?;
            let words = "Nobody answered in time: not allowed.";
            self.end_tool(waiting.call.step, Done::denied(words)).await?;
        }
        Ok(())
    }

    /// The question is the run's last message; the answer is the next message of the person.
    async fn ask_person(&mut self, step: StepId, question: &str) -> Result<(), Halt> {
        self.pen
            .say(|out| {
                out.output(step, "(asked; the answer is the person's next message)");
                out.end_tool(step, ToolOutcome::Succeeded, None);
                out.declare_final(question);
                out.complete(Stop::End);
            })
            .await?;
        Err(Halt::End(Cut::EndOfInput))
    }
}

enum Happened {
    Stop(Cut),
    News(News),
    Done(StepId, Done),
    Answer(Answer),
    Expiry,
}

impl Going {
    fn start(&mut self, toolbox: &Toolbox, step: StepId, deed: Deed) {
        let (toolbox, teller) = (toolbox.clone(), Teller { step, news: self.teller.clone() });
        self.running.push(Box::pin(async move { (step, toolbox.run(deed, teller).await) }));
    }

    fn next_expiry(&self) -> Duration {
        let first = self.waiting.values().map(|waiting| waiting.expires_at_ms).min();
        Duration::from_millis(first.unwrap_or(u64::MAX).saturating_sub(now_ms()))
    }
}
