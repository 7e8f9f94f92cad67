//! Arguments of a tool call: an object of JSON, or text.

use serde_json::{Map, Value};

/// Names of a path's member, most specific first.
const PATH_NAMES: [&str; 19] = [
    "file_path",
    "filePath",
    "absolute_path",
    "absolutePath",
    "notebook_path",
    "target_file",
    "targetFile",
    "relative_workspace_path",
    "path",
    "paths",
    "file",
    "files",
    "filename",
    "fileName",
    "target_directory",
    "dir_path",
    "directory",
    "dir",
    "folder",
];

/// Names of an address's member.
const URL_NAMES: [&str; 4] = ["url", "urls", "uri", "link"];

/// Names of a search's member.
const QUERY_NAMES: [&str; 12] = [
    "pattern",
    "query",
    "queries",
    "regex",
    "glob_pattern",
    "globPattern",
    "search_term",
    "searchTerm",
    "searchQuery",
    "search_query",
    "q",
    "glob",
];

/// Names of a command's member.
const COMMAND_NAMES: [&str; 7] =
    ["command", "cmd", "commands", "script", "shell_command", "commandLine", "code"];

/// The complete arguments of a call.
#[derive(Clone, Debug)]
pub(super) enum Arguments<'a> {
    /// Members of a JSON object.
    Members(Map<String, Value>),
    /// Elements of a JSON array.
    List(Vec<Value>),
    /// Text that is neither.
    Text(&'a str),
}

impl<'a> Arguments<'a> {
    /// Parses the arguments as the model wrote them.
    pub(super) fn parse(text: &'a str) -> Arguments<'a> {
        match text.trim_start().as_bytes().first() {
            Some(b'{') => serde_json::from_str(text).map(Arguments::Members).ok(),
            Some(b'[') => serde_json::from_str(text).map(Arguments::List).ok(),
            _ => None,
        }
        .unwrap_or(Arguments::Text(text))
    }

    /// Text that is not JSON, unless it is blank.
    pub(super) fn text(&self) -> Option<&'a str> {
        match self {
            Arguments::Text(text) => Some(text.trim()).filter(|text| !text.is_empty()),
            Arguments::Members(_) | Arguments::List(_) => None,
        }
    }

    /// Members of the object, if it is one.
    pub(super) fn members(&self) -> Option<&Map<String, Value>> {
        match self {
            Arguments::Members(members) => Some(members),
            Arguments::List(_) | Arguments::Text(_) => None,
        }
    }

    /// First of the members with these names.
    pub(super) fn get(&self, names: &[&str]) -> Option<&Value> {
        find_member(self.members()?, names)
    }

    /// First text under these names; a list of texts is joined by commas.
    pub(super) fn string(&self, names: &[&str]) -> Option<String> {
        find_text(self.members()?, names)
    }

    /// The path that the call is about.
    pub(super) fn path(&self) -> Option<String> {
        self.string(&PATH_NAMES)
    }

    /// The address that the call is about.
    pub(super) fn url(&self) -> Option<String> {
        self.string(&URL_NAMES)
    }

    /// The query of a search.
    pub(super) fn query(&self) -> Option<String> {
        self.string(&QUERY_NAMES).or_else(|| {
            let action = self.get(&["action"])?.as_object()?;
            find_text(action, &QUERY_NAMES).or_else(|| find_text(action, &URL_NAMES))
        })
    }

    /// The command, without the shell around it.
    pub(super) fn command(&self) -> Option<String> {
        let whole = match self.get(&COMMAND_NAMES)? {
            Value::String(text) => text.clone(),
            Value::Array(words) => join_command_words(words),
            _ => return None,
        };
        Some(strip_shell(&whole).to_owned()).filter(|text| !text.trim().is_empty())
    }
}

/// First member with one of these names that is not null.
pub(super) fn find_member<'m>(
    members: &'m Map<String, Value>,
    names: &[&str],
) -> Option<&'m Value> {
    names.iter().find_map(|name| members.get(*name)).filter(|value| !value.is_null())
}

/// First text under these names. Lists of texts and of objects with a path are joined by commas.
pub(super) fn find_text(members: &Map<String, Value>, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| text_of(members.get(*name)?))
}

/// Text of a value; `None` if it is blank or has none.
fn text_of(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Array(list) => {
            let texts = list.iter().filter_map(|value| match value {
                Value::Object(members) => find_text(members, &["path", "file_path", "url"]),
                Value::String(text) => Some(text.clone()),
                _ => None,
            });
            texts.collect::<Vec<_>>().join(", ")
        }
        Value::Null | Value::Bool(_) | Value::Object(_) => return None,
    };
    Some(text).filter(|text| !text.trim().is_empty())
}

/// Joins an argument vector to a command line, or several command lines by line breaks.
fn join_command_words(words: &[Value]) -> String {
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    if let [shell, flag, script] = words[..]
        && is_shell(shell)
        && matches!(flag, "-c" | "-lc")
    {
        return script.to_owned();
    }
    // Several commands have spaces of their own; the words of one have none.
    let separator = if words.iter().all(|word| word.contains(' ')) { "\n" } else { " " };
    words.join(separator)
}

/// Returns true for the name or path of a shell.
fn is_shell(word: &str) -> bool {
    matches!(word.rsplit('/').next(), Some("sh" | "bash" | "zsh" | "dash"))
}

/// Returns the script in `bash -lc '...'`, or the text as it is.
fn strip_shell(text: &str) -> &str {
    let script =
        text.split_once(" -").filter(|(shell, _)| is_shell(shell)).and_then(|(_, rest)| {
            let script = rest.strip_prefix("lc ").or_else(|| rest.strip_prefix("c "))?;
            let quoted = |mark: char| script.strip_prefix(mark)?.strip_suffix(mark);
            // A quoted script is one word only if its mark is not in it.
            match (quoted('\''), quoted('"')) {
                (Some(inner), _) if !inner.contains('\'') => Some(inner),
                (_, Some(inner)) if !inner.contains(['"', '\\', '$', '`']) => Some(inner),
                (None, None) if !script.contains(char::is_whitespace) => Some(script),
                _ => None,
            }
        });
    script.unwrap_or(text)
}
