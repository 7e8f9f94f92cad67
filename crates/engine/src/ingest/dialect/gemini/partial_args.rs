//! Function arguments that arrive as values at JSON paths, assembled into one object.
//!
//! `$.to[0].name` names a position, which is created on first use. Text at a position that already
//! holds text is appended to it.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::event::UnrecognisedReason;
use crate::ingest::json::{RawValue, as_string, is_true, object};
use crate::limits::{
    PARTIAL_ARGUMENTS_BYTES_MAX, PARTIAL_ARGUMENTS_DEPTH_MAX, PARTIAL_ARGUMENTS_VALUES_MAX,
};
use crate::run::Writer;

/// Arguments assembled so far, with their size for the limits.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PartialArgs {
    root: Node,
    byte_count: usize,
    value_count: usize,
}

/// A JSON value under assembly.
#[derive(Clone, Debug, Default, PartialEq)]
enum Node {
    #[default]
    Missing,
    Text(String),
    /// A number, `true`, `false` or `null`, verbatim.
    Plain(String),
    Array(Vec<Node>),
    Object(ObjectMembers),
}

/// Object members in order of arrival, with an index by name.
#[derive(Clone, Debug, Default, PartialEq)]
struct ObjectMembers {
    entries: Vec<(String, Node)>,
    index_by_name: HashMap<String, usize>,
}

