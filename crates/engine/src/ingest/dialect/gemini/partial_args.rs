//! Arguments that come as values at JSON paths, put together again.
//!
//! `$.to[0].name` names a place, which opens as soon as something is put there. Text put where
//! there is text goes on with it.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::event::UnrecognisedReason;
use crate::ingest::json::{RawValue, Shape, is_true, string};
use crate::limits::{
    PARTIAL_ARGUMENTS_BYTES_MAX, PARTIAL_ARGUMENTS_DEPTH_MAX, PARTIAL_ARGUMENTS_VALUES_MAX,
};
use crate::run::Writer;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PartialArgs {
    root: Node,
    bytes: usize,
    values: usize,
}

#[derive(Clone, Debug, Default, PartialEq)]
enum Node {
    #[default]
    Missing,
    Text(String),
    /// A number, `true`, `false` or `null`, as it came.
    Plain(String),
    Array(Vec<Node>),
    Object(Members),
}

/// In the order they came, with the place of each name.
#[derive(Clone, Debug, Default, PartialEq)]
struct Members {
    list: Vec<(String, Node)>,
    places: HashMap<String, usize>,
}

/// What is put at a path.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Value<'a> {
    Text(&'a str),
    /// JSON that is neither text, array nor object.
    Plain(&'a str),
}

/// The path is none, does not fit what is there already, or there is too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Misfit;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Turn<'a> {
    Key(Cow<'a, str>),
    Index(usize),
}

impl PartialArgs {
    pub(super) fn is_empty(&self) -> bool {
        matches!(self.root, Node::Missing)
    }

    /// Takes one of the source's values; one that fits nowhere is kept as it came.
    pub(super) fn take(&mut self, raw: &RawValue, out: &mut Writer<'_>) {
        const VALUE: Shape<5> = Shape {
            read: ["jsonPath", "stringValue", "numberValue", "boolValue", "willContinue"],
            skip: &["nullValue"],
        };
        let Some(value) = VALUE.read(raw.get()) else {
            out.unrecognised(UnrecognisedReason::Frame, raw.get());
            return;
        };
        out.unknown_fields(&value.unknown);
        let [path, text, number, boolean, will_continue] = value.read;
        let path = path.and_then(string).unwrap_or_default();
        let put = match (text.and_then(string), number.or(boolean)) {
            (Some(text), _) => self.put(&path, Value::Text(&text)),
            (None, Some(plain)) => self.put(&path, Value::Plain(plain.get())),
            // A null is spelt as the lack of any value; so is the end of a text.
            (None, None) if will_continue.is_some_and(is_true) || self.has(&path) => Ok(()),
            (None, None) => self.put(&path, Value::Plain("null")),
        };
        if put.is_err() {
            out.unrecognised(UnrecognisedReason::Frame, raw.get());
        }
    }

    /// Nothing changes unless all of it fits.
    fn put(&mut self, path: &str, value: Value<'_>) -> Result<(), Misfit> {
        let turns = turns(path)?;
        let text = match value {
            Value::Text(text) | Value::Plain(text) => text,
        };
        let (leaf, made) = self.root.reach(&turns)?;
        let values = self.values + made;
        let bytes = self.bytes + text.len() + made * path.len();
        let fits = leaf.is_none_or(|leaf| leaf.takes(value));
        if !fits || PARTIAL_ARGUMENTS_BYTES_MAX < bytes || PARTIAL_ARGUMENTS_VALUES_MAX < values {
            return Err(Misfit);
        }
        (self.values, self.bytes) = (values, bytes);
        let mut node = &mut self.root;
        for turn in turns {
            node = node.child(turn).ok_or(Misfit)?;
        }
        match (node, value) {
            (Node::Text(before), Value::Text(more)) => before.push_str(more),
            (node, Value::Text(text)) => *node = Node::Text(text.to_owned()),
            (node, Value::Plain(json)) => *node = Node::Plain(json.to_owned()),
        }
        Ok(())
    }

    /// Whether there is anything at this path.
    fn has(&self, path: &str) -> bool {
        let Ok(turns) = turns(path) else { return false };
        matches!(self.root.reach(&turns), Ok((Some(_), 0)))
    }

    pub(super) fn to_json(&self) -> String {
        let mut json = String::with_capacity(self.bytes);
        self.root.write(&mut json);
        json
    }
}

impl Node {
    /// What is at the end of these turns, and how many places there are yet to be made on the way.
    fn reach(&self, turns: &[Turn<'_>]) -> Result<(Option<&Node>, usize), Misfit> {
        let mut node = self;
        for (at, turn) in turns.iter().enumerate() {
            let child = match (node, turn) {
                (Node::Object(members), Turn::Key(key)) => {
                    members.places.get(key.as_ref()).map(|place| &members.list[*place].1)
                }
                (Node::Array(elements), Turn::Index(at)) if *at <= elements.len() => {
                    elements.get(*at)
                }
                (Node::Missing, Turn::Key(_) | Turn::Index(0)) => None,
                _ => return Err(Misfit),
            };
            let Some(child) = child else {
                // Arrays grow by one: a new one begins at its first place.
                let begins = |turn: &Turn<'_>| matches!(turn, Turn::Key(_) | Turn::Index(0));
                let rest = turns.get(at + 1..).unwrap_or_default();
                let made = 1 + rest.len();
                return if rest.iter().all(begins) { Ok((None, made)) } else { Err(Misfit) };
            };
            node = child;
        }
        Ok((Some(node), 0))
    }

    fn takes(&self, value: Value<'_>) -> bool {
        match (self, value) {
            (Node::Missing, _)
            | (Node::Text(_), Value::Text(_))
            | (Node::Plain(_), Value::Plain(_)) => true,
            (Node::Text(_) | Node::Plain(_) | Node::Array(_) | Node::Object(_), _) => false,
        }
    }

    /// The place one turn further, made if need be.
    fn child(&mut self, turn: Turn<'_>) -> Option<&mut Node> {
        if let Node::Missing = self {
            *self = match turn {
                Turn::Key(_) => Node::Object(Members::default()),
                Turn::Index(_) => Node::Array(Vec::new()),
            };
        }
        match (self, turn) {
            (Node::Object(Members { list, places }), Turn::Key(key)) => {
                let next = list.len();
                let place = *places.entry(key.clone().into_owned()).or_insert(next);
                if place == next {
                    list.push((key.into_owned(), Node::Missing));
                }
                list.get_mut(place).map(|(_, child)| child)
            }
            (Node::Array(elements), Turn::Index(at)) => {
                if at == elements.len() {
                    elements.push(Node::Missing);
                }
                elements.get_mut(at)
            }
            _ => None,
        }
    }

    fn write(&self, json: &mut String) {
        match self {
            Node::Missing => json.push_str("null"),
            Node::Plain(plain) => json.push_str(plain),
            Node::Text(text) => write_text(text, json),
            Node::Array(elements) => {
                json.push('[');
                for (at, element) in elements.iter().enumerate() {
                    if at != 0 {
                        json.push(',');
                    }
                    element.write(json);
                }
                json.push(']');
            }
            Node::Object(members) => {
                json.push('{');
                for (at, (name, value)) in members.list.iter().enumerate() {
                    if at != 0 {
                        json.push(',');
                    }
                    write_text(name, json);
                    json.push(':');
                    value.write(json);
                }
                json.push('}');
            }
        }
    }
}

fn write_text(text: &str, json: &mut String) {
    // A string always has a JSON form.
    json.push_str(&serde_json::to_string(text).unwrap_or_default());
}

/// `$.a.b[0]['c d']` as the turns to take from the root.
fn turns(path: &str) -> Result<Vec<Turn<'_>>, Misfit> {
    let mut rest = path.strip_prefix('$').ok_or(Misfit)?;
    let mut turns = Vec::new();
    while !rest.is_empty() {
        if PARTIAL_ARGUMENTS_DEPTH_MAX <= turns.len() {
            return Err(Misfit);
        }
        let (turn, after) = next_turn(rest).ok_or(Misfit)?;
        turns.push(turn);
        rest = after;
    }
    Ok(turns)
}

fn next_turn(rest: &str) -> Option<(Turn<'_>, &str)> {
    if let Some(named) = rest.strip_prefix('.') {
        let end = named.find(['.', '[']).unwrap_or(named.len());
        let (key, after) = named.split_at(end);
        return Some((Turn::Key(Cow::Borrowed(key)), after));
    }
    let inside = rest.strip_prefix('[')?;
    if let Some(quote @ ('"' | '\'')) = inside.chars().next() {
        let (key, after) = quoted(inside.get(1..)?, quote)?;
        return Some((Turn::Key(key), after.strip_prefix(']')?));
    }
    let (index, after) = inside.split_once(']')?;
    Some((Turn::Index(index.parse().ok()?), after))
}

/// The text up to its closing quote; a backslash keeps the character after it.
fn quoted(text: &str, quote: char) -> Option<(Cow<'_, str>, &str)> {
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

    fn check(puts: &[(&str, Value<'_>)], expected: &str) {
        let mut args = PartialArgs::default();
        for (path, value) in puts {
            args.put(path, *value).unwrap();
        }
        assert_eq!(args.to_json(), expected);
    }

    #[test]
    fn values_at_paths_become_one_object_in_the_order_they_came() {
        check(
            &[
                ("$.to[0].name", Value::Text("He")),
                ("$.to[0].name", Value::Text("ron")),
                ("$.to[1]", Value::Plain("null")),
                ("$['a b'].n", Value::Plain("1.50")),
                ("$[\"it's\"]", Value::Plain("true")),
            ],
            r#"{"to":[{"name":"Heron"},null],"a b":{"n":1.50},"it's":true}"#,
        );
    }

    #[test]
    fn a_path_that_does_not_fit_changes_nothing_that_is_there() {
        let mut args = PartialArgs::default();
        args.put("$.a", Value::Text("x")).unwrap();
        for path in ["", "a", "$.a.b", "$.a[0]", "$.b[7]", "$[", "$['x", "$[-1]", "$x"] {
            assert_eq!(args.put(path, Value::Text("y")), Err(Misfit), "{path}");
        }
        assert_eq!(args.to_json(), r#"{"a":"x"}"#);
    }

    #[test]
    fn depth_count_and_bytes_are_bounded() {
        let mut args = PartialArgs::default();
        let deepest = format!("${}", ".a".repeat(PARTIAL_ARGUMENTS_DEPTH_MAX));
        assert_eq!(args.put(&deepest, Value::Text("")), Ok(()));
        assert_eq!(args.put(&(deepest + ".a"), Value::Text("")), Err(Misfit));
        let much = "x".repeat(PARTIAL_ARGUMENTS_BYTES_MAX);
        assert_eq!(args.put("$.much", Value::Text(&much)), Err(Misfit));
        let mut many = PartialArgs::default();
        for at in 0..PARTIAL_ARGUMENTS_VALUES_MAX {
            assert_eq!(many.put(&format!("$[{at}]"), Value::Plain("0")), Ok(()));
        }
        let next = format!("$[{PARTIAL_ARGUMENTS_VALUES_MAX}]");
        assert_eq!(many.put(&next, Value::Plain("0")), Err(Misfit));
    }

    #[test]
    fn values_beyond_the_bound_leave_nothing_behind_and_cost_little() {
        let mut args = PartialArgs::default();
        for at in 0..PARTIAL_ARGUMENTS_VALUES_MAX * 20 {
            let put = args.put(&format!("$.k{at}"), Value::Plain("0"));
            assert_eq!(put.is_ok(), at < PARTIAL_ARGUMENTS_VALUES_MAX, "{at}");
        }
        let Node::Object(members) = &args.root else { panic!("{:?}", args.root) };
        assert_eq!(members.list.len(), PARTIAL_ARGUMENTS_VALUES_MAX);
    }
}
