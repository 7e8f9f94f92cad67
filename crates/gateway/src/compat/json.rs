//! Texts that may be JSON, and payloads.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::Out;

/// One payload. Our own types always have a JSON form, and never a line break in it.
pub(super) fn say(payload: &impl Serialize, out: Out<'_>) {
    if let Ok(text) = serde_json::to_string(payload) {
        out(&text);
    }
}

/// A text as a JSON value: itself where it is an object or a list that any client may read, else a
/// string. Nothing counts as an empty object.
pub(super) fn value(text: &str) -> Box<RawValue> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return RawValue::from_string("{}".to_owned()).unwrap_or_default();
    }
    object(trimmed).or_else(|| to_raw_value(text).ok()).unwrap_or_default()
}

/// A text as a JSON value where empty stays an empty text.
pub(super) fn output(text: &str) -> Box<RawValue> {
    object(text.trim()).or_else(|| to_raw_value(text).ok()).unwrap_or_default()
}

fn object(text: &str) -> Option<Box<RawValue>> {
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    if is_poisoned(&value) {
        return None;
    }
    on_one_line(text)
}

/// A line break in JSON is never inside a string: a blank is as good, and keeps the frame whole.
pub(super) fn on_one_line(json: &str) -> Option<Box<RawValue>> {
    RawValue::from_string(json.replace(['\n', '\r'], " ")).ok()
}

/// Whether it has a key for which careful JavaScript clients refuse the whole stream.
fn is_poisoned(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.iter().any(|(key, member)| {
            matches!(key.as_str(), "__proto__" | "constructor") || is_poisoned(member)
        }),
        Value::Array(items) => items.iter().any(is_poisoned),
        _ => false,
    }
}
