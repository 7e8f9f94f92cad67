//! Sources in the results of searches.

use serde_json::{Deserializer, Map, Value};

use crate::limits::{TOOL_SOURCE_DEPTH_MAX, TOOL_TARGET_BYTES_MAX};

use super::arguments::find_text;
use super::bounded::shorten;
use super::description::{Source, ToolDescription};

impl ToolDescription {
    /// Adds the sources in a result: JSON objects with an address, or links in text.
    pub(super) fn add_sources_of_output(&mut self, output: &str) {
        if output.trim_start().starts_with(['{', '[']) {
            // A result that was cut still has its first values.
            for value in Deserializer::from_str(output).into_iter::<Value>() {
                let Ok(value) = value else { break };
                self.add_sources_of_value(&value, 0);
            }
        }
        if let Some((_, list)) = output.split_once("Links: [") {
            let list = format!("[{list}");
            let value = Deserializer::from_str(&list).into_iter::<Value>().next();
            if let Some(Ok(value)) = value {
                self.add_sources_of_value(&value, 0);
            }
        }
        if self.sources.is_empty() {
            self.add_links_of_text(output);
        }
    }

    /// Adds the sources in a JSON value, at any depth.
    pub(super) fn add_sources_of_value(&mut self, value: &Value, depth: usize) {
        if TOOL_SOURCE_DEPTH_MAX < depth {
            return;
        }
        match value {
            Value::Object(members) => {
                if let Some(source) = source_of_members(members) {
                    self.add_source_once(source);
                }
                for value in members.values() {
                    self.add_sources_of_value(value, depth + 1);
                }
            }
            Value::Array(list) => {
                for value in list {
                    self.add_sources_of_value(value, depth + 1);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Adds the addresses in a text, with the title before each: `[1] Title (https://...)`.
    fn add_links_of_text(&mut self, text: &str) {
        for line in text.lines() {
            let mut rest = line;
            while let Some(at) = rest.find("http") {
                let url = &rest[at..];
                let end = url.find(|c: char| c.is_whitespace() || "()[]<>\"'`".contains(c));
                let (url, after) = url.split_at(end.unwrap_or(url.len()));
                let is_url = url.starts_with("https://") || url.starts_with("http://");
                let url = url.trim_end_matches(['.', ',', ';', ':', '*']);
                if is_url && url.len() <= TOOL_TARGET_BYTES_MAX {
                    let title = title_before_link(&rest[..at]);
                    self.add_source_once(Source { url: url.to_owned(), title });
                }
                rest = after;
            }
        }
    }
}

/// Title in the text before a link: `Title (` or `[Title](`.
fn title_before_link(before: &str) -> Option<String> {
    let title = before.trim_end().strip_suffix('(')?.trim_end();
    let title = match title.strip_suffix(']') {
        Some(link) => link.rsplit_once('[')?.1,
        None => title.trim_start().trim_start_matches(['-', '*']).trim_start(),
    };
    let numbered = title.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    let title = numbered.map_or(title, |(_, title)| title);
    Some(shorten(title.trim(), TOOL_TARGET_BYTES_MAX)).filter(|title| !title.is_empty())
}

/// Source that an object describes; `None` without an address.
fn source_of_members(members: &Map<String, Value>) -> Option<Source> {
    let url = find_text(members, &["url", "uri", "link", "href"])?;
    let is_url = url.starts_with("https://") || url.starts_with("http://");
    if !is_url || TOOL_TARGET_BYTES_MAX < url.len() || url.contains(char::is_whitespace) {
        return None;
    }
    let title = find_text(members, &["title", "name", "domain"]);
    Some(Source { url, title: title.map(|title| shorten(title.trim(), TOOL_TARGET_BYTES_MAX)) })
}
