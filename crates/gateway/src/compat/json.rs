//! Payloads, and texts that may be JSON.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::PayloadSink;

/// Writes one payload. Our own types always serialise, without line breaks.
pub(super) fn write_payload(payload: &impl Serialize, out: PayloadSink<'_>) {
    if let Ok(text) = serde_json::to_string(payload) {
        out(&text);
    }
}

/// Parses arguments: an object or array that every client can read stays as it is, empty text
/// becomes `{}`, all else a string.
pub(super) fn arguments_to_json(text: &str) -> Box<RawValue> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return RawValue::from_string("{}".to_owned()).unwrap_or_default();
    }
    parse_safe_object_or_array(trimmed).or_else(|| to_raw_value(text).ok()).unwrap_or_default()
}

/// Parses output: an object or array that every client can read stays as it is, all else is a
/// string.
pub(super) fn output_to_json(text: &str) -> Box<RawValue> {
    parse_safe_object_or_array(text.trim()).or_else(|| to_raw_value(text).ok()).unwrap_or_default()
}

fn parse_safe_object_or_array(text: &str) -> Option<Box<RawValue>> {
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    if has_unsafe_key(&value) {
        return None;
    }
    to_one_line_json(text)
}

/// Replaces line breaks by spaces. In JSON they are never inside a string.
pub(super) fn to_one_line_json(json: &str) -> Option<Box<RawValue>> {
    RawValue::from_string(json.replace(['\n', '\r'], " ")).ok()
}

/// True if it has a key for which strict JavaScript clients reject the stream.
fn has_unsafe_key(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.iter().any(|(key, member)| {
            matches!(key.as_str(), "__proto__" | "constructor") || has_unsafe_key(member)
        }),
        Value::Array(items) => items.iter().any(has_unsafe_key),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
