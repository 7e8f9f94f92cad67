//! Descriptions of tool steps.

use crate::tool::{ToolCall, ToolResult};

use super::open_steps::Step;

impl Step {
    /// Describes the tool call, if that is not done yet.
    pub(super) fn describe_call_once(&mut self) {
        if let (Some(kind), None) = (self.tool_kind, &self.item.description) {
            let call = ToolCall {
                name: self.item.name.as_deref().unwrap_or_default(),
                kind,
                server: self.server.as_deref(),
                arguments: self.item.arguments.as_deref().unwrap_or_default(),
            };
            self.item.description = Some(Box::new(call.describe()));
        }
    }

    /// Describes the tool call and its result.
    pub(super) fn describe_call_and_result(&mut self) {
        self.describe_call_once();
        let outcome = self.item.state.tool_outcome();
        if let Some(description) = &mut self.item.description {
            description.add_result(ToolResult {
                output: self.item.result.as_deref().unwrap_or_default(),
                outcome,
                detail: self.item.label.as_deref(),
            });
        }
    }
}