/// A value to store at a path.
#[derive(Clone, Copy, Debug, PartialEq)]
enum PathValue<'a> {
    Text(&'a str),
    /// JSON that is not a string, an array or an object.
    Plain(&'a str),
}

/// The path is invalid, does not fit the existing value, or exceeds a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PathError;

/// One segment of a path: a member name or an array index.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PathSegment<'a> {
    Key(Cow<'a, str>),
    Index(usize),
}

impl PartialArgs {
    /// Returns true if no value has been stored.
    pub(super) fn is_empty(&self) -> bool {
        matches!(self.root, Node::Missing)
    }

    /// Stores one of the provider's partial values; one that does not fit is written as
    /// unrecognised.
    pub(super) fn push_value(&mut self, raw: &RawValue, out: &mut Writer<'_>) {
        object! { Value {
            path = "jsonPath", text = "stringValue", number = "numberValue",
            boolean = "boolValue", will_continue = "willContinue",
            ; skip "nullValue"
        } }
        let Some(value) = Value::from_raw(raw) else {
            out.append_unrecognised(UnrecognisedReason::Frame, raw.get());
            return;
        };
        out.append_unknown_fields_once(&value.unknown);
        let Value { path, text, number, boolean, will_continue, .. } = value;
        let path = path.and_then(as_string).unwrap_or_default();
        let put = match (text.and_then(as_string), number.or(boolean)) {
            (Some(text), _) => self.set_or_append_at_path(&path, PathValue::Text(&text)),
            (None, Some(plain)) => self.set_or_append_at_path(&path, PathValue::Plain(plain.get())),
            // A missing value means null, or the end of a text.
            (None, None) if will_continue.is_some_and(is_true) || self.has_path(&path) => Ok(()),
            (None, None) => self.set_or_append_at_path(&path, PathValue::Plain("null")),
        };
        if put.is_err() {
            out.append_unrecognised(UnrecognisedReason::Frame, raw.get());
        }
    }

    /// Stores a value at a path, or appends text to the text there; on error nothing changes.
    fn set_or_append_at_path(&mut self, path: &str, value: PathValue<'_>) -> Result<(), PathError> {
        let turns = parse_path(path)?;
        let text = match value {
            PathValue::Text(text) | PathValue::Plain(text) => text,
        };
        let (leaf, made) = self.root.find_node_counting_missing(&turns)?;
        let values = self.value_count + made;
        let bytes = self.byte_count + text.len() + made * path.len();
        let fits = leaf.is_none_or(|leaf| leaf.can_accept(value));
        if !fits || PARTIAL_ARGUMENTS_BYTES_MAX < bytes || PARTIAL_ARGUMENTS_VALUES_MAX < values {
            return Err(PathError);
        }
        (self.value_count, self.byte_count) = (values, bytes);
        let mut node = &mut self.root;
        for turn in turns {
            node = node.child_or_insert(turn).ok_or(PathError)?;
        }
        match (node, value) {
            (Node::Text(before), PathValue::Text(more)) => before.push_str(more),
            (node, PathValue::Text(text)) => *node = Node::Text(text.to_owned()),
            (node, PathValue::Plain(json)) => *node = Node::Plain(json.to_owned()),
        }
        Ok(())
    }

    /// Returns true if a value exists at this path.
    fn has_path(&self, path: &str) -> bool {
        let Ok(turns) = parse_path(path) else { return false };
        matches!(self.root.find_node_counting_missing(&turns), Ok((Some(_), 0)))
    }

    /// Returns the arguments as JSON text.
    pub(super) fn to_json(&self) -> String {
        let mut json = String::with_capacity(self.byte_count);
        self.root.append_json_to(&mut json);
        json
    }
}

impl Node {
    /// Follows a path: returns the node at its end, if any, and how many nodes are missing on the
    /// way.
    fn find_node_counting_missing(
        &self,
        turns: &[PathSegment<'_>],
    ) -> Result<(Option<&Node>, usize), PathError> {
        let mut node = self;
        for (at, turn) in turns.iter().enumerate() {
            let child = match (node, turn) {
                (Node::Object(members), PathSegment::Key(key)) => {
                    members.index_by_name.get(key.as_ref()).map(|place| &members.entries[*place].1)
                }
                (Node::Array(elements), PathSegment::Index(at)) if *at <= elements.len() => {
                    elements.get(*at)
                }
                (Node::Missing, PathSegment::Key(_) | PathSegment::Index(0)) => None,
                _ => return Err(PathError),
            };
            let Some(child) = child else {
                // Arrays grow by one element: a new one starts at index 0.
                let begins = |turn: &PathSegment<'_>| {
                    matches!(turn, PathSegment::Key(_) | PathSegment::Index(0))
                };
                let rest = turns.get(at + 1..).unwrap_or_default();
                let made = 1 + rest.len();
                return if rest.iter().all(begins) { Ok((None, made)) } else { Err(PathError) };
            };
            node = child;
        }
        Ok((Some(node), 0))
    }

    /// Returns true if `value` can be stored in or appended to this node.
    fn can_accept(&self, value: PathValue<'_>) -> bool {
        match (self, value) {
            (Node::Missing, _)
            | (Node::Text(_), PathValue::Text(_))
            | (Node::Plain(_), PathValue::Plain(_)) => true,
            (Node::Text(_) | Node::Plain(_) | Node::Array(_) | Node::Object(_), _) => false,
        }
    }

    /// Returns the child at one path segment, creating it if it is missing.
    fn child_or_insert(&mut self, turn: PathSegment<'_>) -> Option<&mut Node> {
        if let Node::Missing = self {
            *self = match turn {
                PathSegment::Key(_) => Node::Object(ObjectMembers::default()),
                PathSegment::Index(_) => Node::Array(Vec::new()),
            };
        }
        match (self, turn) {
            (
                Node::Object(ObjectMembers { entries: list, index_by_name: places }),
                PathSegment::Key(key),
            ) => {
                let next = list.len();
                let place = *places.entry(key.clone().into_owned()).or_insert(next);
                if place == next {
                    list.push((key.into_owned(), Node::Missing));
                }
                list.get_mut(place).map(|(_, child)| child)
            }
            (Node::Array(elements), PathSegment::Index(at)) => {
                if at == elements.len() {
                    elements.push(Node::Missing);
                }
                elements.get_mut(at)
            }
            _ => None,
        }
    }

    /// Appends this node as JSON text.
    fn append_json_to(&self, json: &mut String) {
        match self {
            Node::Missing => json.push_str("null"),
            Node::Plain(plain) => json.push_str(plain),
            Node::Text(text) => append_json_string(text, json),
            Node::Array(elements) => {
                json.push('[');
                for (at, element) in elements.iter().enumerate() {
                    if at != 0 {
                        json.push(',');
                    }
                    element.append_json_to(json);
                }
                json.push(']');
            }
            Node::Object(members) => {
                json.push('{');
                for (at, (name, value)) in members.entries.iter().enumerate() {
                    if at != 0 {
                        json.push(',');
                    }
                    append_json_string(name, json);
                    json.push(':');
                    value.append_json_to(json);
                }
                json.push('}');
            }
        }
    }
}

/// Appends `text` as a JSON string.
fn append_json_string(text: &str, json: &mut String) {
    // A string always has a JSON form.
    json.push_str(&serde_json::to_string(text).unwrap_or_default());
}

/// Parses `$.a.b[0]['c d']` into its segments.
fn parse_path(path: &str) -> Result<Vec<PathSegment<'_>>, PathError> {
    let mut rest = path.strip_prefix('$').ok_or(PathError)?;
    let mut turns = Vec::new();
    while !rest.is_empty() {
        if PARTIAL_ARGUMENTS_DEPTH_MAX <= turns.len() {
            return Err(PathError);
        }
        let (turn, after) = parse_segment(rest).ok_or(PathError)?;
        turns.push(turn);
        rest = after;
    }
    Ok(turns)
}

