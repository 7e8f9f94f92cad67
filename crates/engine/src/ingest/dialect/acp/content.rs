//! Content blocks, plans and whatever agents put in `_meta`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::event::{Image, Usage};
use crate::ingest::json::{RawValue, Shape, elements, number, string, string_or_json};

const BLOCK: Shape<8> = Shape {
    read: ["type", "text", "content", "uri", "data", "mimeType", "resource", "name"],
    skip: &[],
};

/// The text of one block, or of an array of them; what is no text is left out, but for links.
pub(super) fn plain(raw: &RawValue) -> String {
    if raw.get().starts_with('[') {
        return elements(raw).into_iter().map(plain).collect();
    }
    let Some(block) = BLOCK.read(raw.get()) else {
        return string(raw).unwrap_or_default().into_owned();
    };
    let [kind, text, _, uri, _, _, resource, _] = block.read;
    match kind.and_then(string).as_deref() {
        Some("resource_link") => uri.and_then(string).unwrap_or_default().into_owned(),
        Some("resource") => resource.map(plain).unwrap_or_default(),
        _ => text.and_then(string).unwrap_or_default().into_owned(),
    }
}

/// Whether there are blocks that are neither text nor pictures nor links.
pub(super) fn has_unreadable(raw: &RawValue) -> bool {
    if raw.get().starts_with('[') {
        return elements(raw).into_iter().any(has_unreadable);
    }
    let kind = BLOCK.read(raw.get()).and_then(|block| block.read[0]).and_then(string);
    let known = ["text", "image", "resource", "resource_link"];
    kind.is_some_and(|kind| !known.contains(&kind.as_ref()))
}

/// Whether an update says `null` for its content, which is to say that there is none any more.
pub(super) fn is_cleared(update: &RawValue) -> bool {
    let members = serde_json::from_str::<BTreeMap<String, &RawValue>>(update.get());
    members.is_ok_and(|members| members.get("content").is_some_and(|raw| raw.get() == "null"))
}

pub(super) fn images(raw: &RawValue) -> Vec<Image<'_>> {
    if raw.get().starts_with('[') {
        return elements(raw).into_iter().filter_map(image).collect();
    }
    image(raw).into_iter().collect()
}

fn image(raw: &RawValue) -> Option<Image<'_>> {
    let [kind, _, _, uri, data, mime, ..] = BLOCK.read(raw.get())?.read;
    if kind.and_then(string)? != "image" {
        return None;
    }
    match (data.and_then(string).filter(|data| !data.is_empty()), mime.and_then(string)) {
        (Some(base64), Some(media_type)) => Some(Image::Inline { media_type, base64 }),
        _ => Some(Image::Url { url: uri.and_then(string)? }),
    }
}

/// What a tool shows: texts as they are, anything else as the JSON it is.
pub(super) fn shown(raw: &RawValue) -> String {
    let mut text = String::new();
    for part in elements(raw) {
        let Some(block) = BLOCK.read(part.get()) else {
            continue;
        };
        let [kind, _, inner, ..] = block.read;
        match (kind.and_then(string).as_deref(), inner) {
            (Some("content"), Some(inner)) if images(inner).is_empty() => text += &plain(inner),
            (Some("content"), _) => {}
            _ => text += part.get(),
        }
    }
    text
}

/// The pictures a tool shows.
/// Whether a text tells all that a tool is called with.
pub(super) fn says_all_of(text: &str, input: &RawValue) -> bool {
    const INPUT: Shape<0> = Shape { read: [], skip: &[] };
    let Some(input) = INPUT.read(input.get()) else { return input.get() == "null" };
    let is_told = |raw: &RawValue| string(raw).is_some_and(|words| text.contains(&*words));
    input.unknown.iter().all(|(name, raw)| *name == "description" || is_told(raw))
}

pub(super) fn shown_images(raw: &RawValue) -> Vec<Image<'_>> {
    let parts = elements(raw).into_iter();
    parts.filter_map(|part| image(BLOCK.read(part.get())?.read[2]?)).collect()
}

