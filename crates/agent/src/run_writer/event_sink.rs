//! Collects the engine's events for the log, and adds what the source does not know: tool details,
//! costs, and the digest and expiry of asks.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use millpond_engine::event::{Event, Executor, Millis, Sink, StepId, ToolKind, Trace, UsageScope};
use millpond_log::TimedEvent;
use millpond_log::clock::now_ms;
use millpond_log::digest::Digest;
use millpond_log::id::{RunId, SessionId};
use millpond_log::stream_debug::StreamDebug;
use serde_json::Value;

use crate::approval::escape_invisible_chars;
use crate::limits::ASK_ARGUMENTS_BYTES_MAX;
use crate::model::TokenRates;

/// Kind, server and name of a tool that the model refers to only by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolDetails {
    /// Kind shown for the tool.
    pub kind: ToolKind,
    /// The MCP server that has the tool.
    pub server: Option<String>,
    /// The tool's name on its server.
    pub name: String,
}

/// Tool details by the name that the model uses.
pub type ToolDetailsByName = BTreeMap<String, ToolDetails>;

/// Sink for the engine's events, which are not appended yet.
#[derive(Debug)]
pub(super) struct EventSink {
    pub(super) pending_events: Vec<TimedEvent>,
    /// The run's prompt, if its source repeats it.
    pub(super) prompt_echo: Option<String>,
    pub(super) tool_details: ToolDetailsByName,
    pub(super) rates: TokenRates,
    /// Time a person has to answer an ask.
    answer_timeout: Duration,
    /// Arguments of the calls that have not ended.
    call_arguments: BTreeMap<StepId, KeptArguments>,
    /// Debug log of the run's decisions.
    pub(super) stream_debug: Option<RunDebug>,
}

/// Debug log of one run.
#[derive(Debug)]
pub(super) struct RunDebug {
    pub(super) stream_debug: StreamDebug,
    pub(super) session: SessionId,
    pub(super) run: RunId,
}

/// The beginning of a call's arguments, and the size of the rest.
#[derive(Debug, Default)]
struct KeptArguments {
    text: String,
    omitted_bytes: usize,
}

impl KeptArguments {
    /// Appends a piece; after the limit, or after a piece that did not fit, only counts it.
    fn append_within_limit(&mut self, piece: &str) {
        let available = match self.omitted_bytes {
            0 => ASK_ARGUMENTS_BYTES_MAX.saturating_sub(self.text.len()),
            _ => 0,
        };
        let kept = piece.floor_char_boundary(available.min(piece.len()));
        self.text.push_str(&piece[..kept]);
        self.omitted_bytes += piece.len() - kept;
    }
}

impl Sink for EventSink {
    fn on_event(&mut self, at: Option<Millis>, event: Event<'_>) {
        match event {
            // `RunStarted` is already in the log; the gateway writes it.
            Event::RunStarted { .. } => {}
            Event::PromptReceived { text, .. }
                if self.prompt_echo.as_ref().is_some_and(|echo| text.trim() == echo.trim()) => {}
            event => {
                self.track_arguments(&event);
                self.pending_events
                    .push((at, self.add_tool_cost_and_ask_details(event.into_owned())));
            }
        }
    }

    fn on_trace(&mut self, trace: Trace<'_>) {
        if let Some(RunDebug { stream_debug, session, run }) = &self.stream_debug {
            stream_debug.write_trace_if_on(*session, *run, &trace);
        }
    }
}

impl EventSink {
    pub(super) fn new(rates: TokenRates, answer_timeout: Duration) -> EventSink {
        let (pending_events, prompt_echo, tool_details) =
            (Vec::new(), None, ToolDetailsByName::new());
        EventSink {
            pending_events,
            prompt_echo,
            tool_details,
            rates,
            answer_timeout,
            call_arguments: BTreeMap::new(),
            stream_debug: None,
        }
    }

    pub(super) fn expiry_for_new_ask(&self) -> Millis {
        let timeout_ms = u64::try_from(self.answer_timeout.as_millis()).unwrap_or(u64::MAX);
        now_ms().saturating_add(timeout_ms)
    }

    fn track_arguments(&mut self, event: &Event<'_>) {
        match event {
            Event::ArgumentsAppended { step, text } => {
                self.call_arguments.entry(*step).or_default().append_within_limit(text);
            }
            Event::ArgumentsReplaced { step, text } => {
                let mut arguments = KeptArguments::default();
                arguments.append_within_limit(text);
                self.call_arguments.insert(*step, arguments);
            }
            Event::ToolEnded { step, .. } => {
                self.call_arguments.remove(step);
            }
            _ => {}
        }
    }

