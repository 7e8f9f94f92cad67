//! Parses `mcpServers` JSON, and converts the tools that servers list.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::ServerTransport;

/// A tool as its server lists it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct McpTool {
    /// Name on its server.
    pub name: String,
    /// Description for the model.
    pub description: String,
    /// JSON Schema of its arguments.
    pub schema: Map<String, Value>,
}

impl From<rmcp::model::Tool> for McpTool {
    fn from(tool: rmcp::model::Tool) -> McpTool {
        let description = tool.description.map(std::borrow::Cow::into_owned);
        McpTool {
            name: tool.name.into_owned(),
            description: description.or(tool.title).unwrap_or_default(),
            schema: (*tool.input_schema).clone(),
        }
    }
}

/// Error in an `mcpServers` file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct McpConfigError(String);

/// The file; members of other programs are ignored.
#[derive(Deserialize)]
struct McpConfigFile {
    #[serde(rename = "mcpServers", alias = "servers")]
    servers: BTreeMap<String, ServerEntry>,
}

#[derive(Deserialize)]
struct ServerEntry {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    disabled: bool,
}

/// Parses the enabled servers of an `mcpServers` file and expands `${NAME}` and `${NAME:-default}`.
pub fn parse_enabled_mcp_servers(
    text: &str,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Vec<(String, ServerTransport)>, McpConfigError> {
    let file: McpConfigFile = serde_json::from_str(text)
        .map_err(|error| McpConfigError(format!("not a valid `mcpServers` file: {error}")))?;
    let mut servers = Vec::new();
    for (name, entry) in file.servers {
        if entry.disabled {
            continue;
        }
        let filled = |text: &str| {
            expand_variables(text, &variable).map_err(|missing| {
                McpConfigError(format!("`{name}` needs ${missing}, which is not set"))
            })
        };
        let fill_all = |texts: BTreeMap<String, String>| {
            let pairs = texts.into_iter().map(|(key, text)| Ok((key, filled(&text)?)));
            pairs.collect::<Result<BTreeMap<_, _>, McpConfigError>>()
        };
        let transport = match (entry.command, entry.url) {
            (Some(command), None) => ServerTransport::Command {
                program: filled(&command)?,
                arguments: entry.args.iter().map(|text| filled(text)).collect::<Result<_, _>>()?,
                environment: fill_all(entry.env)?,
            },
            (None, Some(url)) => {
                ServerTransport::Http { url: filled(&url)?, headers: fill_all(entry.headers)? }
            }
            (Some(_), Some(_)) => {
                return Err(McpConfigError(format!("`{name}` has both a command and a url")));
            }
            (None, None) => {
                return Err(McpConfigError(format!("`{name}` has neither a command nor a url")));
            }
        };
        servers.push((name, transport));
    }
    Ok(servers)
}

/// Expands variables; the error is the name of one that is not set.
fn expand_variables(
    text: &str,
    variable: &impl Fn(&str) -> Option<String>,
) -> Result<String, String> {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, next)) = after.split_once('}') else { break };
        let (name, default) = match name.split_once(":-") {
            Some((name, default)) => (name, Some(default.to_owned())),
            None => (name, None),
        };
        expanded.push_str(before);
        expanded.push_str(&variable(name).or(default).ok_or_else(|| name.to_owned())?);
        rest = next;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_test_servers(text: &str) -> Result<Vec<(String, ServerTransport)>, String> {
        let variable = |name: &str| (name == "HOME").then(|| "/home/heron".to_owned());
        parse_enabled_mcp_servers(text, variable).map_err(|error| error.to_string())
    }

    #[test]
    fn the_common_json_is_taken_as_it_is() {
        let text = r#"{"mcpServers":{
            "files":{"type":"stdio","command":"npx","args":["-y","server","${HOME}/pond"],"env":{"A":"${B:-b}"}},
            "off":{"command":"x","disabled":true},
            "far":{"type":"http","url":"https://mcp.test/mcp","headers":{"Authorization":"Bearer ${HOME}"}}},
            "somethingElse":1}"#;
        let pair = |key: &str, value: &str| BTreeMap::from([(key.to_owned(), value.to_owned())]);
        assert_eq!(
            parse_test_servers(text),
            Ok(vec![
                (
                    "far".to_owned(),
                    ServerTransport::Http {
                        url: "https://mcp.test/mcp".to_owned(),
                        headers: pair("Authorization", "Bearer /home/heron"),
                    }
                ),
                (
                    "files".to_owned(),
                    ServerTransport::Command {
                        program: "npx".to_owned(),
                        arguments: ["-y", "server", "/home/heron/pond"].map(str::to_owned).to_vec(),
                        environment: pair("A", "b"),
                    }
                ),
            ])
        );
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        for (text, expected) in [
            ("[]", "not a valid `mcpServers` file"),
            (r#"{"mcpServers":{"a":{}}}"#, "`a` has neither a command nor a url"),
            (r#"{"mcpServers":{"a":{"command":"x","url":"y"}}}"#, "has both a command and a url"),
            (r#"{"mcpServers":{"a":{"command":"${NOPE}"}}}"#, "`a` needs $NOPE, which is not set"),
        ] {
            let error = parse_test_servers(text).err().unwrap_or_default();
            assert!(error.contains(expected), "{error}");
        }
    }
}
