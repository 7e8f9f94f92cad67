//! Folds a session's records into the turns that are sent to a model.
//!
//! Does not depend on any provider's format.
//!
//! Invariant: every call is followed by exactly one result, even if the log has none.

mod message_text;
mod pending_call;
mod turn;

use std::collections::{BTreeMap, BTreeSet};

use millpond_engine::event::{
    AnsweredBy, Event, Executor, Image, ImageOwner, MessageId, Record, StepId,
};
use millpond_log::agent::Prompt;

use pending_call::{PartPosition, PendingCall};

pub use turn::{Call, Part, ToolResult, Turn, qualify_tool_name_for_model};

/// Fold of all records of a session so far.
#[derive(Clone, Debug, Default)]
pub struct Conversation {
    turns: Vec<Turn>,
    active_run: ActiveRun,
    always_allowed_tools: BTreeSet<String>,
    /// The last prompt.
    last_prompt: Prompt,
}

/// Positions of the active run's parts, which may still change.
#[derive(Clone, Debug, Default)]
struct ActiveRun {
    run_id: String,
    rounds: u32,
    /// A message has several parts if thoughts came between its texts.
    message_parts: BTreeMap<MessageId, Vec<PartPosition>>,
    thought_parts: BTreeMap<StepId, PartPosition>,
    calls: BTreeMap<StepId, PendingCall>,
    ask_steps: BTreeMap<String, StepId>,
}

impl Conversation {
    /// Applies a record of the log.
    pub fn apply(&mut self, record: &Record<'_>) {
        if *self.active_run.run_id != *record.run {
            self.close_active_run();
            record.run.as_ref().clone_into(&mut self.active_run.run_id);
        }
        self.apply_event(&record.event);
    }

    /// Applies an event of the active run.
    pub fn apply_event(&mut self, event: &Event<'_>) {
        match event {
            Event::PromptReceived { text, images, .. } => {
                self.end_calls_and_append_results();
                let images = images.iter().cloned().map(Image::into_owned).collect();
                self.last_prompt = Prompt { text: text.to_string(), images };
                self.turns.push(Turn::Person(self.last_prompt.clone()));
            }
            Event::RoundStarted { .. } => {
                self.end_calls_and_append_results();
                self.active_run.rounds += 1;
                self.turns.push(Turn::Agent(Vec::new()));
            }
            Event::MessageStarted { message, .. } => {
                let position = self.append_agent_part(Part::Text(String::new()));
                self.active_run.message_parts.insert(*message, vec![position]);
            }
            Event::TextAppended { message, text } => self.append_message_text(*message, text),
            Event::TextRewritten { message, kept_bytes, text } => {
                self.truncate_message_text(*message, *kept_bytes);
                self.append_message_text(*message, text);
            }
            Event::ReasoningStarted { step, .. } => {
                let position =
                    self.append_agent_part(Part::Thought { text: String::new(), seal: None });
                self.active_run.thought_parts.insert(*step, position);
            }
            Event::ReasoningAppended { step, text: more } => {
                let position = self.active_run.thought_parts.get(step).copied();
                if let Some(Part::Thought { text, .. }) = self.part_at_mut(position) {
                    text.push_str(more);
                }
            }
            Event::StepSealed { step, seal } => self.set_step_seal(*step, seal),
            Event::Withdrawn { messages, steps } => self.blank_withdrawn_parts(messages, steps),
            Event::HistoryCompacted { summary: Some(summary) } => {
                self.replace_turns_with_summary_and_prompt(summary);
            }
            Event::RunEnded { .. } => self.close_active_run(),
            _ => self.apply_tool_or_ask_event(event),
        }
    }

    fn apply_tool_or_ask_event(&mut self, event: &Event<'_>) {
        match event {
            Event::ToolStarted {
                step,
                call,
                name,
                executor: Executor::Client,
                server,
                parent: None,
                ..
            } => self.add_call(*step, call, &qualify_tool_name_for_model(server.as_deref(), name)),
            Event::ArgumentsAppended { step, text } => {
                if let Some(call) = self.find_active_call_mut(*step) {
                    call.arguments.push_str(text);
                }
            }
            Event::ArgumentsReplaced { step, text } => {
                if let Some(call) = self.find_active_call_mut(*step) {
                    text.as_ref().clone_into(&mut call.arguments);
                }
            }
            Event::OutputAppended { step, text } => {
                if let Some(pending) = self.active_run.calls.get_mut(step) {
                    pending.result.text.push_str(text);
                }
            }
            Event::OutputReplaced { step, text } => {
                if let Some(pending) = self.active_run.calls.get_mut(step) {
                    text.as_ref().clone_into(&mut pending.result.text);
                }
            }
            Event::ImageReceived { owner: ImageOwner::Step(step), image } => {
                if let Some(pending) = self.active_run.calls.get_mut(step) {
                    pending.result.images.push(image.clone().into_owned());
                }
            }
            Event::ToolEnded { step, outcome, detail } => {
                if let Some(pending) = self.active_run.calls.get_mut(step) {
                    pending.end_with_outcome_and_detail(*outcome, detail.as_deref());
                }
            }
            Event::AskOpened { ask, step: Some(step), .. } => {
                self.active_run.ask_steps.insert(ask.to_string(), *step);
            }
            Event::AskResolved { ask, answer, by: AnsweredBy::Person } if answer == "always" => {
                let step = self.active_run.ask_steps.get(&**ask).copied();
                let name = step.and_then(|step| self.active_run.calls.get(&step));
                self.always_allowed_tools.extend(name.map(|pending| pending.result.name.clone()));
            }
            _ => {}
        }
    }