/// Parses the first segment; returns it and the rest of the path.
fn parse_segment(rest: &str) -> Option<(PathSegment<'_>, &str)> {
    if let Some(named) = rest.strip_prefix('.') {
        let end = named.find(['.', '[']).unwrap_or(named.len());
        let (key, after) = named.split_at(end);
        return Some((PathSegment::Key(Cow::Borrowed(key)), after));
    }
    let inside = rest.strip_prefix('[')?;
    if let Some(quote @ ('"' | '\'')) = inside.chars().next() {
        let (key, after) = parse_quoted_key(inside.get(1..)?, quote)?;
        return Some((PathSegment::Key(key), after.strip_prefix(']')?));
    }
    let (index, after) = inside.split_once(']')?;
    Some((PathSegment::Index(index.parse().ok()?), after))
}

/// Parses a key up to its closing quote; a backslash escapes the next character.
fn parse_quoted_key(text: &str, quote: char) -> Option<(Cow<'_, str>, &str)> {
    let mut key = String::new();
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => key.push(chars.next()?.1),
            _ if char == quote => return Some((Cow::Owned(key), text.get(at + 1..)?)),
            _ => key.push(char),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(puts: &[(&str, PathValue<'_>)], expected: &str) {
        let mut args = PartialArgs::default();
        for (path, value) in puts {
            args.set_or_append_at_path(path, *value).unwrap();
        }
        assert_eq!(args.to_json(), expected);
    }

    #[test]
    fn values_at_paths_become_one_object_in_the_order_they_came() {
        check(
            &[
                ("$.to[0].name", PathValue::Text("He")),
                ("$.to[0].name", PathValue::Text("ron")),
                ("$.to[1]", PathValue::Plain("null")),
                ("$['a b'].n", PathValue::Plain("1.50")),
                ("$[\"it's\"]", PathValue::Plain("true")),
            ],
            r#"{"to":[{"name":"Heron"},null],"a b":{"n":1.50},"it's":true}"#,
        );
    }

    #[test]
    fn a_path_that_does_not_fit_changes_nothing_that_is_there() {
        let mut args = PartialArgs::default();
        args.set_or_append_at_path("$.a", PathValue::Text("x")).unwrap();
        for path in ["", "a", "$.a.b", "$.a[0]", "$.b[7]", "$[", "$['x", "$[-1]", "$x"] {
            assert_eq!(
                args.set_or_append_at_path(path, PathValue::Text("y")),
                Err(PathError),
                "{path}"
            );
        }
        assert_eq!(args.to_json(), r#"{"a":"x"}"#);
    }

    #[test]
    fn depth_count_and_bytes_are_bounded() {
        let mut args = PartialArgs::default();
        let deepest = format!("${}", ".a".repeat(PARTIAL_ARGUMENTS_DEPTH_MAX));
        assert_eq!(args.set_or_append_at_path(&deepest, PathValue::Text("")), Ok(()));
        assert_eq!(
            args.set_or_append_at_path(&(deepest + ".a"), PathValue::Text("")),
            Err(PathError)
        );
        let much = "x".repeat(PARTIAL_ARGUMENTS_BYTES_MAX);
        assert_eq!(args.set_or_append_at_path("$.much", PathValue::Text(&much)), Err(PathError));
        let mut many = PartialArgs::default();
        for at in 0..PARTIAL_ARGUMENTS_VALUES_MAX {
            assert_eq!(
                many.set_or_append_at_path(&format!("$[{at}]"), PathValue::Plain("0")),
                Ok(())
            );
        }
        let next = format!("$[{PARTIAL_ARGUMENTS_VALUES_MAX}]");
        assert_eq!(many.set_or_append_at_path(&next, PathValue::Plain("0")), Err(PathError));
    }

    #[test]
    fn values_beyond_the_bound_leave_nothing_behind_and_cost_little() {
        let mut args = PartialArgs::default();
        for at in 0..PARTIAL_ARGUMENTS_VALUES_MAX * 20 {
            let put = args.set_or_append_at_path(&format!("$.k{at}"), PathValue::Plain("0"));
            assert_eq!(put.is_ok(), at < PARTIAL_ARGUMENTS_VALUES_MAX, "{at}");
        }
        let Node::Object(members) = &args.root else { panic!("{:?}", args.root) };
        assert_eq!(members.entries.len(), PARTIAL_ARGUMENTS_VALUES_MAX);
    }
}
