//! An agent that answers every message with the same recorded stream, for tests and for trying out
//! a gateway without a model.

use std::time::Duration;

use millpond_engine::event::{Event, Millis, Sink};
use millpond_engine::ingest::{Ingest, IngestOptions};
use millpond_engine::run::InputEnd;

use crate::TimedEvent;
use crate::clock::now_ms;
use crate::runs::RunControl;

use super::{Agent, AgentFuture, Job};

/// An agent that plays one recorded stream.
#[derive(Clone, Debug)]
pub struct ScriptAgent {
    /// A provider's raw stream.
    pub bytes: Vec<u8>,
    /// Bytes per chunk, with this pause before each.
    pub chunk_bytes: usize,
    pub pause_per_chunk: Duration,
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

impl Agent for ScriptAgent {
    fn name(&self) -> &'static str {
        "script"
    }

    fn run_job(&self, job: Job) -> AgentFuture {
        Box::pin(play_script(self.clone(), job))
    }
}

/// Ingests the recorded stream chunk by chunk, until it ends or the run is stopped.
async fn play_script(script: ScriptAgent, mut job: Job) {
    let Some(mut control) = job.stop_request_receiver() else { return };
    let mut ingest = Ingest::new(&IngestOptions::default());
    let mut sink = EventSink::default();
    let mut input_end = InputEnd::EndOfInput;
    for chunk in script.bytes.chunks(script.chunk_bytes.max(1)) {
        let stop = control.wait_for(|control| *control != RunControl::Continue);
        if let Ok(stopped) = tokio::time::timeout(script.pause_per_chunk, stop).await {
            let interrupted = stopped.is_ok_and(|control| *control == RunControl::Interrupt);
            input_end = if interrupted { InputEnd::Interrupted } else { InputEnd::Cancelled };
            break;
        }
        ingest.push(chunk, Some(now_ms()), &mut sink);
        if job.append_events_or_fail_run(std::mem::take(&mut sink.0)).await.is_err() {
            return;
        }
    }
    ingest.finish(input_end, Some(now_ms()), &mut sink);
    // If the append fails, the job ends the run itself.
    let _stored = job.append_events_or_fail_run(sink.0).await;
}
