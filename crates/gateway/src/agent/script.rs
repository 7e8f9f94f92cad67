//! An agent that answers every message with the same recorded stream: for tests, and for trying a
//! gateway out before a real agent is at hand.

use std::time::Duration;

use engine::event::{Event, Millis, Sink};
use engine::ingest::{Ingest, Options};
use engine::run::Cut;

use crate::clock::now_ms;
use crate::log::Fact;
use crate::runs::Wish;

use super::{Agent, Job, Working};

#[derive(Clone, Debug)]
pub struct Script {
    /// A provider's raw stream.
    pub bytes: Vec<u8>,
    /// So many bytes at a time, with this pause before each.
    pub piece: usize,
    pub pause: Duration,
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

impl Agent for Script {
    fn name(&self) -> &'static str {
        "script"
    }

    fn work(&self, job: Job) -> Working {
        Box::pin(play(self.clone(), job))
    }
}

async fn play(script: Script, mut job: Job) {
    let Some(mut wish) = job.wish() else { return };
    let mut ingest = Ingest::new(&Options::default());
    let mut made = Made::default();
    let mut cut = Cut::EndOfInput;
    for piece in script.bytes.chunks(script.piece.max(1)) {
        let asked = wish.wait_for(|wish| *wish != Wish::GoOn);
        if let Ok(wish) = tokio::time::timeout(script.pause, asked).await {
            let interrupted = wish.is_ok_and(|wish| *wish == Wish::Interrupt);
            cut = if interrupted { Cut::Interrupted } else { Cut::Cancelled };
            break;
        }
        ingest.push(piece, Some(now_ms()), &mut made);
        if job.write(std::mem::take(&mut made.0)).await.is_err() {
            return;
        }
    }
    ingest.finish(cut, Some(now_ms()), &mut made);
    // What could not be kept is ended by the job itself.
    let _kept = job.write(made.0).await;
}
