//! Approval requests and questions of the server, and their answers.

use std::borrow::Cow;

use crate::event::{AnsweredBy, AskKind, AskOption, UnrecognisedReason};
use crate::ingest::frame::FrameOrigin;
use crate::ingest::json::{
    RawValue, array_elements, as_string, non_null_members, object, string_or_json,
};
use crate::run::{Fingerprint, Writer};

use super::super::shared::bounded::push_bounded;
use super::super::shared::dedup::shorten_long_id;
use super::super::shared::shown_items::ShownItemKey;
use super::{CodexAppServer, Params, REMEMBERED_MAX, message_or_summary_text};

/// An ask without an answer; the end of its item may imply one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OpenAsk {
    id: String,
    item: ShownItemKey,
}

/// Answer that the end of an item implies for the asks about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ImpliedAnswer {
    Accepted,
    Declined,
}

const APPROVAL_DECISIONS: [&str; 4] = ["accept", "acceptForSession", "decline", "cancel"];

impl CodexAppServer {
    /// Applies a request of the server: writes it as an ask.
    pub(super) fn apply_request(
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
                let text = words.chain(approval_details(params)).collect::<Vec<_>>().join("\n");
                (AskKind::Command, Some(text.into()))
            }
            "item/fileChange/requestApproval" | "applyPatchApproval" => {
                let words = params.reason.filter(|raw| raw.get() != "null").map(string_or_json);
                let words = words.or(Some("Apply the file changes?".into()));
                let text = words
                    .into_iter()
                    .chain(approval_details(params))
                    .collect::<Vec<_>>()
                    .join("\n");
                (AskKind::Tool, Some(text.into()))
            }
            "item/permissions/requestApproval" => {
                let words = params.reason.filter(|raw| raw.get() != "null").map(string_or_json);
                let text = words
                    .into_iter()
                    .chain(approval_details(params))
                    .collect::<Vec<_>>()
                    .join("\n");
                (AskKind::Tool, Some(text.into()))
            }
            "mcpServer/elicitation/request" => {
                (AskKind::Mcp, Some(message_or_summary_text(params)))
            }
            "item/tool/requestUserInput" => (AskKind::Followup, None),
            _ if is_ignored_request(method) => return,
            _ => {
                out.append_unrecognised(UnrecognisedReason::Frame, raw);
                return;
            }
        };
        out.append_unknown_fields_once(&params.unknown);
        let item = params.item_id.as_deref().or(params.call_id.as_deref()).unwrap_or("");
        let step = out.find_open_tool(item);
        let (text, options) = match kind {
            AskKind::Followup => parse_question_text_and_options(params.questions, out),
            _ => (
                text.unwrap_or_default().into_owned(),
                parse_decisions_or_defaults(params.decisions, out),
            ),
        };
        let id = shorten_long_id(id).into_owned();
        out.open_simple_ask_unless_open(&id, kind, &text, options, step);
        let ask = OpenAsk { id, item: Fingerprint::from_text(item) };
        push_bounded(&mut self.asks, ask, REMEMBERED_MAX);
    }

    /// Resolves the ask that a response answers. Ids of both sides overlap: in the agent's lines
    /// only a result with the fields of an answer counts.
    pub(super) fn resolve_ask_if_answered(
        &mut self,
        id: &str,
        result: &RawValue,
        from: FrameOrigin,
        out: &mut Writer<'_>,
    ) {
        object! { AnswerFields { decision, answers, permissions, action; skip _ } }
        let AnswerFields { decision, answers, permissions, action } =
            AnswerFields::from_raw(result).unwrap_or_default();
        let field = decision.or(answers).or(permissions).or(action);
        if from == FrameOrigin::Agent && field.is_none() {
            return;
        }
        let id = shorten_long_id(id);
        if let Some(at) = self.asks.iter().position(|ask| ask.id == id) {
            self.asks.remove(at);
            let answer = string_or_json(field.unwrap_or(result));
            out.resolve_ask_if_open(&id, &answer, AnsweredBy::Person);
        }
    }

    /// Resolves the asks about an item that ended.
    pub(super) fn resolve_asks_of_ended_item(
        &mut self,
        item: &str,
        implied: ImpliedAnswer,
        out: &mut Writer<'_>,
    ) {
        let answer = match implied {
            ImpliedAnswer::Accepted => "accept",
            ImpliedAnswer::Declined => "decline",
        };
        let item = Fingerprint::from_text(item);
        self.asks.retain(|ask| {
            let over = !item.is_blank() && ask.item == item;
            if over {
                out.resolve_ask_if_open(&ask.id, answer, AnsweredBy::Person);
            }
            !over
        });
    }
}

