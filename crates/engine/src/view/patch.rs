//! Patches: single changes to a page. Applying every patch in order yields the page; clients decide
//! nothing.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::event::{
    AnsweredBy, AskKind, AskOption, Citation, FailureReason, Millis, Outcome, Reply, StopReason,
};

use super::image_ref::ImageRef;
use super::item::{Item, ItemKey, ItemState};

/// One change to a page.
// Not `non_exhaustive`: a client that ignored a patch would show a wrong page.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "nearly all are appends, which need no box")]
pub enum Patch<'a> {
    /// Puts an item, or replaces the one with this key.
    Put {
        /// The item.
        key: ItemKey,
        /// Its new content.
        item: Item<'a>,
    },
    /// Closes the last item and starts the next one of its kind and message with this text.
    Next {
        /// The new item.
        key: ItemKey,
        /// Start time.
        at_ms: Option<Millis>,
        /// Its first text.
        text: Cow<'a, str>,
    },
    /// Appends to the item's text.
    Append {
        /// The item.
        key: ItemKey,
        /// The new text.
        text: Cow<'a, str>,
    },
    /// Keeps the first `kept_bytes` of the item's text and appends `text`.
    Rewrite {
        /// The item.
        key: ItemKey,
        /// Bytes of its text that stay.
        kept_bytes: usize,
        /// The text after them.
        text: Cow<'a, str>,
    },
    /// Sets the item's final state; its text is complete, or as complete as it gets.
    Close {
        /// The item.
        key: ItemKey,
        /// The state.
        state: ItemState,
    },
    /// Adds an image to the item.
    Attach {
        /// The item.
        key: ItemKey,
        /// The image.
        image: ImageRef<'a>,
    },
    /// Adds a citation to the item.
    Cite {
        /// The item.
        key: ItemKey,
        /// The citation.
        citation: Citation<'a>,
    },
    /// Removes the item.
    Remove {
        /// The item.
        key: ItemKey,
    },
    /// Empties these items, which their source withdrew; they keep their positions.
    Withdraw {
        /// The items.
        keys: Vec<ItemKey>,
    },
    /// Marks a round as complete; its items start at `from`. Changes nothing.
    RoundClosed {
        /// Number of the round.
        round: u32,
        /// Its first item.
        from: ItemKey,
    },
    /// Marks everything before this point as final.
    Settle(Settled),
    /// Shows an overlay above the page, or hides it.
    Overlay(Option<Overlay<'a>>),
    /// Sets the status.
    Status(Status<'a>),
    /// Opens an ask.
    Ask(Ask<'a>),
    /// Closes an ask.
    Resolve(ResolvedAsk<'a>),
    /// Ends the run.
    Ended(EndedRun<'a>),
}

/// Extent of the settled part: this many items, and this many bytes of the next item's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Settled {
    /// Items that are final.
    pub count: u32,
    /// Final bytes of the next item.
    pub bytes: usize,
}

/// Overlay above the page until a round's first text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Overlay<'a> {
    /// Round that is awaited.
    pub round: u32,
    /// Kind of work.
    pub phase: OverlayPhase,
    /// Text for people.
    pub label: Cow<'a, str>,
}

/// Kind of work that an overlay reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OverlayPhase {
    /// Waiting for the model.
    Waiting,
    /// The model thinks.
    Reasoning,
    /// A tool runs.
    Tool,
    /// A web search runs.
    WebSearch,
    /// Code runs at the provider.
    CodeInterpreter,
    /// A model is loaded.
    Loading,
}

/// Current activity of the agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "doing", rename_all = "snake_case")]
pub enum Status<'a> {
    /// No run is active.
    #[default]
    Idle,
    /// The prompt waits for its turn.
    Queued,
    /// A run started.
    Started,
    /// A model call started.
    Streaming {
        /// Number of the round.
        round: u32,
    },
    /// The model thinks.
    Thinking {
        /// The newest increment, if the reader asked for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<Cow<'a, str>>,
    },
    /// Tools run.
    Working {
        /// Number of open tools.
        running: u32,
        /// The open tool, if there is exactly one and the view names tools.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        only: Option<Cow<'a, str>>,
        /// The tool that started or ended, if the view names tools.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool: Option<ToolName<'a>>,
        /// Start or end.
        phase: ToolPhase,
    },
    /// The model writes text.
    Writing,
    /// Waiting for the user's answer.
    Waiting,
    /// The user has answered.
    Resumed {
        /// Number of open tools.
        running: u32,
        /// The open tool, if there is exactly one and the view names tools.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        only: Option<Cow<'a, str>>,
    },
}

