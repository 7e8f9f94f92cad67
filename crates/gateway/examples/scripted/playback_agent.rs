//! An agent that plays the recorded stream that a message names.

use std::path::PathBuf;
use std::time::Duration;

use millpond_engine::event::{AnsweredBy, AskKind, Event, Millis, Sink};
use millpond_engine::ingest::{Ingest, IngestOptions};
use millpond_engine::run::InputEnd;
use millpond_log::TimedEvent;
use millpond_log::agent::{Agent, AgentFuture, Job};
use millpond_log::clock::now_ms;
use millpond_log::runs::{Answer, AnswerResult, RunControl};
use tokio::sync::{mpsc, watch};

use crate::play_request::{PlayRequest, PlayStep};

#[derive(Debug)]
pub(crate) struct PlaybackAgent {
    pub(crate) fixtures: PathBuf,
}

impl Agent for PlaybackAgent {
    fn name(&self) -> &'static str {
        "script"
    }

    fn run_job(&self, job: Job) -> AgentFuture {
        let part: PlayRequest = serde_json::from_str(&job.prompt.text).unwrap_or_default();
        // A missing stream is played as an empty one.
        let bytes = std::fs::read(self.fixtures.join(&part.play)).unwrap_or_default();
        Box::pin(async move {
            let Some(playing) = Playback::new(job) else { return };
            playing.play_steps(&part, &bytes).await;
        })
    }
}

/// Collects events, except `run_started`, which `Job::create_and_append_run_start` has written.
#[derive(Default)]
struct EventSink(Vec<TimedEvent>);

impl Sink for EventSink {
    fn on_event(&mut self, at: Option<Millis>, event: Event<'_>) {
        if !matches!(event, Event::RunStarted { .. }) {
            self.0.push((at, event.into_owned()));
        }
    }
}

struct Playback {
    job: Job,
    control: watch::Receiver<RunControl>,
    answers: mpsc::Receiver<Answer>,
    ask_count: u32,
}

impl Playback {
    fn new(job: Job) -> Option<Playback> {
        let (wish, answers) =
            (job.stop_request_receiver()?, job.open_answer_channel_if_run_open()?);
        Some(Playback { job, control: wish, answers, ask_count: 0 })
    }

    async fn play_steps(mut self, part: &PlayRequest, bytes: &[u8]) {
        let mut ingest = Ingest::new(&IngestOptions::default());
        let mut made = EventSink::default();
        let mut cut = InputEnd::EndOfInput;
        for act in part.play_steps(bytes) {
            let went_on = match act {
                PlayStep::WaitForAnswer => self.wait_for_answer(part.ask.as_deref()).await,
                PlayStep::SendBytes(piece) => {
                    ingest.push(piece, Some(now_ms()), &mut made);
                    if self
                        .job
                        .append_events_or_fail_run(std::mem::take(&mut made.0))
                        .await
                        .is_err()
                    {
                        return;
                    }
                    self.sleep_or_cut(Duration::from_millis(part.pause)).await
                }
            };
            if let Err(told) = went_on {
                cut = told;
                break;
            }
        }
        ingest.finish(cut, Some(now_ms()), &mut made);
        // If the append fails, the job ends the run itself.
        let _kept = self.job.append_events_or_fail_run(made.0).await;
    }

    async fn sleep_or_cut(&mut self, pause: Duration) -> Result<(), InputEnd> {
        tokio::select! {
            cut = wait_for_cut(&mut self.control) => Err(cut),
            () = tokio::time::sleep(pause) => Ok(()),
        }
    }

    /// Waits for an answer. With a text, the ask and its answer are appended to the log.
    async fn wait_for_answer(&mut self, words: Option<&str>) -> Result<(), InputEnd> {
        let ask = format!("ask-{}", self.ask_count);
        self.ask_count += 1;
        if let Some(words) = words {
            let asked = Event::AskOpened {
                ask: ask.clone().into(),
                kind: AskKind::Followup,
                text: words.to_owned().into(),
                options: Vec::new(),
                step: None,
                digest: None,
                expires_at_ms: None,
            };
            self.append_event(asked).await?;
        }
        let (answer, told) = tokio::select! {
            cut = wait_for_cut(&mut self.control) => (None, Err(cut)),
            said = self.answers.recv() => (said.map(accept_answer), Ok(())),
        };
        if words.is_some() {
            let by = if answer.is_some() { AnsweredBy::Person } else { AnsweredBy::Nobody };
            let answer = answer.unwrap_or_default().into();
            self.append_event(Event::AskResolved { ask: ask.into(), answer, by }).await?;
        }
        told
    }

    async fn append_event(&mut self, event: Event<'static>) -> Result<(), InputEnd> {
        self.job
            .append_events_or_fail_run(vec![(Some(now_ms()), event)])
            .await
            .map_err(|_| InputEnd::Interrupted)
    }
}

fn accept_answer(said: Answer) -> String {
    // The caller may be gone.
    let _gone = said.result.send(AnswerResult::Accepted);
    said.answer
}

async fn wait_for_cut(wish: &mut watch::Receiver<RunControl>) -> InputEnd {
    let told = wish.wait_for(|wish| *wish != RunControl::Continue).await;
    if told.is_ok_and(|wish| *wish == RunControl::Interrupt) {
        InputEnd::Interrupted
    } else {
        InputEnd::Cancelled
    }
}
