//! What the server asks of a person, and the answers.

use std::borrow::Cow;

use crate::event::{AnsweredBy, AskKind, AskOption, UnrecognisedReason};
use crate::ingest::frame::Direction;
use crate::ingest::json::{RawValue, Shape, elements, string, string_or_json};
use crate::run::{Fingerprint, Writer};

use super::super::codex::shown::Key;
use super::{CodexAppServer, Params, remember, words_of};

/// An ask whose answer has not been seen; the item tells it, if nobody else does.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OpenAsk {
    id: String,
    item: Key,
}

/// How much of an ask's id is kept.
const ID_BYTES_MAX: usize = 256;

fn short(id: &str) -> &str {
    &id[..id.floor_char_boundary(ID_BYTES_MAX)]
}

const APPROVAL_DECISIONS: [&str; 4] = ["accept", "acceptForSession", "decline", "cancel"];

impl CodexAppServer {
    /// A request from the server.
    pub(super) fn request(
        &mut self,
        method: &str,
        id: &str,
        params: &Params<'_>,
        raw: &str,
        out: &mut Writer<'_>,
    ) {
        let (kind, text) = match method {
            "item/commandExecution/requestApproval" | "execCommandApproval" => {
                let words = [params.command, params.reason].into_iter().flatten();
                let words = words.filter(|raw| raw.get() != "null").map(string_or_json);
                let text = words.chain(more(params)).collect::<Vec<_>>().join("\n");
                (AskKind::Command, Some(text.into()))
            }
            "item/fileChange/requestApproval" | "applyPatchApproval" => {
                let words = params.reason.filter(|raw| raw.get() != "null").map(string_or_json);
                let words = words.or(Some("apply the changes to the files".into()));
                let text = words.into_iter().chain(more(params)).collect::<Vec<_>>().join("\n");
                (AskKind::Tool, Some(text.into()))
            }
            "item/permissions/requestApproval" => {
                let words = params.reason.filter(|raw| raw.get() != "null").map(string_or_json);
                let text = words.into_iter().chain(more(params)).collect::<Vec<_>>().join("\n");
                (AskKind::Tool, Some(text.into()))
            }
            "mcpServer/elicitation/request" => (AskKind::Mcp, Some(words_of(params))),
            "item/tool/requestUserInput" => (AskKind::Followup, None),
            _ if is_boring(method) => return,
            _ => {
                out.unrecognised(UnrecognisedReason::Frame, raw);
                return;
            }
        };
        out.unknown_fields(&params.unknown);
        let item = params.item_id.as_deref().or(params.call_id.as_deref()).unwrap_or("");
        let step = out.step_of(item);
        let (text, options) = match kind {
            AskKind::Followup => questions(params.questions),
            _ => (text.unwrap_or_default().into_owned(), decisions(params.decisions)),
        };
        let id = short(id);
        out.ask(id, kind, &text, options, step);
        remember(&mut self.asks, OpenAsk { id: id.to_owned(), item: Fingerprint::of(item) });
    }

    /// Ids of both sides overlap: without a direction, only what looks like an answer is one.
    pub(super) fn answer(
        &mut self,
        id: &str,
        result: &RawValue,
        from: Direction,
        out: &mut Writer<'_>,
    ) {
        const ANSWER: Shape<4> =
            Shape { read: ["decision", "answers", "permissions", "action"], skip: &[] };
        let said = ANSWER.read(result.get()).map(|answer| answer.read).unwrap_or_default();
        let said = said.into_iter().flatten().next();
        if from == Direction::Agent && said.is_none() {
            return;
        }
        let id = short(id);
        if let Some(at) = self.asks.iter().position(|ask| ask.id == id) {
            self.asks.remove(at);
            let answer = string_or_json(said.unwrap_or(result));
            out.resolve_ask(id, &answer, AnsweredBy::Person);
        }
    }

    /// The item is over, so what was asked about it has been answered.
    pub(super) fn answered_by_item(&mut self, item: &str, declined: bool, out: &mut Writer<'_>) {
        let answer = if declined { "decline" } else { "accept" };
        let item = Fingerprint::of(item);
        self.asks.retain(|ask| {
            let over = !item.is_empty() && ask.item == item;
            if over {
                out.resolve_ask(&ask.id, answer, AnsweredBy::Person);
            }
            !over
        });
    }
}

