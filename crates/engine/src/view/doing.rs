//! What the agent is doing, in a word: derived here for every view, and nowhere else.
//!
//! Does not know what a view shows, only how much of thinking and tools its status may tell.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::event::{Event, MessageId, Owner, StepId};

use super::item::step_id;
use super::patch::{Patch, Status, ToolName, ToolPhase};
use super::{Options, Thinking};

/// What a view's status may tell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Telling {
    pub(super) thinking: Told,
    pub(super) tools: ToolNames,
}

/// Of thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    Nothing,
    /// That there is some.
    ThatItIs,
    /// Its newest words.
    Newest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolNames {
    Hidden,
    Told,
}

impl Telling {
    /// What a view that names tools tells.
    pub(super) fn new(options: Options) -> Telling {
        let thinking = match options.thinking {
            Thinking::Hide => Told::Nothing,
            Thinking::AsUsual | Thinking::Show => Told::ThatItIs,
            Thinking::Latest => Told::Newest,
        };
        Telling { thinking, tools: ToolNames::Told }
    }
}

/// Whether a person is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Nothing,
    Something,
}

#[derive(Clone, Debug)]
pub(super) struct Doing {
    telling: Telling,
    /// The message that is being written, if that is what goes on.
    writing: Option<MessageId>,
    newest: Option<MessageId>,
    /// Tools that are open, sub-agents' aside.
    tools: BTreeMap<StepId, String>,
}

impl Doing {
    pub(super) fn new(telling: Telling) -> Doing {
        Doing { telling, writing: None, newest: None, tools: BTreeMap::new() }
    }

    /// The same, before anything has happened.
    pub(super) fn anew(&self) -> Doing {
        Doing::new(self.telling)
    }

    pub(super) fn apply<'r>(
        &mut self,
        event: &'r Event<'_>,
        asked: Asked,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let Some(status) = self.status(event, asked) else { return };
        if status != Status::Writing {
            self.writing = None;
        }
        let told = std::mem::discriminant(&status);
        out(Patch::Status(status));
        if asked == Asked::Something && told != std::mem::discriminant(&Status::Waiting) {
            out(Patch::Status(Status::Waiting));
        }
    }

    /// What goes on now, if the event changes that.
    fn status<'r>(&mut self, event: &'r Event<'_>, asked: Asked) -> Option<Status<'r>> {
        match event {
            Event::TextAppended { message, .. } | Event::TextRewritten { message, .. } => {
                self.write(*message)
            }
            // A message may begin with a picture; one for an older message is no news.
            Event::ImageReceived { owner: Owner::Message(message), .. }
                if self.newest < Some(*message) =>
            {
                self.write(*message)
            }
            Event::RoundStarted { round, .. } => Some(Status::Streaming { round: *round }),
            Event::ReasoningStarted { .. } if self.telling.thinking != Told::Nothing => {
                Some(Status::Thinking { text: None })
            }
            Event::ReasoningAppended { text, .. } if self.telling.thinking == Told::Newest => {
                Some(Status::Thinking { text: Some(Cow::Borrowed(text)) })
            }
            Event::ToolStarted { step, name, parent: None, .. } => {
                self.tools.insert(*step, name.to_string());
                Some(self.working(*step, Cow::Borrowed(name), ToolPhase::Started))
            }
            Event::ToolEnded { step, .. } => {
                let name = self.tools.remove(step)?;
                Some(self.working(*step, Cow::Owned(name), ToolPhase::Ended))
            }
            Event::AskOpened { .. } => Some(Status::Waiting),
            Event::AskResolved { .. } if asked == Asked::Nothing => {
                Some(Status::Resumed { running: self.running(), only: self.only() })
            }
            Event::Withdrawn { steps, .. } => {
                for step in steps {
                    self.tools.remove(step);
                }
                None
            }
            _ => None,
        }
    }

    fn write(&mut self, message: MessageId) -> Option<Status<'static>> {
        if self.writing == Some(message) {
            return None;
        }
        self.writing = Some(message);
        self.newest = self.newest.max(self.writing);
        Some(Status::Writing)
    }

    fn running(&self) -> u32 {
        u32::try_from(self.tools.len()).unwrap_or(u32::MAX)
    }

    /// The tool that is open, where it is one and may be named.
    fn only(&self) -> Option<Cow<'static, str>> {
        let is_told = self.running() == 1 && self.telling.tools == ToolNames::Told;
        self.tools.values().next().filter(|_| is_told).map(|name| name.clone().into())
    }

    fn working<'r>(&self, step: StepId, name: Cow<'r, str>, phase: ToolPhase) -> Status<'r> {
        let tool = match self.telling.tools {
            ToolNames::Hidden => None,
            ToolNames::Told => Some(ToolName { id: step_id(step).into(), name }),
        };
        Status::Working { running: self.running(), only: self.only(), tool, phase }
    }
}