pub(super) fn has_diff(raw: &RawValue) -> bool {
    elements(raw).into_iter().any(|part| {
        let kind = BLOCK.read(part.get()).and_then(|block| block.read[0]);
        kind.and_then(string).is_some_and(|kind| kind == "diff")
    })
}

/// The output in a result that is no text, where an agent names it.
pub(super) fn result_text(raw: &RawValue) -> Cow<'_, str> {
    const RESULT: Shape<5> = Shape {
        read: ["formatted_output", "aggregated_output", "output", "text", "stdout"],
        skip: &[],
    };
    let named = RESULT
        .read(raw.get())
        .and_then(|result| result.read.into_iter().flatten().find_map(string));
    named.unwrap_or_else(|| string_or_json(raw))
}

pub(super) fn plan(entries: &RawValue) -> String {
    const ENTRY: Shape<2> = Shape { read: ["content", "status"], skip: &[] };
    let mut lines = vec!["plan:".to_owned()];
    for raw in elements(entries) {
        let Some(entry) = ENTRY.read(raw.get()) else {
            continue;
        };
        let [content, status] = entry.read.map(|member| member.and_then(string));
        let mark = match status.as_deref() {
            Some("completed") => "[x]",
            Some("in_progress") => "[>]",
            _ => "[ ]",
        };
        lines.push(format!("{mark} {}", content.unwrap_or_default()));
    }
    lines.join("\n")
}

pub(super) fn dollars(cost: &RawValue) -> Option<f64> {
    const COST: Shape<2> = Shape { read: ["amount", "currency"], skip: &[] };
    let [amount, currency] = COST.read(cost.get())?.read;
    (currency.and_then(string)? == "USD").then(|| amount.and_then(number))?
}

/// The answer to a permission request: the option chosen.
pub(super) fn choice(outcome: &RawValue) -> String {
    const OUTCOME: Shape<2> = Shape { read: ["outcome", "optionId"], skip: &[] };
    let read = OUTCOME.read(outcome.get()).map(|outcome| outcome.read);
    let [outcome, option] = read.unwrap_or_default().map(|member| member.and_then(string));
    option.or(outcome).unwrap_or(Cow::Borrowed("cancelled")).into_owned()
}

/// What agents say beside the protocol.
#[derive(Debug, Default)]
pub(super) struct Meta<'a> {
    pub(super) tool: Option<Cow<'a, str>>,
    /// The call whose sub-agent speaks.
    pub(super) parent: Option<Cow<'a, str>>,
    pub(super) usage: Option<&'a RawValue>,
}

impl<'a> Meta<'a> {
    pub(super) fn read(raw: &'a RawValue) -> Meta<'a> {
        const META: Shape<3> = Shape { read: ["toolName", "parentToolUseId", "usage"], skip: &[] };
        let Some(members) = META.read(raw.get()) else {
            return Meta::default();
        };
        let [tool, parent, usage] = members.read;
        let mut meta = Meta { tool: tool.and_then(string), parent: parent.and_then(string), usage };
        // An agent may put them one level down, under its own name.
        for (_, inner) in members.unknown {
            let Some(members) = META.read(inner.get()) else {
                continue;
            };
            let [tool, parent, _] = members.read;
            meta.tool = meta.tool.or(tool.and_then(string));
            meta.parent = meta.parent.or(parent.and_then(string));
        }
        meta
    }
}

/// Tokens of the turn, as Gemini reports them.
pub(super) fn quota(meta: &RawValue) -> Option<Usage> {
    const META: Shape<1> = Shape { read: ["quota"], skip: &[] };
    const QUOTA: Shape<1> = Shape { read: ["token_count"], skip: &[] };
    const COUNT: Shape<2> = Shape { read: ["input_tokens", "output_tokens"], skip: &[] };
    let quota = META.read(meta.get())?.read[0]?;
    let count = QUOTA.read(quota.get())?.read[0]?;
    let [input, output] = COUNT.read(count.get())?.read;
    Some(Usage {
        input_tokens: input.and_then(number),
        output_tokens: output.and_then(number),
        ..Usage::default()
    })
}
