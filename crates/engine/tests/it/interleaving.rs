//! Properties of runs whose messages grow side by side, with tools, asks, reasoning and rewrites
//! between them: each message has exactly its own text, and every page is the same live and
//! reloaded.

use millpond_engine::event::Event;
use millpond_engine::run::grammar::EventOrderChecker;
use millpond_engine::view::{ItemKind, Page, ViewName};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{RecordedEvents, ingest_whole};
use crate::views::{
    apply_patch_frame, encode_records, final_page, new_encoder, patch_stream_kind, to_records,
};

const MESSAGES: usize = 5;

/// Next move of a source.
#[derive(Clone, Debug)]
enum Move {
    Append(usize, &'static str),
    /// Changes the text from its start.
    Rewrite(usize, &'static str),
    Complete(usize),
    Reasoning,
    Tool,
    ToolEnd,
    Ask,
}

fn any_move() -> impl Strategy<Value = Move> {
    let piece = || {
        prop::sample::select(vec![
            "One. ",
            "two",
            " ",
            "<think>x</think>",
            "<thi",
            "`code` ",
            "Three!\n\n",
            "- item\n",
            "é",
            "\n</think>\n",
        ])
    };
    prop_oneof![
        12 => (0..MESSAGES, piece()).prop_map(|(message, text)| Move::Append(message, text)),
        2 => (0..MESSAGES, piece()).prop_map(|(message, text)| Move::Rewrite(message, text)),
        2 => (0..MESSAGES).prop_map(Move::Complete),
        1 => Just(Move::Reasoning),
        1 => Just(Move::Tool),
        1 => Just(Move::ToolEnd),
        1 => Just(Move::Ask),
    ]
}

/// A source that is written move by move.
#[derive(Default)]
struct Source {
    stream: String,
    texts: [String; MESSAGES],
    complete: [bool; MESSAGES],
    tools: usize,
    open_tools: Vec<usize>,
    others: usize,
}

impl Source {
    fn push_line(&mut self, line: &Value) {
        self.stream.push_str(&line.to_string());
        self.stream.push('\n');
    }

    /// Text of a message that a rewrite gives it.
    fn rewritten(&self, message: usize, text: &str) -> String {
        format!("Anew {text}{}", self.texts[message])
    }

    fn codex(&mut self, method: &str, mut params: Value) {
        params["threadId"] = "t".into();
        params["turnId"] = "u".into();
        self.push_line(&json!({"method": method, "params": params}));
    }

    fn codex_tool(&mut self, method: &str, tool: usize, status: &str) {
        let item = json!({"type": "commandExecution", "id": format!("c{tool}"), "command": "open",
            "cwd": "/", "status": status});
        self.codex(method, json!({"item": item}));
    }

    /// Texts are increments; a complete item has its whole text, which may differ.
    fn push_codex_move(&mut self, step: &Move) {
        match step {
            Move::Append(message, text) if !self.complete[*message] => {
                self.texts[*message].push_str(text);
                let params = json!({"itemId": format!("m{message}"), "delta": text});
                self.codex("item/agentMessage/delta", params);
            }
            Move::Rewrite(message, _) | Move::Complete(message)
                if !self.complete[*message] && !self.texts[*message].is_empty() =>
            {
                if let Move::Rewrite(_, text) = step {
                    self.texts[*message] = self.rewritten(*message, text);
                }
                self.complete[*message] = true;
                let item = json!({"type": "agentMessage", "id": format!("m{message}"),
                    "text": self.texts[*message]});
                self.codex("item/completed", json!({"item": item}));
            }
            Move::Reasoning => {
                self.codex("item/reasoning/textDelta", json!({"itemId": "r", "delta": "hm"}));
            }
            Move::Tool => {
                self.codex_tool("item/started", self.tools, "inProgress");
                self.open_tools.push(self.tools);
                self.tools += 1;
            }
            Move::ToolEnd => {
                if let Some(tool) = self.open_tools.pop() {
                    self.codex_tool("item/completed", tool, "completed");
                }
            }
            Move::Ask => {
                self.others += 1;
                let params = json!({"threadId": "t", "turnId": "u", "itemId": format!("q{}", self.others),
                    "questions": [{"id": "q", "header": "Gate", "question": "Which gate?",
                        "options": [{"label": "North", "description": "old"}]}]});
                self.push_line(&json!({"id": self.others, "method": "item/tool/requestUserInput",
                    "params": params}));
            }
            Move::Append(..) | Move::Rewrite(..) | Move::Complete(_) => {}
        }
    }

    fn kilo_text(&mut self, message: usize) {
        let partial = !self.complete[message];
        let text = &self.texts[message];
        let line =
            json!({"ts": message, "type": "say", "say": "text", "text": text, "partial": partial});
        self.push_line(&line);
    }

    fn kilo(&mut self, kind: &str, name: &str, text: &str) {
        self.others += 1;
        let line = json!({"ts": 100 + self.others, "type": kind, kind: name, "text": text});
        self.push_line(&line);
    }

    /// Each update of a message has its whole text so far.
    fn push_kilo_move(&mut self, step: &Move) {
        match step {
            Move::Append(message, text) if !self.complete[*message] => {
                self.texts[*message].push_str(text);
                self.kilo_text(*message);
            }
            Move::Rewrite(message, text) if !self.complete[*message] => {
                self.texts[*message] = self.rewritten(*message, text);
                self.kilo_text(*message);
            }
            Move::Complete(message)
                if !self.complete[*message] && !self.texts[*message].is_empty() =>
            {
                self.complete[*message] = true;
                self.kilo_text(*message);
            }
            Move::Reasoning => self.kilo("say", "reasoning", "hm"),
            Move::Tool => self.kilo("say", "tool", r#"{"tool":"readFile","path":"a"}"#),
            Move::Ask => self.kilo("ask", "followup", r#"{"question":"Which gate?"}"#),
            Move::Append(..) | Move::Rewrite(..) | Move::Complete(_) | Move::ToolEnd => {}
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum SourceKind {
    /// Messages grow by increments and end at tools; resumed ones are sent anew.
    Codex,
    /// Messages have whole texts and stay open over everything.
    Kilo,
}

impl SourceKind {
    fn write(self, moves: &[Move]) -> Source {
        let mut source = Source::default();
        for step in moves {
            match self {
                SourceKind::Codex => source.push_codex_move(step),
                SourceKind::Kilo => source.push_kilo_move(step),
            }
        }
        source
    }

    /// The visible text of a message that stands alone and has this raw text.
    fn visible_alone(self, text: &str) -> String {
        let mut source = Source::default();
        text.clone_into(&mut source.texts[0]);
        match self {
            SourceKind::Codex => {
                source.codex("item/agentMessage/delta", json!({"itemId": "m0", "delta": text}));
            }
            SourceKind::Kilo => source.kilo_text(0),
        }
        ingest_whole(source.stream.as_bytes()).visible_text()
    }
}

/// Texts of the messages that were not withdrawn.
fn kept_texts(kept: &RecordedEvents) -> Vec<String> {
    let mut texts: Vec<(u32, String)> = Vec::new();
    for event in kept.events() {
        match event {
            Event::MessageStarted { message, .. } => texts.push((message.0, String::new())),
            Event::TextAppended { message, text } => {
                texts.iter_mut().find(|(id, _)| *id == message.0).unwrap().1.push_str(text);
            }
            Event::TextRewritten { message, kept_bytes, text } => {
                let (_, whole) = texts.iter_mut().find(|(id, _)| *id == message.0).unwrap();
                whole.truncate(*kept_bytes);
                whole.push_str(text);
            }
            Event::Withdrawn { messages, .. } => {
                texts.retain(|(id, _)| messages.iter().all(|withdrawn| withdrawn.0 != *id));
            }
            _ => {}
        }
    }
    texts.into_iter().map(|(_, text)| text).collect()
}

/// Texts that are not blank; a source with whole texts may repeat one with more white space at its
/// end, which is no change, and blank text before a step is dropped.
fn sorted_without_blank(texts: &[String]) -> Vec<String> {
    let trimmed = texts.iter().map(|text| text.trim().to_owned());
    let mut texts: Vec<String> = trimmed.filter(|text| !text.is_empty()).collect();
    texts.sort();
    texts
}

fn sorted_chars(text: impl Iterator<Item = char>) -> Vec<char> {
    let mut chars: Vec<char> = text.collect();
    chars.sort_unstable();
    chars
}

/// Checks the events of the moves, and the pages of all views, live and loaded at `cut`.
fn check(kind: SourceKind, moves: &[Move], cut: prop::sample::Index) -> Result<(), TestCaseError> {
    let source = kind.write(moves);
    let kept = ingest_whole(source.stream.as_bytes());
    let mut checker = EventOrderChecker::default();
    for event in kept.events() {
        prop_assert!(checker.apply(event).is_ok(), "{event:?}");
    }
    let expected: Vec<String> = source.texts.iter().map(|text| kind.visible_alone(text)).collect();
    prop_assert_eq!(sorted_without_blank(&kept_texts(&kept)), sorted_without_blank(&expected));
    let records = to_records(&kept);
    let loaded_at = cut.index(records.len());
    for view in ViewName::ALL {
        let (sent, whole) = encode_records(patch_stream_kind(view), &records);
        let mut live = Page::default();
        for frame in &sent {
            apply_patch_frame(&mut live, &frame.data);
        }
        prop_assert!(live == whole, "{:?}: live", view);
        let mut encoder = new_encoder(patch_stream_kind(view));
        records[..loaded_at].iter().for_each(|record| encoder.push(record, &mut |_| {}));
        let mut loaded = encoder.page().clone();
        for record in &records[loaded_at..] {
            encoder.push(record, &mut |frame| apply_patch_frame(&mut loaded, frame.data));
        }
        prop_assert!(loaded == whole, "{:?}: loaded before record {}", view, loaded_at);
    }
    let all = sorted_chars(kept.visible_text().chars());
    // `transcript` cannot take back or change what it has printed.
    let is_changed = kept.events().any(|event| match event {
        Event::Withdrawn { messages, .. } => !messages.is_empty(),
        Event::TextRewritten { .. } => true,
        _ => false,
    });
    let settles = is_changed.then_some(ViewName::Transcript);
    let whole_views =
        [ViewName::Steps, ViewName::Bubbles, ViewName::Transcript, ViewName::Sentences];
    for view in whole_views.into_iter().filter(|view| settles != Some(*view)) {
        let page = final_page(view, &records);
        let texts = page.items.values().filter(|item| item.kind == ItemKind::Text);
        let shown = sorted_chars(texts.flat_map(|item| item.text.chars()));
        prop_assert_eq!(shown, all.clone(), "{:?}", view);
    }
    Ok(())
}

proptest! {
    #[test]
    fn t2_x10_messages_that_grow_by_increments_beside_tools_and_asks_have_their_own_text(
        moves in prop::collection::vec(any_move(), 1..40), cut in any::<prop::sample::Index>()
    ) {
        // The end of a tool begins a round, which ends the text that is held for a message.
        let moves: Vec<Move> =
            moves.into_iter().filter(|step| !matches!(step, Move::ToolEnd)).collect();
        check(SourceKind::Codex, &moves, cut)?;
    }

    #[test]
    fn t2_x10_messages_with_whole_texts_beside_tools_and_asks_have_their_own_text(
        moves in prop::collection::vec(any_move(), 1..40), cut in any::<prop::sample::Index>()
    ) {
        // What is held of a tag is shown before an ask (X6); a rewrite that completes it then
        // leaves the tag as text.
        let moves: Vec<Move> =
            moves.into_iter().filter(|step| !matches!(step, Move::Rewrite(_, "<thi"))).collect();
        check(SourceKind::Kilo, &moves, cut)?;
    }
}
