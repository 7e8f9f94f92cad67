//! An agent that plays what a message says.

use std::path::PathBuf;
use std::time::Duration;

use engine::event::{AnsweredBy, AskKind, Event, Millis, Sink};
use engine::ingest::{Ingest, Options};
use engine::run::Cut;
use gateway::agent::{Agent, Job, Working};
use gateway::clock::now_ms;
use gateway::log::Fact;
use gateway::runs::{Answer, Heard, Wish};
use tokio::sync::{mpsc, watch};

use crate::part::{Act, Part};

#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) fixtures: PathBuf,
}

impl Agent for Stage {
    fn name(&self) -> &'static str {
        "script"
    }

    fn work(&self, job: Job) -> Working {
        let part: Part = serde_json::from_str(&job.prompt.text).unwrap_or_default();
        // A stream that is not there is an empty one: its run says that nothing came.
        let bytes = std::fs::read(self.fixtures.join(&part.play)).unwrap_or_default();
        Box::pin(async move {
            let Some(playing) = Playing::new(job) else { return };
            playing.play(&part, &bytes).await;
        })
    }
}

/// What the stream makes, but for the beginning, which the gateway has written.
#[derive(Default)]
struct Made(Vec<Fact>);

impl Sink for Made {
    fn event(&mut self, at: Option<Millis>, event: Event<'_>) {
        if !matches!(event, Event::RunStarted { .. }) {
            self.0.push((at, event.into_owned()));
        }
    }
}

struct Playing {
    job: Job,
    wish: watch::Receiver<Wish>,
    answers: mpsc::Receiver<Answer>,
    asks: u32,
}

impl Playing {
    fn new(job: Job) -> Option<Playing> {
        let (wish, answers) = (job.wish()?, job.take_answers()?);
        Some(Playing { job, wish, answers, asks: 0 })
    }

    async fn play(mut self, part: &Part, bytes: &[u8]) {
        let mut ingest = Ingest::new(&Options::default());
        let mut made = Made::default();
        let mut cut = Cut::EndOfInput;
        for act in part.acts(bytes) {
            let went_on = match act {
                Act::Hold => self.hold(part.ask.as_deref()).await,
                Act::Say(piece) => {
                    ingest.push(piece, Some(now_ms()), &mut made);
                    if self.job.write(std::mem::take(&mut made.0)).await.is_err() {
                        return;
                    }
                    self.pause(Duration::from_millis(part.pause)).await
                }
            };
            if let Err(told) = went_on {
                cut = told;
                break;
            }
        }
        ingest.finish(cut, Some(now_ms()), &mut made);
        // What could not be kept is ended by the job itself.
        let _kept = self.job.write(made.0).await;
    }

    async fn pause(&mut self, pause: Duration) -> Result<(), Cut> {
        tokio::select! {
            cut = told_to_stop(&mut self.wish) => Err(cut),
            () = tokio::time::sleep(pause) => Ok(()),
        }
    }

    /// Waits for an answer. With words, the log says what was asked and answered.
    async fn hold(&mut self, words: Option<&str>) -> Result<(), Cut> {
        let ask = format!("ask-{}", self.asks);
        self.asks += 1;
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
            self.tell(asked).await?;
        }
        let (answer, told) = tokio::select! {
            cut = told_to_stop(&mut self.wish) => (None, Err(cut)),
            said = self.answers.recv() => (said.map(take), Ok(())),
        };
        if words.is_some() {
            let by = if answer.is_some() { AnsweredBy::Person } else { AnsweredBy::Nobody };
            let answer = answer.unwrap_or_default().into();
            self.tell(Event::AskResolved { ask: ask.into(), answer, by }).await?;
        }
        told
    }

    async fn tell(&mut self, event: Event<'static>) -> Result<(), Cut> {
        self.job.write(vec![(Some(now_ms()), event)]).await.map_err(|_| Cut::Interrupted)
    }
}

fn take(said: Answer) -> String {
    // Whoever said it may have gone.
    let _gone = said.heard.send(Heard::Taken);
    said.answer
}

async fn told_to_stop(wish: &mut watch::Receiver<Wish>) -> Cut {
    let told = wish.wait_for(|wish| *wish != Wish::GoOn).await;
    if told.is_ok_and(|wish| *wish == Wish::Interrupt) { Cut::Interrupted } else { Cut::Cancelled }
}
