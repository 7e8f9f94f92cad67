//! One round: the model is called, again where that is safe, and its reply becomes events.

use std::sync::Arc;
use std::time::Instant;

use engine::event::{Event, FailureReason, Level, Stop};
use engine::run::{Cut, Verdict};
use futures_util::StreamExt;

use crate::limits::{ATTEMPTS_MAX, REPLY_BYTES_MAX, RETRY_DELAY_MAX};
use crate::pen::Pictures;
use crate::provider::{Again, NoReply, Patience, Reply};
use crate::request::Asked;

use super::{Halt, Work};

/// Why no more bytes of a reply come.
enum LastByte {
    End,
    Broken(String),
    Stalled,
    TooLong,
}

impl Work {
    /// Calls the model and takes in what it says. Comes back if there are calls to be answered.
    pub(super) async fn reply(&mut self) -> Result<(), Halt> {
        let mut attempt = 1;
        loop {
            let failed = match self.call(attempt).await? {
                Ok(reply) => match self.take(reply).await? {
                    None => return Ok(()),
                    Some(failed) => failed,
                },
                Err(failed) => failed,
            };
            if failed.again == Again::Otherwise
                && self.pictures == Pictures::Shown
                && self.pen.shows()
            {
                self.go_on_without_pictures(&failed).await?;
                continue;
            }
            if failed.is_final() || ATTEMPTS_MAX <= attempt {
                return Err(Halt::Failed(FailureReason::Error, failed.detail));
            }
            self.wait_before(attempt, &failed).await?;
            attempt += 1;
        }
    }

    async fn call(&mut self, attempt: u32) -> Result<Result<Reply, NoReply>, Halt> {
        let turns = self.pen.turns(self.pictures).await;
        let (setup, all) = (Arc::clone(&self.setup), Arc::clone(&self.catalogue));
        let asked = Asked { system: &setup.system, turns: &turns, tools: &all.specs };
        Ok(self.stopping.or(setup.provider.call(asked, attempt)).await?)
    }

    /// A picture that a server will not have must not keep a conversation from going on.
    async fn go_on_without_pictures(&mut self, failed: &NoReply) -> Result<(), Halt> {
        self.pictures = Pictures::Told;
        let words = format!(
            "The pictures may be why the model refused: it is asked without them. ({})",
            failed.detail
        );
        Ok(self.pen.say(|out| out.notice(Level::Warning, &words)).await?)
    }

    /// Tells that there will be another attempt, and waits for it.
    pub(super) async fn wait_before(&mut self, attempt: u32, failed: &NoReply) -> Result<(), Halt> {
        let delay = match failed.again {
            Again::After(delay) => delay,
            Again::No | Again::Otherwise | Again::Yes => {
                self.setup.provider.patience().retry * 2_u32.saturating_pow(attempt - 1)
            }
        };
        let delay = delay.min(RETRY_DELAY_MAX);
        let told = Event::RetryScheduled {
            attempt: Some(attempt),
            attempts_max: Some(ATTEMPTS_MAX - 1),
            delay_ms: u64::try_from(delay.as_millis()).ok(),
            reason: failed.detail.clone().into(),
        };
        self.pen.say(|out| out.note(told)).await?;
        Ok(self.stopping.or(tokio::time::sleep(delay)).await?)
    }

    /// Takes in a reply to its end. Something if the call may be made again: nothing was said yet.
    async fn take(&mut self, reply: Reply) -> Result<Option<NoReply>, Halt> {
        let said_before = self.pen.said();
        let patience = self.setup.provider.patience();
        let last = self.pass_on(reply, patience).await?;
        let verdict = self.pen.end_reply().await?;
        let said = said_before < self.pen.said();
        let again = |detail: String| Ok(Some(NoReply { detail, again: Again::Yes }));
        match (verdict, last) {
            (Verdict::Completed(stop), _) => self.completed(stop),
            (Verdict::Failed { reason: FailureReason::Error, detail }, _) if !said => again(detail),
            (Verdict::Failed { .. } | Verdict::Cancelled { .. }, _) => {
                Err(Halt::End(Cut::EndOfInput))
            }
            (Verdict::Pending, LastByte::Stalled) => Err(Halt::End(Cut::Stalled)),
            (Verdict::Pending, LastByte::TooLong) => Err(Halt::End(Cut::TooLong)),
            (Verdict::Pending, LastByte::Broken(words)) => {
                let words = format!("the line to the model broke: {words}");
                if said { Err(Halt::Failed(FailureReason::Error, words)) } else { again(words) }
            }
            (Verdict::Pending, LastByte::End) if !said => Err(Halt::Failed(
                FailureReason::Error,
                "the model's server sent no reply that could be read".to_owned(),
            )),
            (Verdict::Pending, LastByte::End) => Err(Halt::End(Cut::EndOfInput)),
        }
    }

    /// The reply is whole. What a limit cut is not acted on.
    fn completed(&self, stop: Stop) -> Result<Option<NoReply>, Halt> {
        let has_calls = !self.pen.conversation.pending().is_empty();
        if has_calls && stop != Stop::Length { Ok(None) } else { Err(Halt::End(Cut::EndOfInput)) }
    }

    async fn pass_on(&mut self, mut reply: Reply, patience: Patience) -> Result<LastByte, Halt> {
        let mut bytes = 0;
        let until = Instant::now() + patience.total;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let next = tokio::time::timeout(patience.idle.min(left), reply.next());
            let piece = match self.stopping.or(next).await? {
                Err(_) => return Ok(LastByte::Stalled),
                Ok(None) => return Ok(LastByte::End),
                Ok(Some(Err(words))) => return Ok(LastByte::Broken(words)),
                Ok(Some(Ok(piece))) => piece,
            };
            bytes += piece.len();
            if REPLY_BYTES_MAX < bytes {
                return Ok(LastByte::TooLong);
            }
            self.pen.push(&piece).await?;
        }
    }
}
