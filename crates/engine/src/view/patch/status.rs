//! Status: what the active run does now.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::into_owned_cow;

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
    /// The items of the page show the activity: no status line.
    Inline,
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
            Status::Idle | Status::Inline => "".into(),
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
            Status::Inline => Status::Inline,
            Status::Waiting => Status::Waiting,
            Status::Resumed { running, only } => {
                Status::Resumed { running, only: only.map(into_owned_cow) }
            }
        }
    }
}