/// Details of what an approval grants, one per line.
fn approval_details<'a>(params: &Params<'a>) -> impl Iterator<Item = Cow<'a, str>> {
    let json = [
        ("permissions", params.permissions),
        ("additional permissions", params.more_permissions),
        ("network", params.network),
    ];
    let json = json.map(|(name, raw)| {
        let raw = raw.filter(|raw| raw.get() != "null")?;
        Some(format!("{name}: {}", raw.get()).into())
    });
    let texts = [("in", &params.cwd), ("write access to", &params.grant_root)];
    let texts = texts.map(|(name, text)| Some(format!("{name} {}", text.as_deref()?).into()));
    texts.into_iter().chain(json).flatten()
}

/// True for known requests that are not asks, and for those of an unmarked client.
fn is_ignored_request(method: &str) -> bool {
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

/// Parses the elements of a list; records those that cannot be read as unrecognised.
fn parse_elements_or_write_unrecognised<'a, T>(
    elements: Vec<&'a RawValue>,
    parse: fn(&'a RawValue) -> Option<T>,
    out: &mut Writer<'_>,
) -> Vec<T> {
    let mut parsed = Vec::new();
    for raw in elements {
        match parse(raw) {
            Some(element) => parsed.push(element),
            None => out.append_unrecognised(UnrecognisedReason::Frame, raw.get()),
        }
    }
    parsed
}

/// Parses the decisions that the server offers, or the default ones.
fn parse_decisions_or_defaults<'a>(
    raw: Option<&'a RawValue>,
    out: &mut Writer<'_>,
) -> Vec<AskOption<'a>> {
    let Some(raw) = raw else {
        let all = APPROVAL_DECISIONS.into_iter();
        return all
            .map(|id| AskOption { id: id.into(), label: decision_label(id, None) })
            .collect();
    };
    parse_elements_or_write_unrecognised(array_elements(raw), parse_offered_decision, out)
}

/// Parses one decision: a string, or an object with one key and parameters.
fn parse_offered_decision(choice: &RawValue) -> Option<AskOption<'_>> {
    if let Some(id) = as_string(choice) {
        let label = decision_label(&id, None);
        return Some(AskOption { id, label });
    }
    let (id, parameters) = non_null_members(choice.get())?.into_iter().next()?;
    Some(AskOption { label: decision_label(&id, Some(parameters)), id: id.into() })
}

/// Label of a decision; one that allows more than this call names what.
fn decision_label(id: &str, parameters: Option<&RawValue>) -> Cow<'static, str> {
    match id {
        "accept" => "Approve".into(),
        "acceptForSession" => "Approve for this session".into(),
        "acceptWithExecpolicyAmendment" => {
            object! { Amendment { execpolicy_amendment; skip _ } }
            let begins = parameters
                .and_then(|parameters| Amendment::from_raw(parameters)?.execpolicy_amendment)
                .map(|words| {
                    array_elements(words).into_iter().map(string_or_json).collect::<Vec<_>>()
                })
                .filter(|words| !words.is_empty());
            match begins {
                Some(words) => {
                    format!("Always approve commands starting with {}", words.join(" ")).into()
                }
                None => "Always approve similar commands".into(),
            }
        }
        "decline" => "Decline".into(),
        "cancel" => "Decline and stop".into(),
        other => other.to_owned().into(),
    }
}

/// Parses the questions into one text, and the options if there is only one question.
fn parse_question_text_and_options<'a>(
    raw: Option<&'a RawValue>,
    out: &mut Writer<'_>,
) -> (String, Vec<AskOption<'a>>) {
    object! { Question { question, options, header; skip _ } }
    let questions = raw.map(array_elements).unwrap_or_default();
    let questions = parse_elements_or_write_unrecognised(questions, Question::from_raw, out);
    let texts: Vec<String> = questions
        .iter()
        .filter_map(|&Question { question, header, .. }| {
            let text = question.map(string_or_json)?;
            let header = header.and_then(as_string).filter(|header| !header.is_empty());
            Some(header.map_or_else(|| text.to_string(), |header| format!("{header}: {text}")))
        })
        .collect();
    let options = match questions.as_slice() {
        [Question { options: Some(options), .. }] => {
            parse_elements_or_write_unrecognised(array_elements(options), parse_choice, out)
        }
        _ => Vec::new(),
    };
    (texts.join("\n"), options)
}

/// Parses an option of a question: its label is the id, shown with its description.
fn parse_choice(raw: &RawValue) -> Option<AskOption<'_>> {
    object! { OptionFields { label, description; skip _ } }
    let OptionFields { label, description } = OptionFields::from_raw(raw)?;
    let [label, description] = [label, description].map(|member| member.and_then(as_string));
    let id = label?;
    let label = match description.filter(|words| !words.is_empty()) {
        Some(words) => format!("{id}: {words}").into(),
        None => id.clone(),
    };
    Some(AskOption { id, label })
}
