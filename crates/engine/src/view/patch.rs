//! One change to a page. Applying every patch in order yields what a person sees; a client decides
//! nothing.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::event::{
    AnsweredBy, AskKind, AskOption, Citation, FailureReason, Millis, Outcome, Reply, Stop,
};

use super::blob::Shown;
use super::item::{Item, Key, State};

#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "nearly all are appends, which need no box")]
pub enum Patch<'a> {
    /// Puts an item, or replaces the one with this key.
    Put {
        key: Key,
        item: Item<'a>,
    },
    /// The last item is done; this is the next of its kind and message, and begins with this text.
    Next {
        key: Key,
        at_ms: Option<Millis>,
        text: Cow<'a, str>,
    },
    /// More of the item's text.
    Append {
        key: Key,
        text: Cow<'a, str>,
    },
    /// The source changed its mind: this much of the item's text stays, then comes this.
    Rewrite {
        key: Key,
        kept_bytes: usize,
        text: Cow<'a, str>,
    },
    /// The item's text is whole, or as whole as it gets.
    Close {
        key: Key,
        state: State,
    },
    Attach {
        key: Key,
        image: Shown<'a>,
    },
    Cite {
        key: Key,
        citation: Citation<'a>,
    },
    /// The item goes, because of what comes next.
    Remove {
        key: Key,
    },
    /// The source took these back. They keep their places, empty.
    Withdraw {
        keys: Vec<Key>,
    },
    /// A round is all there is to it: its parts stand from here on. Changes nothing.
    RoundClosed {
        round: u32,
        from: Key,
    },
    /// Nothing before this changes any more.
    Settle(Settled),
    /// What stands over the page until the first text; nothing when it goes.
    Overlay(Option<Overlay<'a>>),
    Status(Status<'a>),
    Ask(Ask<'a>),
    Resolve(Resolved<'a>),
    Ended(Ended<'a>),
}

/// So many items, and so many bytes of the text of the next one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Settled {
    pub count: u32,
    pub bytes: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overlay<'a> {
    pub round: u32,
    pub phase: Phase,
    pub label: Cow<'a, str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    Waiting,
    Reasoning,
    Tool,
    WebSearch,
    CodeInterpreter,
    Loading,
}

/// What the agent is doing, in a word.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "doing", rename_all = "snake_case")]
pub enum Status<'a> {
    /// Nothing: no run is going.
    #[default]
    Idle,
    Queued,
    Started,
    /// A model call began.
    Streaming {
        round: u32,
    },
    Thinking {
        /// The newest increment, where the reader asked for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<Cow<'a, str>>,
    },
    Working {
        /// Tools that are open.
        running: u32,
        /// The one that is, where it is one and the view names tools.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        only: Option<Cow<'a, str>>,
        /// The one that started or ended, where the view names tools.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool: Option<ToolName<'a>>,
        phase: ToolPhase,
    },
    Writing,
    /// For a person.
    Waiting,
    /// A person has settled what was waited for.
    Resumed {
        /// Tools that are open.
        running: u32,
        /// The one that is, where it is one and the view names tools.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        only: Option<Cow<'a, str>>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolName<'a> {
    pub id: Cow<'a, str>,
    pub name: Cow<'a, str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolPhase {
    Started,
    Ended,
}

impl Status<'_> {
    /// The words a person reads.
    pub fn words(&self) -> Cow<'_, str> {
        match self {
            Status::Idle => "".into(),
            Status::Queued => "In queue".into(),
            Status::Thinking { text: Some(text) } => {
                let words: Vec<&str> = text.split_whitespace().collect();
                format!("Thinking: {}", words.join(" ")).into()
            }
            Status::Started
            | Status::Streaming { .. }
            | Status::Thinking { .. }
            | Status::Working { running: 0, .. }
            | Status::Resumed { running: 0, .. } => "Thinking".into(),
            Status::Working { only: Some(name), .. } | Status::Resumed { only: Some(name), .. } => {
                format!("Working: {name}").into()
            }
            Status::Working { running, tool: Some(_), .. } => {
                format!("Working: {running} tools").into()
            }
            Status::Working { .. } | Status::Resumed { .. } => "Working".into(),
            Status::Writing => "Writing reply".into(),
            Status::Waiting => "Waiting for you".into(),
        }
    }
}

/// Something only a person can settle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ask<'a> {
    pub run: Cow<'a, str>,
    pub id: Cow<'a, str>,
    pub kind: AskKind,
    pub text: Cow<'a, str>,
    pub options: Vec<AskOption<'a>>,
    pub digest: Option<Cow<'a, str>>,
    /// Milliseconds since the epoch.
    pub expires_at: Option<Millis>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolved<'a> {
    pub run: Cow<'a, str>,
    pub id: Cow<'a, str>,
    pub answer: Cow<'a, str>,
    pub by: AnsweredBy,
}

