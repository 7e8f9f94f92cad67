//! JSON-RPC messages of agents.

use serde::Deserialize;
use serde_json::Value;

/// A request, response or notification.
#[derive(Deserialize)]
pub(super) struct RpcMessage {
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

/// The ask id that the engine derives from a request's id.
pub(super) fn ask_id_of_request(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}