/// Item id and name of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolName<'a> {
    /// Id of the tool's item.
    pub id: Cow<'a, str>,
    /// Name of the tool.
    pub name: Cow<'a, str>,
}

/// Event of a tool: its start or its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToolPhase {
    /// The tool started.
    Started,
    /// The tool ended.
    Ended,
}

impl Status<'_> {
    /// Text of the status for people.
    pub fn label(&self) -> Cow<'_, str> {
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

/// A question or approval request for the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Ask<'a> {
    /// Id of its run.
    pub run: Cow<'a, str>,
    /// Id of the ask.
    pub id: Cow<'a, str>,
    /// Subject of the ask.
    pub kind: AskKind,
    /// The question.
    pub text: Cow<'a, str>,
    /// The answers it offers; none for a free-form answer.
    pub options: Vec<AskOption<'a>>,
    /// Digest of exactly what an approval would run.
    #[cfg_attr(feature = "schema", schemars(extend("nullable" = true)))]
    pub digest: Option<Cow<'a, str>>,
    /// Milliseconds since the epoch.
    #[cfg_attr(feature = "schema", schemars(extend("nullable" = true)))]
    pub expires_at: Option<Millis>,
}

/// The answer to an ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResolvedAsk<'a> {
    /// Id of its run.
    pub run: Cow<'a, str>,
    /// Id of the ask.
    pub id: Cow<'a, str>,
    /// The answer.
    pub answer: Cow<'a, str>,
    /// Party that answered.
    pub by: AnsweredBy,
}

/// Ending of a run; the same in every view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndedRun<'a> {
    /// Id of the run.
    pub run: Cow<'a, str>,
    /// How it ended.
    pub outcome: Outcome,
    /// Why the model stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopReason>,
    /// Kind of failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<FailureReason>,
    /// Error message or reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Cow<'a, str>>,
    /// Form of the reply.
    pub reply: Reply,
    /// True if the reply is not whole.
    pub incomplete: bool,
    /// Text of the final message; omitted where the page has it as an item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Cow<'a, str>>,
}

impl EndedRun<'_> {
    /// Text of the ending for people; `None` if the run completed normally.
    pub fn label(&self) -> Option<Cow<'_, str>> {
        ending_label(self.outcome, self.stop, self.reason, self.detail.as_deref())
    }
}

/// Text of an ending for people; `None` if the run completed normally.
pub(super) fn ending_label(
    outcome: Outcome,
    stop: Option<StopReason>,
    reason: Option<FailureReason>,
    detail: Option<&str>,
) -> Option<Cow<'static, str>> {
    let words = match (outcome, reason) {
        (Outcome::Completed, _) if stop == Some(StopReason::Length) => "Cut off by a length limit",
        (Outcome::Completed, _) => return None,
        (Outcome::Failed, Some(FailureReason::Refused)) => "Refused",
        (Outcome::Failed, Some(FailureReason::Limit)) => "Limit reached",
        (Outcome::Failed, Some(FailureReason::Empty)) => "Empty response",
        (Outcome::Failed, Some(FailureReason::Unrecognised)) => "Unrecognised response",
        (Outcome::Failed, Some(FailureReason::Storage)) => "Cannot write the log",
        (Outcome::Failed, Some(FailureReason::Error) | None) => "Failed",
        (Outcome::Cancelled, _) => "Cancelled",
        (Outcome::Truncated, _) => "Cut off before its end",
        (Outcome::Stalled, _) => "Stalled",
        (Outcome::Interrupted, _) => "Interrupted",
    };
    Some(match detail {
        Some(detail) => format!("{words}: {detail}").into(),
        None => words.into(),
    })
}

