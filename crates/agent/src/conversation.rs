//! The conversation as its log tells it: what is sent back to a model so that it can go on.
//!
//! Does: fold records into turns. Does not: know any provider.
//!
//! Invariant: every call stands before exactly one result, also where the log has none.

use std::collections::{BTreeMap, BTreeSet};

use engine::event::{
    AnsweredBy, Event, Executor, Image, MessageId, Owner, Record, StepId, ToolOutcome,
};
use gateway::agent::Prompt;

/// One side's turn.
#[derive(Clone, Debug, PartialEq)]
pub enum Turn {
    Person(Prompt),
    Agent(Vec<Part>),
    Results(Vec<ToolResult>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    Text(String),
    Thought { text: String, seal: Option<String> },
    Call(Call),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub step: StepId,
    pub id: String,
    /// As the model called it.
    pub name: String,
    /// JSON, as the model wrote it.
    pub arguments: String,
    pub seal: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    pub id: String,
    pub name: String,
    pub text: String,
    pub images: Vec<Image<'static>>,
    pub failed: bool,
}

/// Told where a result never came.
const NO_RESULT: &str = "(The run ended before this tool had a result.)";

/// All records of a session so far, folded.
#[derive(Clone, Debug, Default)]
pub struct Conversation {
    turns: Vec<Turn>,
    run: Open,
    always: BTreeSet<String>,
    /// What the person said last.
    prompt: Prompt,
}

/// What may still grow: the parts of the run that is going, by their names in it.
#[derive(Clone, Debug, Default)]
struct Open {
    name: String,
    rounds: u32,
    /// Which turn, and which part of it.
    messages: BTreeMap<MessageId, Place>,
    thoughts: BTreeMap<StepId, Place>,
    calls: BTreeMap<StepId, Pending>,
    asks: BTreeMap<String, StepId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    turn: usize,
    part: usize,
}

#[derive(Clone, Debug)]
struct Pending {
    place: Place,
    result: ToolResult,
    ended: bool,
    /// Whether a result came before it ended.
    came: bool,
    withdrawn: bool,
}

/// Characters that a tool's name may have for every provider.
const NAME_MAX: usize = 64;

/// The name by which a model calls a tool that a server has, in characters that every provider takes.
pub fn called(server: Option<&str>, name: &str) -> String {
    let Some(server) = server else { return name.to_owned() };
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    format!("{server}__{name}").chars().map(plain).take(NAME_MAX).collect()
}

impl Conversation {
    pub fn hear(&mut self, record: &Record<'_>) {
        if *self.run.name != *record.run {
            self.settle();
            record.run.as_ref().clone_into(&mut self.run.name);
        }
        self.event(&record.event);
    }