/// How a run ended, as every view says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended<'a> {
    pub run: Cow<'a, str>,
    pub outcome: Outcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<FailureReason>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Cow<'a, str>>,
    pub reply: Reply,
    pub incomplete: bool,
    /// The final message as it stands; left out where the page has it as an item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Cow<'a, str>>,
}

impl Ended<'_> {
    /// The words a person reads where a run did not simply end well.
    pub fn words(&self) -> Option<Cow<'_, str>> {
        let words = match (self.outcome, self.reason) {
            (Outcome::Completed, _) if self.stop == Some(Stop::Length) => {
                "Cut off by a length limit"
            }
            (Outcome::Completed, _) => return None,
            (Outcome::Failed, Some(FailureReason::Refused)) => "Refused",
            (Outcome::Failed, Some(FailureReason::Limit)) => "A limit was reached",
            (Outcome::Failed, Some(FailureReason::Empty)) => "Nothing came",
            (Outcome::Failed, Some(FailureReason::Unrecognised)) => "Not recognised",
            (Outcome::Failed, Some(FailureReason::Storage)) => "The log could not be kept",
            (Outcome::Failed, _) => "Failed",
            (Outcome::Cancelled, _) => "Cancelled",
            (Outcome::Truncated, _) => "Cut off before its end",
            (Outcome::Stalled, _) => "Stalled",
            (Outcome::Interrupted, _) => "Interrupted",
        };
        Some(match &self.detail {
            Some(detail) => format!("{words}: {detail}").into(),
            None => words.into(),
        })
    }
}

fn own(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}

impl Overlay<'_> {
    #[must_use]
    pub fn into_owned(self) -> Overlay<'static> {
        Overlay { round: self.round, phase: self.phase, label: own(self.label) }
    }
}

impl Status<'_> {
    #[must_use]
    pub fn into_owned(self) -> Status<'static> {
        match self {
            Status::Idle => Status::Idle,
            Status::Queued => Status::Queued,
            Status::Started => Status::Started,
            Status::Streaming { round } => Status::Streaming { round },
            Status::Thinking { text } => Status::Thinking { text: text.map(own) },
            Status::Working { running, only, tool, phase } => Status::Working {
                running,
                only: only.map(own),
                tool: tool.map(|tool| ToolName { id: own(tool.id), name: own(tool.name) }),
                phase,
            },
            Status::Writing => Status::Writing,
            Status::Waiting => Status::Waiting,
            Status::Resumed { running, only } => Status::Resumed { running, only: only.map(own) },
        }
    }
}

impl Ask<'_> {
    #[must_use]
    pub fn into_owned(self) -> Ask<'static> {
        Ask {
            run: own(self.run),
            id: own(self.id),
            kind: self.kind,
            text: own(self.text),
            options: self.options.into_iter().map(AskOption::into_owned).collect(),
            digest: self.digest.map(own),
            expires_at: self.expires_at,
        }
    }
}

impl Ended<'_> {
    #[must_use]
    pub fn into_owned(self) -> Ended<'static> {
        Ended {
            run: own(self.run),
            outcome: self.outcome,
            stop: self.stop,
            reason: self.reason,
            detail: self.detail.map(own),
            reply: self.reply,
            incomplete: self.incomplete,
            content: self.content.map(own),
        }
    }
}
