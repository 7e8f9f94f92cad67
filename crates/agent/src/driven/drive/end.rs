//! The end of a run: an agent that is done, was stopped, or went away.

use std::time::{Duration, Instant};

use engine::event::FailureReason;
use engine::run::{Cut, Verdict};

use crate::approval::exactly;
use crate::driven::kind::Talk;
use crate::driven::protocol::{End, Protocol, Reaction};
use crate::pen::Unkept;
use crate::process::{is_secret, variables};

use super::Drive;

/// How long an agent that is asked to stop may go on talking.
const STOP_TIME: Duration = Duration::from_millis(800);
/// How long an agent that is done has to put its things away.
const LEAVE_TIME: Duration = Duration::from_millis(700);

impl Drive {
    /// The agent is done: it may put its things away, and is ended if it does not go.
    pub(super) async fn leave(&mut self) {
        self.connection.close();
        if self.setup.kind.talk() != Talk::Server {
            let going = async { while let Ok(Some(_)) = self.connection.lines.next().await {} };
            let _late = tokio::time::timeout(LEAVE_TIME, going).await;
        }
        self.connection.group.stop().await;
    }

    /// Asks the agent to stop, takes in what it still says, and ends it.
    pub(super) async fn stop(&mut self) {
        let until = Instant::now() + STOP_TIME;
        let said = self.protocol.as_mut().and_then(Protocol::interrupt);
        if let Some(said) = said {
            let say = tokio::time::timeout(STOP_TIME, self.connection.say(&said)).await;
            if let Ok(Ok(())) = say {
                self.hear_last_words(until).await;
            }
        }
        self.connection.group.stop().await;
    }

    async fn hear_last_words(&mut self, until: Instant) {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let next = tokio::time::timeout(left, self.connection.lines.next()).await;
            let Ok(Ok(Some(line))) = next else { return };
            let text = String::from_utf8_lossy(&line);
            let reaction = self.protocol.as_mut().map(|protocol| protocol.hear(text.trim_end()));
            // How the run ended is known already, and is not for the agent to say.
            let Some(Reaction { is_news: true, end: End::No, .. }) = reaction else { return };
            if self.take_in('<', &line).await.is_err() {
                return;
            }
        }
    }

    pub(super) async fn end_of_stream(mut self) {
        let status = tokio::time::timeout(LEAVE_TIME, self.connection.group.wait()).await;
        self.connection.group.stop().await;
        let verdict = match self.pen.end_reply().await {
            Ok(verdict) => verdict,
            Err(Unkept) => return,
        };
        let failed = match status {
            Ok(Some(status)) if !status.success() => Some(status.to_string()),
            _ => None,
        };
        match (verdict, failed) {
            (Verdict::Pending, Some(status)) => {
                let said = self.connection.last_errors().await;
                let said = self.hidden(&said);
                let title = self.setup.title();
                let words = format!("`{title}` ended with {status}. {said}");
                self.fail(words.trim_end()).await;
            }
            (Verdict::Completed(_), _) => {
                if self.write_name().await.is_ok() {
                    self.pen.finish(Cut::EndOfInput).await;
                }
            }
            _ => self.pen.finish(Cut::EndOfInput).await,
        }
    }

    pub(super) async fn fail(mut self, words: &str) {
        if self.pen.say(|out| out.fail(FailureReason::Error, words)).await.is_ok() {
            self.pen.finish(Cut::EndOfInput).await;
        }
    }

    /// What the agent said beside its stream, without keys that it was given.
    fn hidden(&self, said: &str) -> String {
        let own = self.setup.variables.clone();
        let secrets = variables().chain(own).filter(|(name, value)| {
            // What is shorter stands in any text.
            6 <= value.len() && is_secret(name)
        });
        exactly(&secrets.fold(said.to_owned(), |said, (_, value)| said.replace(&value, "[hidden]")))
    }
}