/// What else an approval would give, each on a line of its own.
fn more<'a>(params: &Params<'a>) -> impl Iterator<Item = Cow<'a, str>> {
    let json = [
        ("permissions", params.permissions),
        ("more permissions", params.more_permissions),
        ("network", params.network),
    ];
    let json = json.map(|(name, raw)| {
        let raw = raw.filter(|raw| raw.get() != "null")?;
        Some(format!("{name}: {}", raw.get()).into())
    });
    let texts = [("in", &params.cwd), ("write below", &params.grant_root)];
    let texts = texts.map(|(name, text)| Some(format!("{name} {}", text.as_deref()?).into()));
    texts.into_iter().chain(json).flatten()
}

/// Requests that ask nothing of a person, and those of a client whose lines are not marked as its.
fn is_boring(method: &str) -> bool {
    const METHODS: [&str; 10] = [
        "account/chatgptAuthTokens/refresh",
        "initialize",
        "item/tool/call",
        "model/list",
        "thread/fork",
        "thread/list",
        "thread/read",
        "thread/resume",
        "thread/start",
        "turn/interrupt",
    ];
    METHODS.contains(&method)
}

/// The choices the server offers; a choice with parameters is named by its only key.
fn decisions(raw: Option<&RawValue>) -> Vec<AskOption<'_>> {
    let Some(raw) = raw else {
        let all = APPROVAL_DECISIONS.into_iter();
        return all.map(|id| AskOption { id: id.into(), label: label(id, None) }).collect();
    };
    elements(raw).into_iter().filter_map(decision).collect()
}

fn decision(choice: &RawValue) -> Option<AskOption<'_>> {
    const CHOICE: Shape<0> = Shape { read: [], skip: &[] };
    if let Some(id) = string(choice) {
        let label = label(&id, None);
        return Some(AskOption { id, label });
    }
    let (id, parameters) = CHOICE.read(choice.get())?.unknown.into_iter().next()?;
    Some(AskOption { label: label(&id, Some(parameters)), id: id.into() })
}

/// A decision in words. One that allows more than this once says what.
fn label(id: &str, parameters: Option<&RawValue>) -> Cow<'static, str> {
    match id {
        "accept" => "Approve".into(),
        "acceptForSession" => "Approve for this session".into(),
        "acceptWithExecpolicyAmendment" => {
            const AMENDMENT: Shape<1> = Shape { read: ["execpolicy_amendment"], skip: &[] };
            let begins = parameters
                .and_then(|parameters| AMENDMENT.read(parameters.get())?.read[0])
                .map(|words| elements(words).into_iter().map(string_or_json).collect::<Vec<_>>())
                .filter(|words| !words.is_empty());
            match begins {
                Some(words) => {
                    format!("Approve, and from now on whatever begins with {}", words.join(" "))
                        .into()
                }
                None => "Approve, and the like from now on".into(),
            }
        }
        "decline" => "Decline".into(),
        "cancel" => "Decline and stop".into(),
        other => other.to_owned().into(),
    }
}

/// The questions, and the choices of the only one.
fn questions(raw: Option<&RawValue>) -> (String, Vec<AskOption<'_>>) {
    const QUESTION: Shape<3> = Shape { read: ["question", "options", "header"], skip: &[] };
    let questions: Vec<_> = raw
        .map(elements)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|raw| QUESTION.read(raw.get()))
        .map(|question| question.read)
        .collect();
    let texts: Vec<String> = questions
        .iter()
        .filter_map(|[text, _, header]| {
            let text = text.map(string_or_json)?;
            let header = header.and_then(string).filter(|header| !header.is_empty());
            Some(header.map_or_else(|| text.to_string(), |header| format!("{header}: {text}")))
        })
        .collect();
    let options = match questions.as_slice() {
        [[_, Some(options), _]] => elements(options).into_iter().filter_map(choice).collect(),
        _ => Vec::new(),
    };
    (texts.join("\n"), options)
}

/// A choice is known by its label, and told with what it means.
fn choice(raw: &RawValue) -> Option<AskOption<'_>> {
    const OPTION: Shape<2> = Shape { read: ["label", "description"], skip: &[] };
    let [label, description] = OPTION.read(raw.get())?.read.map(|member| member.and_then(string));
    let id = label?;
    let label = match description.filter(|words| !words.is_empty()) {
        Some(words) => format!("{id}: {words}").into(),
        None => id.clone(),
    };
    Some(AskOption { id, label })
}
