//! Servers as the common `mcpServers` JSON names them, and tools as servers list them.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::How;

/// A tool as its server tells of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    pub name: String,
    pub about: String,
    pub schema: Map<String, Value>,
}

impl From<rmcp::model::Tool> for Tool {
    fn from(tool: rmcp::model::Tool) -> Tool {
        let about = tool.description.map(std::borrow::Cow::into_owned);
        Tool {
            name: tool.name.into_owned(),
            about: about.or(tool.title).unwrap_or_default(),
            schema: (*tool.input_schema).clone(),
        }
    }
}

/// Why a list of servers cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadServers(String);

/// What other programs know besides is passed over.
#[derive(Deserialize)]
struct File {
    #[serde(rename = "mcpServers", alias = "servers")]
    servers: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
struct Entry {
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

/// The servers of a file such as other agents have. `${NAME}` stands for a variable.
pub fn servers_of_json(
    text: &str,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Vec<(String, How)>, BadServers> {
    let file: File = serde_json::from_str(text)
        .map_err(|error| BadServers(format!("this is no `mcpServers` JSON: {error}")))?;
    let mut servers = Vec::new();
    for (name, entry) in file.servers {
        if entry.disabled {
            continue;
        }
        let filled = |text: &str| {
            filled(text, &variable).map_err(|missing| {
                BadServers(format!("`{name}` needs ${missing}, which is not set"))
            })
        };
        let all = |texts: BTreeMap<String, String>| {
            let pairs = texts.into_iter().map(|(key, text)| Ok((key, filled(&text)?)));
            pairs.collect::<Result<BTreeMap<_, _>, BadServers>>()
        };
        let how = match (entry.command, entry.url) {
            (Some(command), None) => How::Command {
                program: filled(&command)?,
                arguments: entry.args.iter().map(|text| filled(text)).collect::<Result<_, _>>()?,
                variables: all(entry.env)?,
            },
            (None, Some(url)) => How::Http { url: filled(&url)?, headers: all(entry.headers)? },
            (Some(_), Some(_)) => {
                return Err(BadServers(format!("`{name}` has a command and a url: one is enough")));
            }
            (None, None) => {
                return Err(BadServers(format!("`{name}` has neither a command nor a url")));
            }
        };
        servers.push((name, how));
    }
    Ok(servers)
}

/// A text with its variables; the name of one that is not set is the error.
fn filled(text: &str, variable: &impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut full = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, next)) = after.split_once('}') else { break };
        let (name, default) = match name.split_once(":-") {
            Some((name, default)) => (name, Some(default.to_owned())),
            None => (name, None),
        };
        full.push_str(before);
        full.push_str(&variable(name).or(default).ok_or_else(|| name.to_owned())?);
        rest = next;
    }
    full.push_str(rest);
    Ok(full)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<(String, How)>, String> {
        let variable = |name: &str| (name == "HOME").then(|| "/home/heron".to_owned());
        servers_of_json(text, variable).map_err(|error| error.to_string())
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
            read(text),
            Ok(vec![
                (
                    "far".to_owned(),
                    How::Http {
                        url: "https://mcp.test/mcp".to_owned(),
                        headers: pair("Authorization", "Bearer /home/heron"),
                    }
                ),
                (
                    "files".to_owned(),
                    How::Command {
                        program: "npx".to_owned(),
                        arguments: ["-y", "server", "/home/heron/pond"].map(str::to_owned).to_vec(),
                        variables: pair("A", "b"),
                    }
                ),
            ])
        );
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        for (text, words) in [
            ("[]", "this is no `mcpServers` JSON"),
            (r#"{"mcpServers":{"a":{}}}"#, "`a` has neither a command nor a url"),
            (r#"{"mcpServers":{"a":{"command":"x","url":"y"}}}"#, "one is enough"),
            (r#"{"mcpServers":{"a":{"command":"${NOPE}"}}}"#, "`a` needs $NOPE, which is not set"),
        ] {
            let error = read(text).err().unwrap_or_default();
            assert!(error.contains(words), "{error}");
        }
    }
}
