//! What a source says becomes what the log is told: with what only we know of it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use engine::event::{Event, Executor, Millis, Sink, StepId, ToolKind, UsageScope};
use gateway::clock::now_ms;
use gateway::digest::Digest;
use gateway::log::Fact;
use serde_json::Value;

use crate::approval::exactly;
use crate::limits::ASK_ARGUMENTS_MAX;
use crate::model::Rates;

/// What whoever runs the tools knows of one; the model only says its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    pub kind: ToolKind,
    pub server: Option<String>,
    pub name: String,
}

/// By the name that the model says.
pub type KnownTools = BTreeMap<String, Known>;

/// What has happened and is not kept yet.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) facts: Vec<Fact>,
    /// What the run began with, if its source tells it again.
    pub(super) echo: Option<String>,
    pub(super) tools: KnownTools,
    pub(super) rates: Rates,
    /// How long a person has to answer.
    answer_within: Duration,
    /// What the calls that are going were called with.
    arguments: BTreeMap<StepId, String>,
}

impl Sink for Made {
    fn event(&mut self, at: Option<Millis>, event: Event<'_>) {
        match event {
            // The gateway has written the beginning.
            Event::RunStarted { .. } => {}
            Event::PromptReceived { text, .. }
                if self.echo.as_ref().is_some_and(|echo| text.trim() == echo.trim()) => {}
            event => {
                self.hear_arguments(&event);
                self.facts.push((at, self.known(event.into_owned())));
            }
        }
    }
}

impl Made {
    pub(super) fn new(rates: Rates, answer_within: Duration) -> Made {
        let (facts, echo, tools) = (Vec::new(), None, KnownTools::new());
        Made { facts, echo, tools, rates, answer_within, arguments: BTreeMap::new() }
    }

    pub(super) fn answer_until(&self) -> Millis {
        let lasts = u64::try_from(self.answer_within.as_millis()).unwrap_or(u64::MAX);
        now_ms().saturating_add(lasts)
    }

    fn hear_arguments(&mut self, event: &Event<'_>) {
        match event {
            Event::ArgumentsAppended { step, text } => {
                let known = self.arguments.entry(*step).or_default();
                if known.len() + text.len() <= ASK_ARGUMENTS_MAX {
                    known.push_str(text);
                }
            }
            Event::ArgumentsReplaced { step, text } if text.len() <= ASK_ARGUMENTS_MAX => {
                self.arguments.insert(*step, text.to_string());
            }
            Event::ToolEnded { step, .. } => {
                self.arguments.remove(step);
            }
            _ => {}
        }
    }

    /// What is asked, with all that the call is made with: some agents ask with less.
    fn with_arguments<'a>(&self, asked: Cow<'a, str>, step: Option<StepId>) -> Cow<'a, str> {
        match step.and_then(|step| self.arguments.get(&step)) {
            Some(arguments) if !says_all_of(&asked, arguments) => {
                format!("{asked}\n{arguments}").into()
            }
            _ => asked,
        }
    }

    /// The same, with what the source cannot know: what a tool is, and what a call cost.
    fn known(&self, event: Event<'static>) -> Event<'static> {
        match event {
            Event::ToolStarted {
                step,
                round,
                call,
                name,
                kind: ToolKind::Function,
                executor: executor @ Executor::Client,
                server: None,
                parent,
            } if let Some(known) = self.tools.get(&*name) => Event::ToolStarted {
                step,
                round,
                call,
                name: known.name.clone().into(),
                kind: known.kind,
                executor,
                server: known.server.clone().map(Into::into),
                parent,
            },
            Event::UsageReported { scope: UsageScope::Round, mut usage } => {
                usage.cost_usd = usage.cost_usd.or(self.rates.cost_usd(&usage));
                Event::UsageReported { scope: UsageScope::Round, usage }
            }
            // What somebody else's agent asks is bound to what is shown, and does not wait for ever.
            Event::AskOpened { ask, kind, text, options, step, digest: None, expires_at_ms } => {
                let text = exactly(&self.with_arguments(text, step));
                let shown = serde_json::json!([ask, kind, text, options]).to_string();
                let digest = Some(Digest::of(shown.as_bytes()).to_string().into());
                let expires_at_ms = expires_at_ms.or(Some(self.answer_until()));
                let text = text.into();
                Event::AskOpened { ask, kind, text, options, step, digest, expires_at_ms }
            }
            event => event,
        }
    }
}

/// Whether a text tells all that a call is made with.
fn says_all_of(text: &str, arguments: &str) -> bool {
    let told = |value: &Value| {
        text.contains(&value.to_string())
            || value.as_str().is_some_and(|words| text.contains(words))
    };
    match serde_json::from_str(arguments) {
        Ok(Value::Object(members)) => members.values().all(told),
        Ok(value) => told(&value),
        Err(_) => text.contains(arguments.trim()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x13_what_is_asked_says_all_that_would_be_done() {
        let mut made = Made::new(Rates::default(), Duration::from_mins(1));
        let (first, second) = (StepId(0), StepId(1));
        for (step, text) in [(first, r#"{"host":"prod","#), (first, r#""force":true}"#)] {
            made.event(None, Event::ArgumentsAppended { step, text: text.into() });
        }
        made.event(
            None,
            Event::ArgumentsAppended { step: second, text: r#"{"command":"ls"}"#.into() },
        );
        let ask = |made: &mut Made, text: &'static str, step| {
            made.event(
                None,
                Event::AskOpened {
                    ask: "a".into(),
                    kind: engine::event::AskKind::Tool,
                    text: text.into(),
                    options: Vec::new(),
                    step: Some(step),
                    digest: None,
                    expires_at_ms: None,
                },
            );
            match made.facts.last() {
                Some((_, Event::AskOpened { text, digest: Some(_), .. })) => text.to_string(),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(
            ask(&mut made, "deploy: *", first),
            "deploy: *\n{\"host\":\"prod\",\"force\":true}"
        );
        assert_eq!(ask(&mut made, "bash: ls", second), "bash: ls");
    }
}