    /// What the run that is going says next.
    pub fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::PromptReceived { text, images } => {
                self.settle_results();
                let images = images.iter().cloned().map(Image::into_owned).collect();
                self.prompt = Prompt { text: text.to_string(), images };
                self.turns.push(Turn::Person(self.prompt.clone()));
            }
            Event::RoundStarted { .. } => {
                self.settle_results();
                self.run.rounds += 1;
                self.turns.push(Turn::Agent(Vec::new()));
            }
            Event::MessageStarted { message, .. } => {
                let place = self.part(Part::Text(String::new()));
                self.run.messages.insert(*message, place);
            }
            Event::TextAppended { message, text } => {
                if let Some(said) = self.text(*message) {
                    said.push_str(text);
                }
            }
            Event::TextRewritten { message, kept_bytes, text } => {
                if let Some(said) = self.text(*message) {
                    said.truncate(said.floor_char_boundary(*kept_bytes));
                    said.push_str(text);
                }
            }
            Event::ReasoningStarted { step, .. } => {
                let place = self.part(Part::Thought { text: String::new(), seal: None });
                self.run.thoughts.insert(*step, place);
            }
            Event::ReasoningAppended { step, text: more } => {
                let place = self.run.thoughts.get(step).copied();
                if let Some(Part::Thought { text, .. }) = self.at(place) {
                    text.push_str(more);
                }
            }
            Event::StepSealed { step, seal } => self.seal(*step, seal),
            Event::Withdrawn { messages, steps } => self.withdraw(messages, steps),
            Event::HistoryCompacted { summary: Some(summary) } => self.compact(summary),
            Event::RunEnded { .. } => self.settle(),
            _ => self.tool_event(event),
        }
    }

    fn tool_event(&mut self, event: &Event<'_>) {
        match event {
            Event::ToolStarted {
                step,
                call,
                name,
                executor: Executor::Client,
                server,
                parent: None,
                ..
            } => self.call(*step, call, &called(server.as_deref(), name)),
            Event::ArgumentsAppended { step, text } => {
                if let Some(call) = self.call_of(*step) {
                    call.arguments.push_str(text);
                }
            }
            Event::ArgumentsReplaced { step, text } => {
                if let Some(call) = self.call_of(*step) {
                    text.as_ref().clone_into(&mut call.arguments);
                }
            }
            Event::OutputAppended { step, text } => {
                if let Some(pending) = self.run.calls.get_mut(step) {
                    pending.result.text.push_str(text);
                }
            }
            Event::ImageReceived { owner: Owner::Step(step), image } => {
                if let Some(pending) = self.run.calls.get_mut(step) {
                    pending.result.images.push(image.clone().into_owned());
                }
            }
            Event::ToolEnded { step, outcome, detail } => {
                if let Some(pending) = self.run.calls.get_mut(step) {
                    pending.end(*outcome, detail.as_deref());
                }
            }
            Event::AskOpened { ask, step: Some(step), .. } => {
                self.run.asks.insert(ask.to_string(), *step);
            }
            Event::AskResolved { ask, answer, by: AnsweredBy::Person } if answer == "always" => {
                let step = self.run.asks.get(&**ask).copied();
                let name = step.and_then(|step| self.run.calls.get(&step));
                self.always.extend(name.map(|pending| pending.result.name.clone()));
            }
            _ => {}
        }
    }

    /// Rounds of the run that is going.
    pub fn rounds(&self) -> u32 {
        self.run.rounds
    }

    /// Tools that a person has allowed for the rest of this session.
    pub fn is_always_allowed(&self, tool: &str) -> bool {
        self.always.contains(tool)
    }

    /// Calls of the last round that have no result yet, in the order in which they were made.
    pub fn pending(&self) -> Vec<Call> {
        let open = self.run.calls.values().filter(|call| !call.ended && !call.withdrawn);
        let calls = open.filter_map(|pending| match self.peek(pending.place) {
            Some(Part::Call(call)) => Some(call.clone()),
            _ => None,
        });
        calls.collect()
    }

    /// All turns, as a model is to see them.
    pub fn turns(&self) -> Vec<Turn> {
        let mut all = self.clone();
        all.settle();
        for turn in &mut all.turns {
            if let Turn::Agent(parts) = turn {
                let is_said = |part: &Part| match part {
                    Part::Text(text) => !text.trim().is_empty(),
                    Part::Call(_) => true,
                    Part::Thought { .. } => false,
                };
                // No provider takes back a thought that nothing came of.
                let said = parts.iter().rposition(is_said).map_or(0, |at| at + 1);
                parts.truncate(said);
            }
        }
        all.turns.retain(|turn| match turn {
            Turn::Agent(parts) => !parts.is_empty(),
            Turn::Results(results) => !results.is_empty(),
            Turn::Person(_) => true,
        });
        all.turns
    }

    fn call(&mut self, step: StepId, id: &str, name: &str) {
        let (id, name) = (id.to_owned(), name.to_owned());
        let call =
            Call { step, id: id.clone(), name: name.clone(), arguments: String::new(), seal: None };
        let place = self.part(Part::Call(call));
        let result =
            ToolResult { id, name, text: String::new(), images: Vec::new(), failed: false };
        self.run
            .calls
            .insert(step, Pending { place, result, ended: false, came: false, withdrawn: false });
    }

    fn part(&mut self, part: Part) -> Place {
        if !matches!(self.turns.last(), Some(Turn::Agent(_))) {
            self.turns.push(Turn::Agent(Vec::new()));
        }
        let turn = self.turns.len() - 1;
        let Some(Turn::Agent(parts)) = self.turns.last_mut() else {
            return Place { turn, part: 0 };
        };
        parts.push(part);
        Place { turn, part: parts.len() - 1 }
    }

    fn peek(&self, place: Place) -> Option<&Part> {
        match self.turns.get(place.turn)? {
            Turn::Agent(parts) => parts.get(place.part),
            Turn::Person(_) | Turn::Results(_) => None,
        }
    }

    fn at(&mut self, place: Option<Place>) -> Option<&mut Part> {
        let place = place?;
        match self.turns.get_mut(place.turn)? {
            Turn::Agent(parts) => parts.get_mut(place.part),
            Turn::Person(_) | Turn::Results(_) => None,
        }
    }

    fn text(&mut self, message: MessageId) -> Option<&mut String> {
        let place = self.run.messages.get(&message).copied();
        match self.at(place)? {
            Part::Text(text) => Some(text),
            Part::Thought { .. } | Part::Call(_) => None,
        }
    }

    fn call_of(&mut self, step: StepId) -> Option<&mut Call> {
        let place = self.run.calls.get(&step).map(|pending| pending.place);
        match self.at(place)? {
            Part::Call(call) => Some(call),
            Part::Text(_) | Part::Thought { .. } => None,
        }
    }

    fn seal(&mut self, step: StepId, given: &str) {
        let thought = self.run.thoughts.get(&step).copied();
        if let Some(Part::Thought { seal, .. }) = self.at(thought) {
            *seal = Some(given.to_owned());
        } else if let Some(call) = self.call_of(step) {
            call.seal = Some(given.to_owned());
        }
    }

    /// What was taken back is blank from now on, and blank parts are never sent.
    fn withdraw(&mut self, messages: &[MessageId], steps: &[StepId]) {
        for message in messages {
            if let Some(text) = self.text(*message) {
                text.clear();
            }
        }
        for step in steps {
            let thought = self.run.thoughts.get(step).copied();
            if let Some(part) = self.at(thought) {
                *part = Part::Text(String::new());
            }
            let call = self.run.calls.get_mut(step).map(|pending| {
                pending.withdrawn = true;
                pending.place
            });
            if let Some(part) = self.at(call) {
                *part = Part::Text(String::new());
            }
        }
    }

    /// The summary stands for all that was said; what the person said last is kept beside it.
    fn compact(&mut self, summary: &str) {
        self.settle_results();
        let text = format!(
            "Summary of the conversation so far, made when it had grown too long:\n\n{summary}\n\n\
             What the person said last:\n\n{}",
            self.prompt.text
        );
        self.turns = vec![Turn::Person(Prompt { text, images: self.prompt.images.clone() })];
        self.run.messages.clear();
        self.run.thoughts.clear();
    }

    pub fn has_pictures(&self) -> bool {
        let of_results =
            |results: &[ToolResult]| results.iter().any(|result| !result.images.is_empty());
        let in_turns = self.turns.iter().any(|turn| match turn {
            Turn::Person(prompt) => !prompt.images.is_empty(),
            Turn::Agent(_) => false,
            Turn::Results(results) => of_results(results),
        });
        in_turns || self.run.calls.values().any(|pending| !pending.result.images.is_empty())
    }

    /// How long all turns are, about.
    pub fn bytes(&self) -> usize {
        let part = |part: &Part| match part {
            Part::Text(text) => text.len(),
            Part::Thought { text, seal } => text.len() + seal.as_ref().map_or(0, String::len),
            Part::Call(call) => call.arguments.len() + call.name.len(),
        };
        let turns = self.turns.iter().map(|turn| match turn {
            Turn::Person(prompt) => prompt.text.len(),
            Turn::Agent(parts) => parts.iter().map(part).sum(),
            Turn::Results(results) => results.iter().map(|result| result.text.len()).sum(),
        });
        let pending = self.run.calls.values().map(|pending| pending.result.text.len());
        turns.chain(pending).sum()
    }

    /// Puts the results of the round below it.
    fn settle_results(&mut self) {
        let calls = std::mem::take(&mut self.run.calls);
        let results =
            calls.into_values().filter(|pending| !pending.withdrawn).map(Pending::settled);
        let results: Vec<ToolResult> = results.collect();
        if !results.is_empty() {
            self.turns.push(Turn::Results(results));
        }
    }

    /// The run is over: nothing of it changes any more.
    fn settle(&mut self) {
        self.settle_results();
        self.run = Open { name: std::mem::take(&mut self.run.name), ..Open::default() };
        for turn in &mut self.turns {
            if let Turn::Agent(parts) = turn {
                parts.retain(|part| !matches!(part, Part::Text(text) if text.is_empty()));
            }
        }
    }
}

