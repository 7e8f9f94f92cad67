//! A conversation that has grown too long is summed up by the model itself, and the log tells.

use std::sync::Arc;

use engine::event::{Event, Level, Millis, Sink, Usage, UsageScope};
use engine::ingest::{Ingest, Options};
use engine::run::{Cut, RunOptions, Verdict};
use futures_util::StreamExt;

use crate::conversation::Turn;
use crate::limits::{COMPACT_AT_PERCENT, OLD_OUTPUT_BYTES_MAX, SUMMARY_BYTES_MAX};
use crate::request::Asked;

use super::{Halt, Work};

const SUM_UP: &str = "This conversation has grown too long to go on with. Write a summary of it for \
    yourself, from which you can go on as if you had all of it: what the person wants, what was \
    decided, what was done and found, names and paths exactly as they are, what is left to do. \
    Write the summary and nothing else.";

/// What a summary's reply comes to.
#[derive(Debug, Default)]
struct Summary {
    text: String,
    usage: Usage,
}

impl Sink for Summary {
    fn event(&mut self, _: Option<Millis>, event: Event<'_>) {
        match event {
            Event::TextAppended { text, .. }
                if self.text.len() + text.len() <= SUMMARY_BYTES_MAX =>
            {
                self.text.push_str(&text);
            }
            Event::UsageReported { scope: UsageScope::Round, usage } => self.usage = usage,
            _ => {}
        }
    }
}

impl Work {
    /// Sums up what was said if the next call would come near to what the model can take.
    pub(super) async fn compact_if_long(&mut self) -> Result<(), Halt> {
        let most = self.setup.bounds.context_tokens * COMPACT_AT_PERCENT / 100;
        let tokens = self.pen.context_tokens();
        if tokens < most.max(self.compact_from) {
            return Ok(());
        }
        // What could not be summed up is not tried again at once.
        self.compact_from = tokens + tokens / 4;
        let words = match self.sum_up().await? {
            Ok(Summary { text, usage }) => {
                self.pen
                    .say(|out| {
                        out.note(Event::UsageReported { scope: UsageScope::Round, usage });
                        out.note(Event::HistoryCompacted { summary: Some(text.into()) });
                    })
                    .await?;
                self.compact_from = 0;
                return Ok(());
            }
            Err(words) => format!("the conversation is long, and could not be summed up: {words}"),
        };
        self.pen.say(|out| out.notice(Level::Warning, &words)).await?;
        Ok(())
    }

    async fn sum_up(&mut self) -> Result<Result<Summary, String>, Halt> {
        let mut turns = self.pen.conversation.turns();
        shorten(&mut turns);
        turns.push(Turn::Person(SUM_UP.to_owned()));
        let setup = Arc::clone(&self.setup);
        let asked = Asked { system: &setup.system, turns: &turns, tools: &[] };
        let mut reply = match self.stopping.or(setup.provider.call(asked, 1)).await? {
            Ok(reply) => reply,
            Err(failed) => return Ok(Err(failed.detail)),
        };
        let options = Options { from: Some(setup.dialect), run: RunOptions::default() };
        let (mut ingest, mut summary) = (Ingest::new(&options), Summary::default());
        let idle = setup.provider.patience().idle;
        loop {
            match self.stopping.or(tokio::time::timeout(idle, reply.next())).await? {
                Err(_) => return Ok(Err("the model said nothing for too long".to_owned())),
                Ok(Some(Err(words))) => return Ok(Err(words)),
                Ok(Some(Ok(bytes))) => ingest.push(&bytes, None, &mut summary),
                Ok(None) => break,
            }
        }
        let verdict = ingest.end_reply(None, &mut summary);
        ingest.finish(Cut::EndOfInput, None, &mut summary);
        let whole = matches!(verdict, Verdict::Completed(_)) && !summary.text.trim().is_empty();
        Ok(if whole { Ok(summary) } else { Err("the summary is not whole".to_owned()) })
    }
}

/// Long outputs of tools say little that a summary needs, and pictures nothing.
fn shorten(turns: &mut [Turn]) {
    let results = turns.iter_mut().filter_map(|turn| match turn {
        Turn::Results(results) => Some(results),
        Turn::Person(_) | Turn::Agent(_) => None,
    });
    for result in results.flatten() {
        result.images.clear();
        let end = result.text.floor_char_boundary(OLD_OUTPUT_BYTES_MAX);
        if end < result.text.len() {
            result.text.truncate(end);
            result.text.push_str("\n… (the rest is left out here)");
        }
    }
}