    /// Rounds of the active run.
    pub fn active_run_round_count(&self) -> u32 {
        self.active_run.rounds
    }

    /// True if a person has allowed the tool for the rest of this session.
    pub fn is_tool_always_allowed(&self, tool: &str) -> bool {
        self.always_allowed_tools.contains(tool)
    }

    /// Calls of the last round without a result, in order.
    pub fn pending_calls(&self) -> Vec<Call> {
        let pending_calls =
            self.active_run.calls.values().filter(|call| !call.is_ended && !call.is_withdrawn);
        let calls = pending_calls.filter_map(|pending| match self.part_at(pending.position) {
            Some(Part::Call(call)) => Some(call.clone()),
            _ => None,
        });
        calls.collect()
    }

    /// Builds the turns to send to a model: a copy with the active run closed, without trailing
    /// reasoning and empty turns.
    pub fn build_sendable_turns(&self) -> Vec<Turn> {
        let mut conversation = self.clone();
        conversation.close_active_run();
        for turn in &mut conversation.turns {
            if let Turn::Agent(parts) = turn {
                let is_sendable = |part: &Part| match part {
                    Part::Text(text) => !text.trim().is_empty(),
                    Part::Call(_) => true,
                    Part::Thought { .. } => false,
                };
                // Providers reject trailing reasoning.
                let kept_len = parts.iter().rposition(is_sendable).map_or(0, |at| at + 1);
                parts.truncate(kept_len);
            }
        }
        conversation.turns.retain(|turn| match turn {
            Turn::Agent(parts) => !parts.is_empty(),
            Turn::Results(results) => !results.is_empty(),
            Turn::Person(_) => true,
        });
        conversation.turns
    }

    /// Adds a call part and its pending result.
    fn add_call(&mut self, step: StepId, id: &str, name: &str) {
        let (id, name) = (id.to_owned(), name.to_owned());
        let call =
            Call { step, id: id.clone(), name: name.clone(), arguments: String::new(), seal: None };
        let position = self.append_agent_part(Part::Call(call));
        let result =
            ToolResult { id, name, text: String::new(), images: Vec::new(), failed: false };
        self.active_run.calls.insert(
            step,
            PendingCall {
                position,
                result,
                is_ended: false,
                has_result: false,
                is_withdrawn: false,
            },
        );
    }

    /// Appends a part to the current agent turn.
    fn append_agent_part(&mut self, part: Part) -> PartPosition {
        if !matches!(self.turns.last(), Some(Turn::Agent(_))) {
            self.turns.push(Turn::Agent(Vec::new()));
        }
        let turn = self.turns.len() - 1;
        let Some(Turn::Agent(parts)) = self.turns.last_mut() else {
            return PartPosition { turn, part: 0 };
        };
        parts.push(part);
        PartPosition { turn, part: parts.len() - 1 }
    }

    fn part_at(&self, position: PartPosition) -> Option<&Part> {
        match self.turns.get(position.turn)? {
            Turn::Agent(parts) => parts.get(position.part),
            Turn::Person(_) | Turn::Results(_) => None,
        }
    }

    fn part_at_mut(&mut self, position: Option<PartPosition>) -> Option<&mut Part> {
        let position = position?;
        match self.turns.get_mut(position.turn)? {
            Turn::Agent(parts) => parts.get_mut(position.part),
            Turn::Person(_) | Turn::Results(_) => None,
        }
    }

    fn find_active_call_mut(&mut self, step: StepId) -> Option<&mut Call> {
        let position = self.active_run.calls.get(&step).map(|pending| pending.position);
        match self.part_at_mut(position)? {
            Part::Call(call) => Some(call),
            Part::Text(_) | Part::Thought { .. } => None,
        }
    }

    fn set_step_seal(&mut self, step: StepId, new_seal: &str) {
        let position = self.active_run.thought_parts.get(&step).copied();
        if let Some(Part::Thought { seal, .. }) = self.part_at_mut(position) {
            *seal = Some(new_seal.to_owned());
        } else if let Some(call) = self.find_active_call_mut(step) {
            call.seal = Some(new_seal.to_owned());
        }
    }