/// Converts a text to an owned one.
fn into_owned_cow(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}

impl Patch<'_> {
    /// Converts to owned texts, so that the patch can be sent to another thread.
    #[must_use]
    pub fn into_owned(self) -> Patch<'static> {
        match self {
            Patch::Put { key, item } => Patch::Put { key, item: item.into_owned() },
            Patch::Next { key, at_ms, text } => {
                Patch::Next { key, at_ms, text: into_owned_cow(text) }
            }
            Patch::Append { key, text } => Patch::Append { key, text: into_owned_cow(text) },
            Patch::Rewrite { key, kept_bytes, text } => {
                Patch::Rewrite { key, kept_bytes, text: into_owned_cow(text) }
            }
            Patch::Close { key, state } => Patch::Close { key, state },
            Patch::Attach { key, image } => Patch::Attach { key, image: image.into_owned() },
            Patch::Cite { key, citation } => Patch::Cite { key, citation: citation.into_owned() },
            Patch::Remove { key } => Patch::Remove { key },
            Patch::Withdraw { keys } => Patch::Withdraw { keys },
            Patch::RoundClosed { round, from } => Patch::RoundClosed { round, from },
            Patch::Settle(settled) => Patch::Settle(settled),
            Patch::Overlay(overlay) => Patch::Overlay(overlay.map(Overlay::into_owned)),
            Patch::Status(status) => Patch::Status(status.into_owned()),
            Patch::Ask(ask) => Patch::Ask(ask.into_owned()),
            Patch::Resolve(resolved) => Patch::Resolve(resolved.into_owned()),
            Patch::Ended(ended) => Patch::Ended(ended.into_owned()),
        }
    }
}

impl ResolvedAsk<'_> {
    /// Converts to owned texts.
    #[must_use]
    pub fn into_owned(self) -> ResolvedAsk<'static> {
        ResolvedAsk {
            run: into_owned_cow(self.run),
            id: into_owned_cow(self.id),
            answer: into_owned_cow(self.answer),
            by: self.by,
        }
    }
}

impl Overlay<'_> {
    /// Converts to owned texts.
    #[must_use]
    pub fn into_owned(self) -> Overlay<'static> {
        Overlay { round: self.round, phase: self.phase, label: into_owned_cow(self.label) }
    }
}

impl Status<'_> {
    /// Converts to owned texts.
    #[must_use]
    pub fn into_owned(self) -> Status<'static> {
        match self {
            Status::Idle => Status::Idle,
            Status::Queued => Status::Queued,
            Status::Started => Status::Started,
            Status::Streaming { round } => Status::Streaming { round },
            Status::Thinking { text } => Status::Thinking { text: text.map(into_owned_cow) },
            Status::Working { running, only, tool, phase } => Status::Working {
                running,
                only: only.map(into_owned_cow),
                tool: tool.map(|tool| ToolName {
                    id: into_owned_cow(tool.id),
                    name: into_owned_cow(tool.name),
                }),
                phase,
            },
            Status::Writing => Status::Writing,
            Status::Waiting => Status::Waiting,
            Status::Resumed { running, only } => {
                Status::Resumed { running, only: only.map(into_owned_cow) }
            }
        }
    }
}

impl Ask<'_> {
    /// Converts to owned texts.
    #[must_use]
    pub fn into_owned(self) -> Ask<'static> {
        Ask {
            run: into_owned_cow(self.run),
            id: into_owned_cow(self.id),
            kind: self.kind,
            text: into_owned_cow(self.text),
            options: self.options.into_iter().map(AskOption::into_owned).collect(),
            digest: self.digest.map(into_owned_cow),
            expires_at: self.expires_at,
        }
    }
}

impl EndedRun<'_> {
    /// Converts to owned texts.
    #[must_use]
    pub fn into_owned(self) -> EndedRun<'static> {
        EndedRun {
            run: into_owned_cow(self.run),
            outcome: self.outcome,
            stop: self.stop,
            reason: self.reason,
            detail: self.detail.map(into_owned_cow),
            reply: self.reply,
            incomplete: self.incomplete,
            content: self.content.map(into_owned_cow),
        }
    }
}
