//! Compaction: the model summarises a conversation that is close to its context window.

use std::sync::Arc;
use std::time::Instant;

use futures_util::StreamExt;
use millpond_engine::event::{Event, Millis, NoticeLevel, Sink, Usage, UsageScope};
use millpond_engine::ingest::{Ingest, IngestOptions};
use millpond_engine::run::{InputEnd, ReportedEnd, RunOptions};
use millpond_log::agent::Prompt;

use crate::conversation::{Part, ToolResult, Turn};
use crate::images::add_omitted_images_note;
use crate::limits::{
    ATTEMPTS_MAX, COMPACT_AT_PERCENT, REPLY_BYTES_MAX, SUMMARISED_OUTPUT_BYTES_MAX,
    SUMMARY_BYTES_MAX,
};
use crate::provider::{CallTimeouts, ReplyStream};
use crate::request::ModelInput;

use super::{AgentLoop, LoopExit};

const SUMMARY_PROMPT: &str = "This conversation has grown too long to go on with. Write a summary of it for \
    yourself, from which you can go on as if you had all of it: what the person wants, what was \
    decided, what was done and found, names and paths exactly as they are, what is left to do. \
    Write the summary and nothing else.";

/// Text and usage collected from a summary's reply.
#[derive(Debug, Default)]
struct SummaryReply {
    text: String,
    /// True if the text is not all that the model wrote, or holds text that it replaced.
    is_text_unusable: bool,
    usage: Usage,
    /// Reason for which the summary is unusable.
    error: Option<String>,
}

impl Sink for SummaryReply {
    fn on_event(&mut self, _: Option<Millis>, event: Event<'_>) {
        match event {
            Event::TextAppended { text, .. } => {
                if self.text.len() + text.len() <= SUMMARY_BYTES_MAX {
                    self.text.push_str(&text);
                } else {
                    self.is_text_unusable = true;
                }
            }
            Event::TextRewritten { .. } | Event::Withdrawn { .. } => self.is_text_unusable = true,
            Event::UsageReported { scope: UsageScope::Round, usage } => self.usage = usage,
            _ => {}
        }
    }
}

impl AgentLoop {
    /// Compacts the conversation if the next call would come close to the context window.
    pub(super) async fn compact_if_near_context_limit(&mut self) -> Result<(), LoopExit> {
        let max_tokens = self.config.limits.context_tokens * COMPACT_AT_PERCENT / 100;
        let tokens = self.writer.estimated_context_tokens();
        if tokens < max_tokens.max(self.compact_above_tokens) {
            return Ok(());
        }
        // After a failure, try again only once the conversation has grown.
        self.compact_above_tokens = tokens + tokens / 4;
        let SummaryReply { text, usage, error: summary_error, .. } =
            self.request_summary_with_retries().await?;
        self.writer
            .write_or_fail_run(|out| {
                if usage != Usage::default() {
                    out.append_stateless_event(Event::UsageReported {
                        scope: UsageScope::Round,
                        usage,
                    });
                }
                match summary_error {
                    None => {
                        out.append_stateless_event(Event::HistoryCompacted {
                            summary: Some(text.into()),
                        });
                    }
                    Some(detail) => {
                        let notice = format!("could not compact the conversation: {detail}");
                        out.append_notice(NoticeLevel::Warning, &notice);
                    }
                }
            })
            .await?;
        if self.writer.estimated_context_tokens() < max_tokens {
            self.compact_above_tokens = 0;
        }
        Ok(())
    }

