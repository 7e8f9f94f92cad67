//! A conversation that has grown too long is summed up by the model itself, and the log tells.

use std::sync::Arc;
use std::time::Instant;

use engine::event::{Event, Level, Millis, Sink, Usage, UsageScope};
use engine::ingest::{Ingest, Options};
use engine::run::{Cut, RunOptions, Verdict};
use futures_util::StreamExt;
use gateway::agent::Prompt;

use crate::conversation::{Part, ToolResult, Turn};
use crate::limits::{
    ATTEMPTS_MAX, COMPACT_AT_PERCENT, OLD_OUTPUT_BYTES_MAX, REPLY_BYTES_MAX, SUMMARY_BYTES_MAX,
};
use crate::pictures::without;
use crate::provider::{Patience, Reply};
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
    /// Why it is none.
    trouble: Option<String>,
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
        let Summary { text, usage, trouble } = self.sum_up().await?;
        self.pen
            .say(|out| {
                if usage != Usage::default() {
                    out.note(Event::UsageReported { scope: UsageScope::Round, usage });
                }
                match trouble {
                    None => out.note(Event::HistoryCompacted { summary: Some(text.into()) }),
                    Some(words) => {
                        let words = format!(
                            "the conversation is long, and could not be summed up: {words}"
                        );
                        out.notice(Level::Warning, &words);
                    }
                }
            })
            .await?;
        if self.pen.context_tokens() < most {
            self.compact_from = 0;
        }
        Ok(())
    }

    async fn sum_up(&mut self) -> Result<Summary, Halt> {
        let mut turns = in_words(&self.pen.conversation.turns());
        turns.push(Turn::Person(said(SUM_UP.to_owned())));
        let turns = merged(turns);
        let setup = Arc::clone(&self.setup);
        let mut attempt = 1;
        let reply = loop {
            let asked = Asked { system: &setup.system, turns: &turns, tools: &[] };
            match self.stopping.or(setup.provider.call(asked, attempt)).await? {
                Ok(reply) => break reply,
                Err(failed) if failed.is_final() || ATTEMPTS_MAX <= attempt => {
                    return Ok(Summary { trouble: Some(failed.detail), ..Summary::default() });
                }
                Err(failed) => self.wait_before(attempt, &failed).await?,
            }
            attempt += 1;
        };
        let options = Options { from: Some(setup.dialect), run: RunOptions::default() };
        let (mut ingest, mut summary) = (Ingest::new(&options), Summary::default());
        let reading = read(reply, setup.provider.patience(), &mut ingest, &mut summary);
        let trouble = self.stopping.or(reading).await?.err();
        let verdict = ingest.end_reply(None, &mut summary);
        ingest.finish(Cut::EndOfInput, None, &mut summary);
        let whole = matches!(verdict, Verdict::Completed(_)) && !summary.text.trim().is_empty();
        let unwhole = (!whole).then(|| "the summary is not whole".to_owned());
        summary.trouble = trouble.or(unwhole);
        Ok(summary)
    }
}

/// Takes in a reply to its end, within the same bounds as any other.
async fn read(
    mut reply: Reply,
    patience: Patience,
    ingest: &mut Ingest,
    summary: &mut Summary,
) -> Result<(), String> {
    let (until, mut bytes) = (Instant::now() + patience.total, 0);
    loop {
        let left = until.saturating_duration_since(Instant::now());
        match tokio::time::timeout(patience.idle.min(left), reply.next()).await {
            Err(_) => return Err("the model took too long".to_owned()),
            Ok(Some(Err(words))) => return Err(words),
            Ok(None) => return Ok(()),
            Ok(Some(Ok(piece))) => {
                bytes += piece.len();
                if REPLY_BYTES_MAX < bytes {
                    return Err("the model does not come to an end".to_owned());
                }
                ingest.push(&piece, None, summary);
            }
        }
    }
}

/// A conversation without calls, which providers take only together with the tools. Long outputs say
/// little that a summary needs, and pictures nothing.
fn in_words(turns: &[Turn]) -> Vec<Turn> {
    let part = |part: &Part| match part {
        Part::Text(text) => Some(Part::Text(text.clone())),
        Part::Call(call) => {
            Some(Part::Text(format!("(I called {} {})", call.name, call.arguments)))
        }
        Part::Thought { .. } => None,
    };
    let result = |result: &ToolResult| {
        let end = result.text.floor_char_boundary(OLD_OUTPUT_BYTES_MAX);
        let rest = if end < result.text.len() { " …" } else { "" };
        format!("({} gave: {}{rest})", result.name, &result.text[..end])
    };
    let words = turns.iter().map(|turn| match turn {
        Turn::Person(Prompt { text, images }) => Turn::Person(said(without(text, images.len()))),
        Turn::Agent(parts) => Turn::Agent(parts.iter().filter_map(part).collect()),
        Turn::Results(results) => {
            Turn::Person(said(results.iter().map(result).collect::<Vec<_>>().join("\n")))
        }
    });
    words.collect()
}

fn said(text: String) -> Prompt {
    Prompt { text, images: Vec::new() }
}

/// Sides take turns.
fn merged(turns: Vec<Turn>) -> Vec<Turn> {
    let mut merged: Vec<Turn> = Vec::new();
    for turn in turns {
        match (merged.last_mut(), turn) {
            (Some(Turn::Person(open)), Turn::Person(more)) => {
                open.text.extend(["\n\n", &more.text]);
            }
            (_, turn) => merged.push(turn),
        }
    }
    merged
}
