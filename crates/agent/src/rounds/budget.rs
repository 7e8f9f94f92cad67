//! What a session may cost before a person is asked whether it may cost more.

use std::time::{Duration, Instant};

use engine::event::{AnsweredBy, AskKind, AskOption, FailureReason, Millis};
use engine::run::{Asking, Cut};
use gateway::clock::now_ms;
use gateway::runs::{Answer, Heard};
use tokio::sync::mpsc;

use super::{Caution, Halt, Work};

/// How asks about the budget are called; a number follows.
pub const BUDGET_ASK: &str = "budget-";
/// The answer that allows as much again.
pub const GO_ON: &str = "go_on";
const STOP: &str = "stop";

impl Work {
    /// Asks before the next round may pass the budget, if it costs what the last one did.
    pub(super) async fn ask_about_budget(&mut self) -> Result<(), Halt> {
        let Some(budget) = self.setup.bounds.budget_usd else {
            return self.forget_budget_ask().await;
        };
        let allowed = budget * f64::from(self.raised + 1);
        let next = self.pen.spent_usd() + self.pen.last_call_usd();
        let is_near = allowed < next || (0.0 < next && allowed <= self.pen.spent_usd());
        if !is_near || self.setup.caution == Caution::Yolo {
            return self.forget_budget_ask().await;
        }
        // Before it is asked: whoever sees the ask may answer at once.
        let answers = self.pen.take_answers()?;
        let (ask, until) = match self.budget_ask.take() {
            Some(found) => found,
            None => self.open_budget_ask(budget, allowed).await?,
        };
        let since = Instant::now();
        let goes_on = self.wait_for_budget(answers, &ask, until).await?;
        self.waited += since.elapsed();
        if goes_on {
            self.raised += 1;
            return Ok(());
        }
        let spent = self.pen.spent_usd();
        let words = format!("stopped at the budget: this session has cost ${spent:.4}");
        Err(Halt::Failed(FailureReason::Limit, words))
    }

    /// What an earlier process asked is no question any more.
    async fn forget_budget_ask(&mut self) -> Result<(), Halt> {
        if let Some((ask, _)) = self.budget_ask.take() {
            self.pen.say(|out| out.resolve_ask(&ask, GO_ON, AnsweredBy::Policy)).await?;
        }
        Ok(())
    }

    async fn open_budget_ask(
        &mut self,
        budget: f64,
        allowed: f64,
    ) -> Result<(String, Millis), Halt> {
        let ask = format!("{BUDGET_ASK}{}", self.raised + 1);
        let until = self.pen.answer_until();
        let spent = self.pen.spent_usd();
        let text = format!(
            "This session has cost ${spent:.4}, and going on may pass its budget of ${allowed:.4}."
        );
        let option =
            |id: &'static str, label: String| AskOption { id: id.into(), label: label.into() };
        let options = vec![
            option(GO_ON, format!("Go on for another ${budget:.4}")),
            option(STOP, "Stop here".to_owned()),
        ];
        let asking = Asking {
            ask: &ask,
            kind: AskKind::Other,
            text: &text,
            options,
            step: None,
            digest: None,
            expires_at_ms: Some(until),
        };
        self.pen.say(|out| out.open_ask(asking)).await?;
        Ok((ask, until))
    }

    async fn wait_for_budget(
        &mut self,
        mut answers: mpsc::Receiver<Answer>,
        ask: &str,
        until: Millis,
    ) -> Result<bool, Halt> {
        loop {
            let left = Duration::from_millis(until.saturating_sub(now_ms()));
            let said = tokio::select! {
                biased;
                cut = self.stopping.asked() => match cut {
                    Cut::Interrupted => return Err(Halt::Left),
                    cut => return Err(Halt::End(cut)),
                },
                Some(answer) = answers.recv() => answer,
                () = tokio::time::sleep(left) => {
                    self.pen.say(|out| out.resolve_ask(ask, "expired", AnsweredBy::Policy)).await?;
                    return Ok(false);
                }
            };
            let Answer { ask: asked, answer, heard } = said;
            let told = match answer.trim() {
                _ if asked != ask => Heard::NotOpen,
                GO_ON | STOP => {
                    let word = answer.trim();
                    self.pen.say(|out| out.resolve_ask(ask, word, AnsweredBy::Person)).await?;
                    let _gone = heard.send(Heard::Taken);
                    return Ok(word == GO_ON);
                }
                _ => Heard::NoOption,
            };
            let _gone = heard.send(told);
        }
    }
}
