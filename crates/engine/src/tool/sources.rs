//! Sources in the results of searches, and opaque state of providers in results.

use std::borrow::Cow;

use serde::de::{Deserialize, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Deserializer, Map, Value};

use crate::limits::{TOOL_SOURCE_DEPTH_MAX, TOOL_TARGET_BYTES_MAX};

use super::arguments::find_text;
use super::bounded::shorten;
use super::description::{Source, ToolDescription};

/// Beginning of the names of members that only their provider can read.
const OPAQUE_PREFIX: &str = "encrypted_";

/// Returns a result without members that only the provider can read, which are no text for people.
/// The log has them. A result that is not JSON is returned as it is.
pub fn without_opaque_state(text: &str) -> Cow<'_, str> {
    let starts_json = text.trim_start().starts_with(['{', '[']);
    if !starts_json || !text.contains(OPAQUE_PREFIX) {
        return Cow::Borrowed(text);
    }
    let values = Deserializer::from_str(text).into_iter::<&RawValue>();
    let mut out = String::with_capacity(text.len());
    for value in values {
        let Ok(value) = value else { return Cow::Borrowed(text) };
        write_without_opaque_members(value, 0, &mut out);
    }
    Cow::Owned(out)
}

/// Members of an object, in order.
struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Members<'de>, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        input.deserialize_map(MembersVisitor)
    }
}

/// Writes a value without its opaque members, up to a depth; deeper values are written as they are.
fn write_without_opaque_members(value: &RawValue, depth: usize, out: &mut String) {
    let text = value.get();
    if TOOL_SOURCE_DEPTH_MAX < depth || !text.contains(OPAQUE_PREFIX) {
        return out.push_str(text);
    }
    if let Ok(Members(members)) = serde_json::from_str(text) {
        let mut separator = "{";
        for (name, value) in members {
            if name.starts_with(OPAQUE_PREFIX) {
                continue;
            }
            out.push_str(separator);
            out.extend([&*Value::from(&*name).to_string(), ":"]);
            write_without_opaque_members(value, depth + 1, out);
            separator = ",";
        }
        out.push_str(if separator == "{" { "{}" } else { "}" });
    } else if let Ok(list) = serde_json::from_str::<Vec<&RawValue>>(text) {
        let mut separator = "[";
        for value in list {
            out.push_str(separator);
            write_without_opaque_members(value, depth + 1, out);
            separator = ",";
        }
        out.push(']');
    } else {
        out.push_str(text);
    }
}

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
