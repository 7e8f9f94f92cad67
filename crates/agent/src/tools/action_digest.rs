//! Digest of exactly what an approved call will do.
//!
//! Invariant: equal actions have equal digests, whatever the order of JSON members in memory.

use millpond_log::digest::Digest;
use serde_json::{Value, json};

use crate::mcp::{McpTool, ServerTransport};

/// SHA-256, in hexadecimal, of a call and the state that it acts on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionDigest {
    current: String,
    /// Digest as version 0.1 wrote it, so that asks it left open can still be answered.
    legacy: String,
}

impl ActionDigest {
    /// Computes the digest of a call of a built-in tool.
    pub(super) fn of_builtin(tool: &str, arguments: &str, state: &Value) -> ActionDigest {
        let action = json!([tool, arguments, state]);
        ActionDigest { current: canonical_digest(&action), legacy: legacy_digest(&action) }
    }

    /// Computes the digest of a call of an MCP tool. A changed server, description or schema makes
    /// it a different action.
    pub(super) fn of_remote(
        name: &str,
        arguments: &str,
        transport: &ServerTransport,
        tool: &McpTool,
    ) -> ActionDigest {
        let digest_input = |transport: Value| {
            json!([name, arguments, [transport, tool.name, tool.description, tool.schema]])
        };
        ActionDigest {
            current: canonical_digest(&digest_input(transport_json(transport))),
            legacy: legacy_digest(&digest_input(format!("{transport:?}").into())),
        }
    }

    /// The digest that an ask shows.
    pub fn as_str(&self) -> &str {
        &self.current
    }

    /// True if an ask that showed `digest` approved this action.
    pub fn is_approved_by(&self, digest: &str) -> bool {
        digest == self.current || digest == self.legacy
    }
}

fn transport_json(transport: &ServerTransport) -> Value {
    match transport {
        ServerTransport::Command { program, arguments, environment } => {
            json!({ "program": program, "arguments": arguments, "environment": environment })
        }
        ServerTransport::Http { url, headers } => json!({ "url": url, "headers": headers }),
    }
}

/// Digest of the canonical form (RFC 8785), or of the plain form of a value that has no canonical
/// one (a number beyond `f64`).
fn canonical_digest(action: &Value) -> String {
    serde_json_canonicalizer::to_vec(action)
        .map_or_else(|_| legacy_digest(action), |bytes| Digest::sha256(&bytes).to_string())
}

fn legacy_digest(action: &Value) -> String {
    Digest::sha256(action.to_string().as_bytes()).to_string()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::Map;

    use super::*;

    fn with_members(order: &[&str]) -> Value {
        Value::Object(
            order.iter().map(|name| ((*name).to_owned(), json!(1))).collect::<Map<_, _>>(),
        )
    }

    #[test]
    fn the_order_of_members_does_not_change_the_digest() {
        let first = ActionDigest::of_builtin("t", "{}", &with_members(&["a", "b", "c"]));
        let second = ActionDigest::of_builtin("t", "{}", &with_members(&["c", "a", "b"]));
        assert_eq!(first.as_str(), second.as_str());
        assert_ne!(first.as_str(), ActionDigest::of_builtin("t", "{ }", &json!({})).as_str());
    }

    #[test]
    fn an_ask_of_version_0_1_approves_the_same_action_and_no_other() {
        let transport =
            ServerTransport::Http { url: "http://a".to_owned(), headers: BTreeMap::new() };
        let tool = McpTool { name: "drain".to_owned(), ..McpTool::default() };
        let digest = ActionDigest::of_remote("a_drain", "{}", &transport, &tool);
        let state = json!([format!("{transport:?}"), tool.name, tool.description, tool.schema]);
        let shown_digest =
            Digest::sha256(json!(["a_drain", "{}", state]).to_string().as_bytes()).to_string();
        assert!(digest.is_approved_by(&shown_digest) && digest.is_approved_by(digest.as_str()));
        let other_digest = ActionDigest::of_remote("a_drain", "{\"litres\":5}", &transport, &tool);
        assert!(
            !other_digest.is_approved_by(&shown_digest)
                && !other_digest.is_approved_by(digest.as_str())
        );
    }
}