    /// Blanks withdrawn parts; blank parts are never sent.
    fn blank_withdrawn_parts(&mut self, messages: &[MessageId], steps: &[StepId]) {
        for message in messages {
            self.truncate_message_text(*message, 0);
        }
        for step in steps {
            let position = self.active_run.thought_parts.get(step).copied();
            if let Some(part) = self.part_at_mut(position) {
                *part = Part::Text(String::new());
            }
            let call = self.active_run.calls.get_mut(step).map(|pending| {
                pending.is_withdrawn = true;
                pending.position
            });
            if let Some(part) = self.part_at_mut(call) {
                *part = Part::Text(String::new());
            }
        }
    }

    /// Replaces all turns by the summary and the last prompt.
    fn replace_turns_with_summary_and_prompt(&mut self, summary: &str) {
        self.end_calls_and_append_results();
        let text = format!(
            "Summary of the conversation so far, made when it had grown too long:\n\n{summary}\n\n\
             What the person said last:\n\n{}",
            self.last_prompt.text
        );
        self.turns = vec![Turn::Person(Prompt { text, images: self.last_prompt.images.clone() })];
        self.active_run.message_parts.clear();
        self.active_run.thought_parts.clear();
    }

    /// True if any prompt or result has an image.
    pub fn has_images(&self) -> bool {
        let has_result_image =
            |results: &[ToolResult]| results.iter().any(|result| !result.images.is_empty());
        let has_turn_image = self.turns.iter().any(|turn| match turn {
            Turn::Person(prompt) => !prompt.images.is_empty(),
            Turn::Agent(_) => false,
            Turn::Results(results) => has_result_image(results),
        });
        has_turn_image
            || self.active_run.calls.values().any(|pending| !pending.result.images.is_empty())
    }

    /// Approximate size of all turns in bytes.
    pub fn approximate_text_bytes(&self) -> usize {
        let part_bytes = |part: &Part| match part {
            Part::Text(text) => text.len(),
            Part::Thought { text, seal } => text.len() + seal.as_ref().map_or(0, String::len),
            Part::Call(call) => call.arguments.len() + call.name.len(),
        };
        let turns = self.turns.iter().map(|turn| match turn {
            Turn::Person(prompt) => prompt.text.len(),
            Turn::Agent(parts) => parts.iter().map(part_bytes).sum(),
            Turn::Results(results) => results.iter().map(|result| result.text.len()).sum(),
        });
        let pending = self.active_run.calls.values().map(|pending| pending.result.text.len());
        turns.chain(pending).sum()
    }

    /// Appends the pending results as a turn.
    fn end_calls_and_append_results(&mut self) {
        let calls = std::mem::take(&mut self.active_run.calls);
        let results = calls
            .into_values()
            .filter(|pending| !pending.is_withdrawn)
            .map(PendingCall::into_result_or_missing_result);
        let results: Vec<ToolResult> = results.collect();
        if !results.is_empty() {
            self.turns.push(Turn::Results(results));
        }
    }

    /// Closes the active run: moves its results to the turns, forgets the positions of its parts,
    /// and removes empty text parts.
    fn close_active_run(&mut self) {
        self.end_calls_and_append_results();
        self.active_run = ActiveRun {
            run_id: std::mem::take(&mut self.active_run.run_id),
            ..ActiveRun::default()
        };
        for turn in &mut self.turns {
            if let Turn::Agent(parts) = turn {
                parts.retain(|part| !matches!(part, Part::Text(text) if text.is_empty()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use millpond_engine::event::ReasoningOrigin;

    use super::*;

    #[test]
    fn a_thought_that_nothing_came_of_is_not_given_back() {
        let mut conversation = Conversation::default();
        let round = |round| Event::RoundStarted { round, model: None, response: None };
        let thought = |step| Event::ReasoningStarted {
            step: StepId(step),
            round: 0,
            origin: ReasoningOrigin::Native,
            interrupts: None,
        };
        let message = MessageId(0);
        for event in [
            Event::PromptReceived {
                text: "Go".into(),
                images: Vec::new(),
                origin: millpond_engine::event::PromptOrigin::Person,
            },
            round(0),
            thought(0),
            Event::MessageStarted { message, round: 0, phase: None },
            Event::TextAppended { message, text: "Well".into() },
            thought(1),
            round(1),
            thought(2),
        ] {
            conversation.apply_event(&event);
        }
        let turns = conversation.build_sendable_turns();
        let Turn::Agent(parts) = &turns[1] else { panic!("{turns:?}") };
        assert_eq!(turns.len(), 2, "{turns:?}");
        assert!(matches!(&parts[..], [Part::Thought { .. }, Part::Text(_)]), "{parts:?}");
    }
}
