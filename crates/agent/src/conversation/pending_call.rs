//! A tool call of the active run, until its result is complete.

use millpond_engine::event::ToolOutcome;

use super::ToolResult;

/// Result text of a call that has no result in the log.
const NO_RESULT_TEXT: &str = "(The run ended before this tool had a result.)";

/// Index of a turn and of a part in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PartPosition {
    pub(super) turn: usize,
    pub(super) part: usize,
}

/// A call of the active run with the result collected so far.
#[derive(Clone, Debug)]
pub(super) struct PendingCall {
    pub(super) position: PartPosition,
    pub(super) result: ToolResult,
    pub(super) is_ended: bool,
    /// True if the tool returned a result.
    pub(super) has_result: bool,
    pub(super) is_withdrawn: bool,
}

impl PendingCall {
    pub(super) fn end_with_outcome_and_detail(
        &mut self,
        outcome: ToolOutcome,
        detail: Option<&str>,
    ) {
        self.is_ended = true;
        self.has_result = !matches!(outcome, ToolOutcome::NoResult | ToolOutcome::Cut);
        self.result.failed = outcome != ToolOutcome::Succeeded;
        if let Some(detail) = detail.filter(|_| self.result.failed) {
            if !self.result.text.is_empty() {
                self.result.text.push('\n');
            }
            self.result.text.push_str(detail);
        }
    }

    pub(super) fn into_result_or_missing_result(self) -> ToolResult {
        let PendingCall { mut result, has_result, .. } = self;
        if !has_result {
            result.failed = true;
            let separator = if result.text.is_empty() { "" } else { "\n" };
            result.text.extend([separator, NO_RESULT_TEXT]);
        }
        result
    }
}
