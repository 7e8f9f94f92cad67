//! Lines of JSON-RPC, as agents send them.

use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
pub(super) struct Line {
    #[serde(default)]
    pub(super) id: Option<Value>,
    #[serde(default)]
    pub(super) method: Option<String>,
    #[serde(default)]
    pub(super) params: Value,
    #[serde(default)]
    pub(super) result: Value,
    #[serde(default)]
    pub(super) error: Option<Value>,
}

/// How the engine names an ask by the id of its request.
pub(super) fn name_of(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}
