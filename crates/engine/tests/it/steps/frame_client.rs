//! A client that uses only the view's native frames, and summaries of pages.

use std::collections::BTreeMap;

use millpond_engine::event::Record;
use millpond_engine::view::{Item, ItemKind, ItemState, Page, Thinking, ViewName};
use millpond_engine::wire::{Encoder, FrameFormat, ProtocolVersion, StreamKind, patch};
use serde_json::{Value, json};

use super::log::Log;

/// Frames and page of a log.
#[derive(Clone, Debug, Default)]
pub(super) struct ViewResult {
    pub(super) frames: Vec<(String, Value)>,
    pub(super) page: Page,
}

/// Encodes a log with default options, with all checks.
pub(super) fn view_log(log: &Log) -> ViewResult {
    view_records(Thinking::ViewDefault, &log.records)
}

/// Encodes records and checks the properties of every log: frames and patches agree, and a reader
/// that joins later with a snapshot ends with the same page.
pub(super) fn view_records(thinking: Thinking, records: &[Record<'_>]) -> ViewResult {
    let own = StreamKind { thinking, ..StreamKind::new(ViewName::Steps) };
    let mut encoder = Encoder::new(own, "session");
    let mut frames: Vec<(String, Value)> = Vec::new();
    for record in records {
        encoder.push(record, &mut |frame| {
            let data: Value = serde_json::from_str(frame.data).unwrap();
            assert_eq!(data["run"], "run", "{}", frame.event);
            frames.push((frame.event.to_owned(), data));
        });
    }
    let picture = encoder.page().clone();
    let mut screen = FrameClient::default();
    for (name, data) in &frames {
        screen.apply_frame(name, data);
    }
    assert_eq!(screen.parts, parts_of_page(&picture), "frames and page differ");
    check_late_readers(StreamKind { format: FrameFormat::Patch, ..own }, records, &picture);
    check_merged(own, records, &screen);
    ViewResult { frames, page: picture }
}

fn check_late_readers(kind: StreamKind, records: &[Record<'_>], expected: &Page) {
    let mut encoder = Encoder::new(kind, "session");
    let mut tails: Vec<Page> = vec![Page::default()];
    for (at, record) in records.iter().enumerate() {
        encoder.push(record, &mut |frame| {
            for picture in &mut tails {
                let patch = patch::decode(frame.data, picture).unwrap();
                picture.apply(&patch);
            }
        });
        // A few of them: every one reads the rest of the log.
        if at.is_multiple_of(1 + records.len() / 16) {
            encoder.emit_snapshot(record.seq + 1, ProtocolVersion::V2, &mut |frame| {
                let mut data: Value = serde_json::from_str(frame.data).unwrap();
                tails.push(serde_json::from_value(data["page"].take()).unwrap());
            });
        }
    }
    for picture in &tails {
        assert_eq!(picture, expected, "a reader with a snapshot sees something else");
    }
}

fn check_merged(kind: StreamKind, records: &[Record<'_>], expected: &FrameClient) {
    let mut encoder = Encoder::new(kind, "session").with_merging();
    let mut screen = FrameClient::default();
    let mut show = |event: &str, data: &str| {
        screen.apply_frame(event, &serde_json::from_str(data).unwrap());
    };
    for record in records {
        encoder.push(record, &mut |frame| show(frame.event, frame.data));
    }
    encoder.flush(&mut |frame| show(frame.event, frame.data));
    assert_eq!(screen.parts, expected.parts, "merged frames say something else");
}

type PartKey = (String, Value, Value);

/// State of a client of native frames.
#[derive(Clone, Debug, Default)]
struct FrameClient {
    /// By kind, round, and index or id.
    parts: BTreeMap<String, Value>,
    overlay: Option<Value>,
}

fn part_key_text(place: &PartKey) -> String {
    format!("{} {} {}", place.0, place.1, place.2)
}

impl FrameClient {
    fn part_mut(&mut self, data: &Value) -> &mut Value {
        let at = part_key_text(&("part".to_owned(), data["round"].clone(), data["index"].clone()));
        self.parts.entry(at).or_default()
    }

    fn apply_frame(&mut self, name: &str, data: &Value) {
        match name {
            "overlay" => self.overlay = Some(data["phase"].clone()).filter(|at| !at.is_null()),
            "text" => {
                let delta = data["delta"].as_str().unwrap();
                if data["id"].is_string() {
                    *self.part_mut(data) = json!({"kind": "text", "id": data["id"], "text": ""});
                }
                let part = self.part_mut(data);
                let before = part["text"].as_str().unwrap_or("").to_owned();
                let replaces = data["replace"] == true;
                part["text"] = if replaces { json!(delta) } else { json!(before + delta) };
            }
            "segment" => *self.part_mut(data) = strip_position(data),
            "entry" => self.apply_entry(data),
            "image" => {
                self.for_each_with_id(&data["id"], |part| push_to_list(part, "images", data));
            }
            "citation" => {
                self.for_each_with_id(&data["id"], |part| push_to_list(part, "citations", data));
            }
            "withdrawn" => {
                for id in data["ids"].as_array().unwrap() {
                    let before = self.parts.len();
                    self.parts.retain(|_, part| part["id"] != *id);
                    if self.parts.len() == before {
                        let call = call_of_entry(id.as_str().unwrap());
                        self.parts.values_mut().for_each(|part| clear_step(part, &call));
                    }
                }
            }
            "finalized" => self.check_finalized(data),
            "completed" | "failed" | "cancelled" | "truncated" => {
                assert_eq!(self.overlay, None, "an overlay outlived its run");
            }
            "user" | "ask" | "ask-resolved" | "thinking" => {}
            other => panic!("no such frame: {other}"),
        }
    }

    /// Adds a result to the row of its call; without one it has a row of its own.
    fn apply_entry(&mut self, data: &Value) {
        if let Some(call) = data["step"].as_str() {
            let known = self.parts.values_mut().filter_map(|part| find_call(part, call));
            if let Some(known) = known.last() {
                merge_result(known, data, "text");
            }
            return;
        }
        let at = part_key_text(&("entry".to_owned(), data["round"].clone(), data["id"].clone()));
        self.parts.insert(at, strip_position(data));
    }

    fn for_each_with_id(&mut self, id: &Value, mut change: impl FnMut(&mut Value)) {
        self.parts.values_mut().filter(|part| part["id"] == *id).for_each(&mut change);
    }

    /// Checks that `finalized` agrees with the frames before it.
    fn check_finalized(&mut self, data: &Value) {
        let own = |at: &str| at.starts_with(&format!("part {} ", data["round"]));
        let known: Vec<&Value> =
            self.parts.iter().filter(|(at, _)| own(at)).map(|(_, part)| part).collect();
        let mut said: Vec<Value> = data["segments"].as_array().unwrap().clone();
        said.sort_by_key(|part| part["index"].to_string());
        let said: Vec<Value> = said.iter().map(strip_position).collect();
        assert_eq!(said.iter().collect::<Vec<_>>(), known, "finalized says something else");
        assert_eq!(self.overlay, None, "an overlay outlived its round");
        let at = part_key_text(&("control".to_owned(), data["round"].clone(), Value::Null));
        if data["steps"] == json!([]) {
            assert_eq!((&data["label"], &data["ranForMs"]), (&Value::Null, &Value::Null));
        } else {
            let of = json!({"label": data["label"], "steps": data["steps"]});
            self.parts.insert(at, of);
        }
    }
}

/// Id of the call that an entry is the result of.
fn call_of_entry(id: &str) -> String {
    id.replacen('e', "s", 1)
}

fn find_call<'v>(part: &'v mut Value, call: &str) -> Option<&'v mut Value> {
    if part["id"] == call {
        return Some(part);
    }
    part.get_mut("steps")?.as_array_mut()?.iter_mut().find_map(|step| find_call(step, call))
}

/// Adds a result to its call, and nested results to the nested calls.
fn merge_result(call: &mut Value, result: &Value, output: &str) {
    call["state"] = result["state"].clone();
    for (from, to) in [(output, "result"), ("detail", "detail")] {
        if result[from].is_string() {
            call[to] = result[from].clone();
        }
    }
    if result["description"].is_object() {
        call["description"] = result["description"].clone();
    }
    if let Some(rest) = result["arguments"].as_str() {
        call["arguments"] = json!(call["arguments"].as_str().unwrap_or("").to_owned() + rest);
    }
    if let Some(ran) = result["ranForMs"].as_u64() {
        call["ranForMs"] = json!(call["ranForMs"].as_u64().unwrap_or(0) + ran);
    }
    for image in result["images"].as_array().into_iter().flatten() {
        push_to_list(call, "images", image);
    }
    for step in result["steps"].as_array().into_iter().flatten() {
        if let Some(known) = find_call(call, step["id"].as_str().unwrap()) {
            merge_result(known, step, "result");
            continue;
        }
        if call["steps"].is_null() {
            call["steps"] = json!([]);
        }
        call["steps"].as_array_mut().unwrap().push(step.clone());
    }
}

/// Empties a withdrawn call that is folded with others.
fn clear_step(part: &mut Value, call: &str) {
    let Some(step) = find_call(part, call) else { return };
    let kept = ["kind", "id", "name", "sort", "callId", "ranForMs", "index"];
    step.as_object_mut().unwrap().retain(|name, _| kept.contains(&name.as_str()));
    step["state"] = json!("withdrawn");
}

fn push_to_list(part: &mut Value, list: &str, data: &Value) {
    let mut of = data.clone();
    of.as_object_mut().unwrap().retain(|name, _| name != "run" && name != "id");
    if part[list].is_null() {
        part[list] = json!([]);
    }
    part[list].as_array_mut().unwrap().push(of);
}

/// A part without its position and without a text's state, which frames do not carry.
fn strip_position(data: &Value) -> Value {
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

/// The parts of a page. A second implementation, to check the frames.
fn parts_of_page(picture: &Page) -> BTreeMap<String, Value> {
    let shown = picture.items.values().filter(|item| item.state != ItemState::Withdrawn);
    shown.filter_map(part_of_item).collect()
}

fn part_of_item(item: &Item<'_>) -> Option<(String, Value)> {
    let round = json!(item.round);
    let (what, by, data) = match item.kind {
        // Frames tell them otherwise: as prompts, with the ending, and when the round has ended.
        ItemKind::User | ItemKind::Error => return None,
        ItemKind::Steps if item.state == ItemState::Live => return None,
        ItemKind::Steps => {
            let steps: Vec<Value> = item.steps.iter().map(item_as_frame_json).collect();
            ("control", Value::Null, json!({"label": item.label, "steps": steps}))
        }
        ItemKind::Entry => ("entry", json!(item.id), strip_position(&item_as_frame_json(item))),
        _ => ("part", json!(item.index), strip_position(&item_as_frame_json(item))),
    };
    Some((part_key_text(&(what.to_owned(), round, by)), data))
}

fn item_as_frame_json(item: &Item<'_>) -> Value {
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
    if item.state == ItemState::Pending {
        object.insert("state".to_owned(), json!("called"));
    }
    if !item.steps.is_empty() {
        object.insert("steps".to_owned(), item.steps.iter().map(item_as_frame_json).collect());
    }
    data
}

impl ViewResult {
    /// Short summary of every frame, in order.
    pub(super) fn frame_summaries(&self) -> Vec<String> {
        self.frames.iter().map(|(name, data)| summarize_frame(name, data)).collect()
    }

    pub(super) fn item_summaries(&self) -> Vec<String> {
        self.page.items.values().map(summarize_item).collect()
    }

    pub(super) fn frames_named(&self, name: &str) -> Vec<&Value> {
        self.frames.iter().filter(|(event, _)| event == name).map(|(_, data)| data).collect()
    }
}

fn summarize_frame(name: &str, data: &Value) -> String {
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

/// One-line summary of an item.
fn summarize_item(item: &Item<'_>) -> String {
    let name = item.name.as_deref().unwrap_or_default();
    let arguments = item.arguments.as_deref().unwrap_or_default();
    let result = item.result.as_deref().unwrap_or_default();
    let state = match item.state {
        ItemState::Done => String::new(),
        other => format!(" ({other:?})"),
    };
    let under: Vec<String> = item.steps.iter().map(summarize_item).collect();
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