impl Pending {
    fn end(&mut self, outcome: ToolOutcome, detail: Option<&str>) {
        self.ended = true;
        self.came = !matches!(outcome, ToolOutcome::NoResult | ToolOutcome::Cut);
        self.result.failed = outcome != ToolOutcome::Succeeded;
        if let Some(detail) = detail.filter(|_| self.result.failed) {
            if !self.result.text.is_empty() {
                self.result.text.push('\n');
            }
            self.result.text.push_str(detail);
        }
    }

    fn settled(self) -> ToolResult {
        let Pending { mut result, came, .. } = self;
        if !came {
            result.failed = true;
            let blank = if result.text.is_empty() { "" } else { "\n" };
            result.text.extend([blank, NO_RESULT]);
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use engine::event::ReasoningOrigin;

    use super::*;

    #[test]
    fn a_thought_that_nothing_came_of_is_not_given_back() {
        let mut conversation = Conversation::default();
        let round = |round| Event::RoundStarted { round, model: None, response: None };
        let thought = |step| Event::ReasoningStarted {
            step: StepId(step),
            round: 0,
            origin: ReasoningOrigin::Native,
        };
        let message = MessageId(0);
        for event in [
            Event::PromptReceived { text: "Go".into(), images: Vec::new() },
            round(0),
            thought(0),
            Event::MessageStarted { message, round: 0, phase: None },
            Event::TextAppended { message, text: "Well".into() },
            thought(1),
            round(1),
            thought(2),
        ] {
            conversation.event(&event);
        }
        let turns = conversation.turns();
        let Turn::Agent(parts) = &turns[1] else { panic!("{turns:?}") };
        assert_eq!(turns.len(), 2, "{turns:?}");
        assert!(matches!(&parts[..], [Part::Thought { .. }, Part::Text(_)]), "{parts:?}");
    }
}
