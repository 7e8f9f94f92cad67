//! Tools that Google runs: code execution and server tools.

use crate::event::{ToolKind, ToolOutcome, UnrecognisedReason};
use crate::ingest::json::{RawValue, as_string, object, string_or_json};
use crate::run::{ToolStart, Writer};

use super::GenerateContent;

impl GenerateContent {
    /// Starts a code interpreter step.
    pub(super) fn start_code_execution(&mut self, raw: &RawValue, out: &mut Writer<'_>) {
        object! { Code { id; skip _ } }
        let id = Code::from_raw(raw).and_then(|code| code.id).and_then(as_string);
        let id = self.call_ids.id_or_generated(id);
        let tool = ToolStart::provider_tool(&id, "code_execution", ToolKind::CodeInterpreter);
        let step = out.start_tool(tool);
        out.replace_arguments_if_changed(step, raw.get());
        out.emit_tool_ready_once(step);
        self.running_code = Some(step);
    }

    /// Writes the output of the running code and ends its step.
    pub(super) fn end_code_execution(&mut self, raw: &RawValue, out: &mut Writer<'_>) {
        object! { ResultFields { id, outcome, output; skip _ } }
        let result = ResultFields::from_raw(raw);
        let ResultFields { id, outcome, output } = result.unwrap_or_default();
        let [id, outcome, output] = [id, outcome, output].map(|member| member.and_then(as_string));
        let named = id.and_then(|id| out.find_open_tool(&id));
        let Some(step) =
            named.or_else(|| self.running_code.take()).filter(|step| out.is_tool_open(*step))
        else {
            out.append_unrecognised(UnrecognisedReason::Late, raw.get());
            return;
        };
        out.append_output_if_open(step, &output.unwrap_or_default());
        match outcome.as_deref() {
            Some("OUTCOME_OK") | None => out.end_tool_if_open(step, ToolOutcome::Succeeded, None),
            Some(outcome) => out.end_tool_if_open(step, ToolOutcome::Failed, Some(outcome)),
        }
    }

    /// Starts a step for a Google server tool, which is listed only on request.
    pub(super) fn start_provider_tool(&mut self, raw: &RawValue, out: &mut Writer<'_>) {
        object! { CallFields { id, kind = "toolType", args; keep } }
        let Some(call) = CallFields::from_raw(raw) else {
            return;
        };
        out.append_unknown_fields_once(&call.unknown);
        let CallFields { id, kind, args, .. } = call;
        let id = id.and_then(as_string);
        let id = self.call_ids.id_or_generated(id);
        let kind = kind.map(string_or_json).unwrap_or_default();
        let step = out.start_tool(ToolStart::provider_tool(&id, &kind, provider_tool_kind(&kind)));
        if let Some(args) = args {
            out.replace_arguments_if_changed(step, args.get());
        }
        out.emit_tool_ready_once(step);
    }
}

/// Writes the output of a Google server tool and ends its step.
pub(super) fn end_provider_tool(raw: &RawValue, out: &mut Writer<'_>) {
    object! { Response { id, output = "response"; skip "toolType" } }
    let Some(response) = Response::from_raw(raw) else {
        return;
    };
    out.append_unknown_fields_once(&response.unknown);
    let Response { id, output, .. } = response;
    let Some(step) = id.and_then(as_string).and_then(|id| out.find_open_tool(&id)) else {
        out.append_unrecognised(UnrecognisedReason::Late, raw.get());
        return;
    };
    out.append_output_if_none(step, output.map_or("", RawValue::get));
    out.end_tool_if_open(step, ToolOutcome::Succeeded, None);
}

/// Maps a `toolType` to a tool kind.
fn provider_tool_kind(kind: &str) -> ToolKind {
    match kind {
        "GOOGLE_SEARCH_WEB" | "GOOGLE_SEARCH_IMAGE" => ToolKind::WebSearch,
        "URL_CONTEXT" => ToolKind::WebFetch,
        "FILE_SEARCH" => ToolKind::FileSearch,
        _ => ToolKind::Builtin,
    }
}
