//! A reader of the view's own frames that knows nothing but them, and what a page looks like.

use std::collections::BTreeMap;

use engine::event::Record;
use engine::view::{Item, Kind as ItemKind, Picture, State, Thinking, ViewName};
use engine::wire::{Encoder, Format, Kind, patch};
use serde_json::{Value, json};

use super::log::Log;

/// What came of a log: the frames, and the page.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) frames: Vec<(String, Value)>,
    pub(super) picture: Picture,
}

pub(super) fn see(log: &Log) -> Seen {
    see_with(Thinking::AsUsual, &log.records)
}

/// Reads a log and checks what holds for every log: what the frames say is what the patches say,
/// and a reader that comes later, with a snapshot, sees the same in the end.
pub(super) fn see_with(thinking: Thinking, records: &[Record<'_>]) -> Seen {
    let own = Kind { thinking, ..Kind::new(ViewName::Steps) };
    let mut encoder = Encoder::new(own, "session", 0);
    let mut frames: Vec<(String, Value)> = Vec::new();
    for record in records {
        encoder.push(record, &mut |frame| {
            let data: Value = serde_json::from_str(frame.data).unwrap();
            assert_eq!(data["run"], "run", "{}", frame.event);
            frames.push((frame.event.to_owned(), data));
        });
    }
    let picture = encoder.picture().clone();
    let mut screen = Screen::default();
    for (name, data) in &frames {
        screen.frame(name, data);
    }
    assert_eq!(screen.parts, parts(&picture), "frames and page differ");
    check_late_readers(Kind { format: Format::Patch, ..own }, records, &picture);
    check_merged(own, records, &screen);
    Seen { frames, picture }
}

fn check_late_readers(kind: Kind, records: &[Record<'_>], expected: &Picture) {
    let mut encoder = Encoder::new(kind, "session", 0);
    let mut tails: Vec<Picture> = vec![Picture::default()];
    for (at, record) in records.iter().enumerate() {
        encoder.push(record, &mut |frame| {
            for picture in &mut tails {
                let patch = patch::decode(frame.data, picture).unwrap();
                picture.apply(&patch);
            }
        });
        // A few of them: every one reads the rest of the log.
        if at.is_multiple_of(1 + records.len() / 16) {
            encoder.snapshot(record.seq + 1, &mut |frame| {
                let mut data: Value = serde_json::from_str(frame.data).unwrap();
                tails.push(serde_json::from_value(data["picture"].take()).unwrap());
            });
        }
    }
    for picture in &tails {
        assert_eq!(picture, expected, "a reader with a snapshot sees something else");
    }
}

fn check_merged(kind: Kind, records: &[Record<'_>], expected: &Screen) {
    let mut encoder = Encoder::new(kind, "session", 0).merging();
    let mut screen = Screen::default();
    let mut show = |event: &str, data: &str| {
        screen.frame(event, &serde_json::from_str(data).unwrap());
    };
    for record in records {
        encoder.push(record, &mut |frame| show(frame.event, frame.data));
    }
    encoder.flush(&mut |frame| show(frame.event, frame.data));
    assert_eq!(screen.parts, expected.parts, "merged frames say something else");
}

type Place = (String, Value, Value);

/// What a reader of frames has put together.
#[derive(Clone, Debug, Default)]
struct Screen {
    /// By what they are, their round, and their index or id.
    parts: BTreeMap<String, Value>,
    overlay: Option<Value>,
}

fn place(place: &Place) -> String {
    format!("{} {} {}", place.0, place.1, place.2)
}

impl Screen {
    fn part(&mut self, data: &Value) -> &mut Value {
        let at = place(&("part".to_owned(), data["round"].clone(), data["index"].clone()));
        self.parts.entry(at).or_default()
    }

    fn frame(&mut self, name: &str, data: &Value) {
        match name {
            "overlay" => self.overlay = Some(data["phase"].clone()).filter(|at| !at.is_null()),
            "text" => {
                let delta = data["delta"].as_str().unwrap();
                if data["id"].is_string() {
                    *self.part(data) = json!({"kind": "text", "id": data["id"], "text": ""});
                }
                let part = self.part(data);
                let before = part["text"].as_str().unwrap_or("").to_owned();
                let replaces = data["replace"] == true;
                part["text"] = if replaces { json!(delta) } else { json!(before + delta) };
            }
            "segment" => *self.part(data) = plain(data),
            "entry" => {
                let at = place(&("entry".to_owned(), data["round"].clone(), data["id"].clone()));
                self.parts.insert(at, plain(data));
            }
            "image" => self.each(&data["id"], |part| add(part, "images", data)),
            "citation" => self.each(&data["id"], |part| add(part, "citations", data)),
            "withdrawn" => {
                for id in data["ids"].as_array().unwrap() {
                    self.parts.retain(|_, part| part["id"] != *id);
                }
            }
            "finalized" => self.finalized(data),
            "completed" | "failed" | "cancelled" | "truncated" => {
                assert_eq!(self.overlay, None, "an overlay outlived its run");
            }
            "user" | "ask" | "ask-resolved" | "thinking" => {}
            other => panic!("no such frame: {other}"),
        }
    }

    fn each(&mut self, id: &Value, mut change: impl FnMut(&mut Value)) {
        self.parts.values_mut().filter(|part| part["id"] == *id).for_each(&mut change);
    }

    /// It must say of the round's parts what the frames before it said.
    fn finalized(&mut self, data: &Value) {
        let own = |at: &str| at.starts_with(&format!("part {} ", data["round"]));
        let known: Vec<&Value> =
            self.parts.iter().filter(|(at, _)| own(at)).map(|(_, part)| part).collect();
        let mut said: Vec<Value> = data["segments"].as_array().unwrap().clone();
        said.sort_by_key(|part| part["index"].to_string());
        let said: Vec<Value> = said.iter().map(plain).collect();
        assert_eq!(said.iter().collect::<Vec<_>>(), known, "finalized says something else");
        assert_eq!(self.overlay, None, "an overlay outlived its round");
        let at = place(&("control".to_owned(), data["round"].clone(), Value::Null));
        if data["steps"] == json!([]) {
            assert_eq!((&data["label"], &data["ranForMs"]), (&Value::Null, &Value::Null));
        } else {
            let of = json!({"label": data["label"], "steps": data["steps"]});
            self.parts.insert(at, of);
        }
    }
}

fn add(part: &mut Value, list: &str, data: &Value) {
    let mut of = data.clone();
    of.as_object_mut().unwrap().retain(|name, _| name != "run" && name != "id");
    if part[list].is_null() {
        part[list] = json!([]);
    }
    part[list].as_array_mut().unwrap().push(of);
}

/// A part without what says where it is, and without a text's state, which frames do not tell.
fn plain(data: &Value) -> Value {
    let mut part = data.clone();
    let is_text = part["kind"] == "text";
    let where_it_is = |name: &str| matches!(name, "run" | "round" | "index");
    let object = part.as_object_mut().unwrap();
    object.retain(|name, _| !(where_it_is(name) || is_text && name == "state"));
    if is_text && object.get("text").is_none() {
        object.insert("text".to_owned(), json!(""));
    }
    part
}

/// The same from the page. Spelt here a second time, so that the frames are checked.
fn parts(picture: &Picture) -> BTreeMap<String, Value> {
    let shown = picture.items.values().filter(|item| item.state != State::Withdrawn);
    shown.filter_map(part).collect()
}

fn part(item: &Item<'_>) -> Option<(String, Value)> {
    let round = json!(item.round);
    let (what, by, data) = match item.kind {
        ItemKind::User => return None,
        ItemKind::Steps => {
            let steps: Vec<Value> = item.steps.iter().map(spelt).collect();
            ("control", Value::Null, json!({"label": item.label, "steps": steps}))
        }
        ItemKind::Entry => ("entry", json!(item.id), plain(&spelt(item))),
        _ => ("part", json!(item.index), plain(&spelt(item))),
    };
    Some((place(&(what.to_owned(), round, by)), data))
}

fn spelt(item: &Item<'_>) -> Value {
    let mut data = serde_json::to_value(item).unwrap();
    let object = data.as_object_mut().unwrap();
    for (from, to) in [("call", "callId"), ("label", "detail"), ("ran_for_ms", "ranForMs")] {
        if let Some(value) = object.remove(from) {
            object.insert(to.to_owned(), value);
        }
    }
    for name in ["at_ms", "round", "run"] {
        object.remove(name);
    }
    if !item.steps.is_empty() {
        object.insert("steps".to_owned(), item.steps.iter().map(spelt).collect());
    }
    data
}

impl Seen {
    /// Every frame in a word or two, in order.
    pub(super) fn story(&self) -> Vec<String> {
        self.frames.iter().map(|(name, data)| in_words(name, data)).collect()
    }

    pub(super) fn page(&self) -> Vec<String> {
        self.picture.items.values().map(line).collect()
    }

    pub(super) fn named(&self, name: &str) -> Vec<&Value> {
        self.frames.iter().filter(|(event, _)| event == name).map(|(_, data)| data).collect()
    }
}

fn in_words(name: &str, data: &Value) -> String {
    let word = |field: &str| data[field].as_str().unwrap_or("-").to_owned();
    match name {
        "overlay" => format!("overlay {} {}", word("phase"), word("label")),
        "text" => format!("text {} {}", data["index"], word("delta")),
        "segment" => {
            let name = data["name"].as_str().map_or(word("kind"), str::to_owned);
            format!("segment {} {name} {}", data["index"], word("state"))
        }
        "entry" => format!("entry {} {}", word("name"), word("state")),
        "finalized" => format!("finalized {} {}", data["round"], word("label")),
        _ => name.to_owned(),
    }
}

/// An item in a line.
fn line(item: &Item<'_>) -> String {
    let name = item.name.as_deref().unwrap_or_default();
    let arguments = item.arguments.as_deref().unwrap_or_default();
    let result = item.result.as_deref().unwrap_or_default();
    let state = match item.state {
        State::Done => String::new(),
        other => format!(" ({other:?})"),
    };
    let under: Vec<String> = item.steps.iter().map(line).collect();
    let under = if under.is_empty() { String::new() } else { format!(" [{}]", under.join(", ")) };
    let images: Vec<String> =
        item.images.iter().map(|image| format!(" <{}>", image.reference)).collect();
    let images = images.concat();
    let body = match item.kind {
        ItemKind::Steps => item.label.as_deref().unwrap_or("?").to_owned(),
        ItemKind::Tool => format!("{name}({arguments}) = {result:?}"),
        ItemKind::Entry => format!("entry {name}({arguments}) = {:?}", item.text),
        ItemKind::Reasoning => format!("thought {:?}", item.text),
        ItemKind::User => format!("user {:?}", item.text),
        _ => format!("{:?}", item.text),
    };
    format!("{body}{under}{images}{state}")
}
