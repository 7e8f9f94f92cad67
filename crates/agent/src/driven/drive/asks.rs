//! What the agent asks, and what it is told.

use engine::event::AnsweredBy;
use engine::run::Cut;
use gateway::runs::{Answer, Heard};

use crate::driven::hook::Asked;
use crate::driven::protocol::{Decision, Said};
use crate::rounds::Caution;

use super::{Close, Drive};

impl Drive {
    /// A hook asks whether a tool may be used.
    pub(super) async fn hooked(&mut self, asked: Asked) -> Result<(), Close> {
        if asked.only_looks() || self.setup.caution == Caution::Yolo {
            asked.allowed().send().await;
        } else if let Some(hooks) = &mut self.hooks {
            self.pen.say(|out| hooks.ask(asked, out)).await?;
        }
        Ok(())
    }

    pub(super) async fn answered(&mut self, answer: Answer) -> Result<(), Close> {
        let Answer { ask, answer, heard } = answer;
        if !self.pen.open_asks().contains(&ask) {
            let _gone = heard.send(Heard::NotOpen);
            return Ok(());
        }
        let taken = self.decide(&ask, Decision::Said(&answer), AnsweredBy::Person).await?;
        let _gone = heard.send(if taken { Heard::Taken } else { Heard::NoOption });
        Ok(())
    }

    /// Whether the agent can take this for an answer.
    pub(super) async fn decide(
        &mut self,
        ask: &str,
        decision: Decision<'_>,
        by: AnsweredBy,
    ) -> Result<bool, Close> {
        let word = match decision {
            Decision::Said(word) => word,
            Decision::Allow => "allow",
            Decision::Deny => "expired",
        };
        if let Some(hooks) = self.hooks.as_mut().filter(|hooks| hooks.has(ask)) {
            let Some(reply) = hooks.answer(ask, decision) else { return Ok(false) };
            self.pen.say(|out| out.resolve_ask(ask, word, by)).await?;
            reply.send().await;
            return Ok(true);
        }
        let said = self.protocol.as_mut().and_then(|protocol| protocol.answer(ask, decision));
        let Some(said) = said else { return Ok(false) };
        // The engine takes an answer among the lines for a person's, and those of servers are none.
        if by != AnsweredBy::Person || matches!(said, Said::Post { .. }) {
            self.pen.say(|out| out.resolve_ask(ask, word, by)).await?;
        }
        self.say(vec![said]).await?;
        Ok(true)
    }

    /// Asks that nobody answered are refused; an agent that says nothing for too long is ended.
    pub(super) async fn late(&mut self) -> Result<(), Close> {
        if self.pen.next_expiry().is_none() {
            let worked = self.began.elapsed().saturating_sub(self.waited);
            if self.setup.time <= worked {
                let words = format!("stopped after {} s of work", worked.as_secs());
                return Err(Close::Broken(words));
            }
            return Err(Close::Stopped(Cut::Stalled));
        }
        for ask in self.pen.expired_asks() {
            self.decide(&ask, Decision::Deny, AnsweredBy::Policy).await?;
            // One that the agent cannot be told of is over all the same.
            self.pen.say(|out| out.resolve_ask(&ask, "expired", AnsweredBy::Policy)).await?;
        }
        Ok(())
    }
}