    /// Calls the model for a summary, with retries.
    async fn request_summary_with_retries(&mut self) -> Result<SummaryReply, LoopExit> {
        let mut turns = flatten_turns_for_summary(&self.writer.conversation.build_sendable_turns());
        turns.push(Turn::Person(text_prompt(SUMMARY_PROMPT.to_owned())));
        let turns = merge_adjacent_person_turns(turns);
        let config = Arc::clone(&self.config);
        let mut attempt = 1;
        let reply = loop {
            let input =
                ModelInput { system_prompt: &config.system_prompt, turns: &turns, tools: &[] };
            match self
                .stop_signal
                .run_or_drop_on_stop(config.provider.call_model(input, attempt))
                .await?
            {
                Ok(reply) => break reply,
                Err(failure) if failure.is_permanent() || ATTEMPTS_MAX <= attempt => {
                    return Ok(SummaryReply {
                        error: Some(failure.detail),
                        ..SummaryReply::default()
                    });
                }
                Err(failure) => self.log_retry_and_wait(attempt, &failure).await?,
            }
            attempt += 1;
        };
        let options = IngestOptions {
            dialect: Some(config.dialect),
            run: RunOptions { control_words: Vec::new(), ..config.run_options.clone() },
        };
        let (mut ingest, mut summary) = (Ingest::new(&options), SummaryReply::default());
        let reading =
            read_reply_into_summary(reply, config.provider.timeouts(), &mut ingest, &mut summary);
        let read_error = self.stop_signal.run_or_drop_on_stop(reading).await?.err();
        let reported_end = ingest.end_reply(None, &mut summary);
        ingest.finish(InputEnd::EndOfInput, None, &mut summary);
        let is_complete = matches!(reported_end, ReportedEnd::Completed(_))
            && !summary.is_text_unusable
            && !summary.text.trim().is_empty();
        let incomplete = (!is_complete).then(|| "the summary is incomplete".to_owned());
        summary.error = read_error.or(incomplete);
        Ok(summary)
    }
}

/// Reads a reply to its end, within the same limits as any other.
async fn read_reply_into_summary(
    mut reply: ReplyStream,
    timeouts: CallTimeouts,
    ingest: &mut Ingest,
    summary: &mut SummaryReply,
) -> Result<(), String> {
    let (deadline, mut bytes) = (Instant::now() + timeouts.total, 0);
    loop {
        let remaining = deadline.saturating_duration_since(Instant::now());
        match tokio::time::timeout(timeouts.idle.min(remaining), reply.next()).await {
            Err(_) => return Err("the model took too long".to_owned()),
            Ok(Some(Err(error))) => return Err(error),
            Ok(None) => return Ok(()),
            Ok(Some(Ok(chunk))) => {
                bytes += chunk.len();
                if REPLY_BYTES_MAX < bytes {
                    return Err("the reply is too long".to_owned());
                }
                ingest.push(&chunk, None, summary);
            }
        }
    }
}

/// Rewrites calls and results as text: providers accept calls only together with the tools. Cuts
/// long outputs and drops reasoning and images, which a summary does not need.
fn flatten_turns_for_summary(turns: &[Turn]) -> Vec<Turn> {
    let flatten_part = |part: &Part| match part {
        Part::Text(text) => Some(Part::Text(text.clone())),
        Part::Call(call) => {
            Some(Part::Text(format!("(I called {} {})", call.name, call.arguments)))
        }
        Part::Thought { .. } => None,
    };
    let result = |result: &ToolResult| {
        let end = result.text.floor_char_boundary(SUMMARISED_OUTPUT_BYTES_MAX);
        let ellipsis = if end < result.text.len() { " …" } else { "" };
        format!("({} gave: {}{ellipsis})", result.name, &result.text[..end])
    };
    let flattened = turns.iter().map(|turn| match turn {
        Turn::Person(Prompt { text, images }) => {
            Turn::Person(text_prompt(add_omitted_images_note(text, images.len())))
        }
        Turn::Agent(parts) => Turn::Agent(parts.iter().filter_map(flatten_part).collect()),
        Turn::Results(results) => {
            Turn::Person(text_prompt(results.iter().map(result).collect::<Vec<_>>().join("\n")))
        }
    });
    flattened.collect()
}

fn text_prompt(text: String) -> Prompt {
    Prompt { text, images: Vec::new() }
}

/// Merges the texts of adjacent person turns, because providers want the sides to alternate. Images
/// of the later ones are dropped; the caller has none.
fn merge_adjacent_person_turns(turns: Vec<Turn>) -> Vec<Turn> {
    let mut merged: Vec<Turn> = Vec::new();
    for turn in turns {
        match (merged.last_mut(), turn) {
            (Some(Turn::Person(last)), Turn::Person(more)) => {
                last.text.extend(["\n\n", &more.text]);
            }
            (_, turn) => merged.push(turn),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use millpond_engine::event::MessageId;

    use super::*;

    #[test]
    fn a_summary_without_its_middle_is_unusable() {
        let mut summary = SummaryReply::default();
        let message = MessageId(0);
        let long = "a".repeat(SUMMARY_BYTES_MAX - 1);
        for text in [long.as_str(), "bc", "d"] {
            summary.on_event(None, Event::TextAppended { message, text: text.into() });
        }
        assert!(summary.is_text_unusable);
    }
}