    /// Appends the call's arguments to the ask's text if it lacks some: some agents show fewer.
    fn add_missing_arguments_to_ask<'a>(
        &self,
        text: Cow<'a, str>,
        step: Option<StepId>,
    ) -> Cow<'a, str> {
        match step.and_then(|step| self.call_arguments.get(&step)) {
            Some(KeptArguments { text: arguments, omitted_bytes: 1.. }) => {
                format!("{text}\n{arguments}\n[arguments too long: the rest is not shown]").into()
            }
            Some(KeptArguments { text: arguments, .. })
                if !text_contains_all_argument_values(&text, arguments) =>
            {
                format!("{text}\n{arguments}").into()
            }
            _ => text,
        }
    }

    /// Adds what the source cannot know: tool details, costs, ask digests and expiries.
    fn add_tool_cost_and_ask_details(&self, event: Event<'static>) -> Event<'static> {
        match event {
            Event::ToolStarted {
                step,
                round,
                call,
                name,
                kind: kind @ (ToolKind::Function | ToolKind::Action),
                executor: executor @ Executor::Client,
                server: None,
                parent,
            } if let Some(details) = self.tool_details.get(&*name) => Event::ToolStarted {
                step,
                round,
                call,
                name: details.name.clone().into(),
                kind: if kind == ToolKind::Action { kind } else { details.kind },
                executor,
                server: details.server.clone().map(Into::into),
                parent,
            },
            Event::UsageReported { scope: UsageScope::Round, mut usage } => {
                usage.cost_usd = usage.cost_usd.or(self.rates.cost_usd(&usage));
                Event::UsageReported { scope: UsageScope::Round, usage }
            }
            // An external agent's ask gets a digest of what is shown, and an expiry.
            Event::AskOpened { ask, kind, text, options, step, digest: None, expires_at_ms } => {
                let text = escape_invisible_chars(&self.add_missing_arguments_to_ask(text, step));
                let digest_input = serde_json::json!([ask, kind, text, options]).to_string();
                let digest = Some(Digest::sha256(digest_input.as_bytes()).to_string().into());
                let expires_at_ms = expires_at_ms.or(Some(self.expiry_for_new_ask()));
                let text = text.into();
                Event::AskOpened { ask, kind, text, options, step, digest, expires_at_ms }
            }
            event => event,
        }
    }
}

/// True if `text` contains the value of every argument.
fn text_contains_all_argument_values(text: &str, arguments: &str) -> bool {
    let is_contained = |value: &Value| {
        text.contains(&value.to_string())
            || value.as_str().is_some_and(|string| text.contains(string))
    };
    match serde_json::from_str(arguments) {
        Ok(Value::Object(members)) => members.values().all(is_contained),
        Ok(value) => is_contained(&value),
        Err(_) => text.contains(arguments.trim()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x13_what_is_asked_says_all_that_would_be_done() {
        let mut sink = EventSink::new(TokenRates::default(), Duration::from_mins(1));
        let (first, second) = (StepId(0), StepId(1));
        for (step, text) in [(first, r#"{"host":"prod","#), (first, r#""force":true}"#)] {
            sink.on_event(None, Event::ArgumentsAppended { step, text: text.into() });
        }
        sink.on_event(
            None,
            Event::ArgumentsAppended { step: second, text: r#"{"command":"ls"}"#.into() },
        );
        let ask = |sink: &mut EventSink, text: &'static str, step| {
            sink.on_event(
                None,
                Event::AskOpened {
                    ask: "a".into(),
                    kind: millpond_engine::event::AskKind::Tool,
                    text: text.into(),
                    options: Vec::new(),
                    step: Some(step),
                    digest: None,
                    expires_at_ms: None,
                },
            );
            match sink.pending_events.last() {
                Some((_, Event::AskOpened { text, digest: Some(_), .. })) => text.to_string(),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(
            ask(&mut sink, "deploy: *", first),
            "deploy: *\n{\"host\":\"prod\",\"force\":true}"
        );
        assert_eq!(ask(&mut sink, "bash: ls", second), "bash: ls");
    }

    #[test]
    fn x13_arguments_that_are_too_long_are_shown_without_a_hole() {
        let whole = format!(r#"{{"command":"{}; rm -rf /"}}"#, "a".repeat(ASK_ARGUMENTS_BYTES_MAX));
        let (begin, end) = whole.split_at(ASK_ARGUMENTS_BYTES_MAX - 10);
        let (middle, end) = end.split_at(end.len() - 2);
        let step = StepId(0);
        let shown = |events: Vec<Event<'static>>| {
            let mut sink = EventSink::new(TokenRates::default(), Duration::from_mins(1));
            for event in events {
                sink.on_event(None, event);
            }
            sink.add_missing_arguments_to_ask("bash".into(), Some(step)).into_owned()
        };
        let append = |text: &str| Event::ArgumentsAppended { step, text: text.to_owned().into() };
        let expected = format!(
            "bash\n{}\n[arguments too long: the rest is not shown]",
            &whole[..ASK_ARGUMENTS_BYTES_MAX]
        );
        assert_eq!(shown(vec![append(begin), append(middle), append(end)]), expected);
        let replaced = Event::ArgumentsReplaced { step, text: whole.clone().into() };
        assert_eq!(shown(vec![append("{}"), replaced]), expected);
    }
}
