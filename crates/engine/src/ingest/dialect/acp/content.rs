//! Content blocks, plans, costs and the `_meta` of agents.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::event::{Image, Usage};
use crate::ingest::json::{
    RawValue, array_elements, as_scalar, as_string, non_null_members, object, string_or_json,
};

object! { BlockFields {
    kind = "type", text, content, uri, data, mime_type = "mimeType", resource, name,
    ; skip _
} }

/// Text of a block or array of blocks; links are kept, other blocks are left out.
pub(super) fn block_text(raw: &RawValue) -> String {
    if raw.get().starts_with('[') {
        return array_elements(raw).into_iter().map(block_text).collect();
    }
    let Some(block) = BlockFields::from_raw(raw) else {
        return as_string(raw).unwrap_or_default().into_owned();
    };
    let BlockFields { kind, text, uri, resource, .. } = block;
    match kind.and_then(as_string).as_deref() {
        Some("resource_link") => uri.and_then(as_string).unwrap_or_default().into_owned(),
        Some("resource") => resource.map(block_text).unwrap_or_default(),
        _ => text.and_then(as_string).unwrap_or_default().into_owned(),
    }
}

/// True if a block is neither text, image, resource nor link.
pub(super) fn has_unknown_blocks(raw: &RawValue) -> bool {
    if raw.get().starts_with('[') {
        return array_elements(raw).into_iter().any(has_unknown_blocks);
    }
    let kind = BlockFields::from_raw(raw).and_then(|block| block.kind).and_then(as_string);
    let known = ["text", "image", "resource", "resource_link"];
    kind.is_some_and(|kind| !known.contains(&kind.as_ref()))
}

/// True if the update sets its content to `null`, which clears it.
pub(super) fn is_content_null(update: &RawValue) -> bool {
    let members = serde_json::from_str::<BTreeMap<String, &RawValue>>(update.get());
    members.is_ok_and(|members| members.get("content").is_some_and(|raw| raw.get() == "null"))
}

/// Images of a block or array of blocks.
pub(super) fn parse_images(raw: &RawValue) -> Vec<Image<'_>> {
    if raw.get().starts_with('[') {
        return array_elements(raw).into_iter().filter_map(parse_image).collect();
    }
    parse_image(raw).into_iter().collect()
}

/// Image of a block; `None` if it is not one.
fn parse_image(raw: &RawValue) -> Option<Image<'_>> {
    let BlockFields { kind, uri, data, mime_type: mime, .. } = BlockFields::from_raw(raw)?;
    if kind.and_then(as_string)? != "image" {
        return None;
    }
    match (data.and_then(as_string).filter(|data| !data.is_empty()), mime.and_then(as_string)) {
        (Some(base64), Some(media_type)) => Some(Image::Inline { media_type, base64 }),
        _ => Some(Image::Url { url: uri.and_then(as_string)? }),
    }
}

/// Text of a tool's content: texts as they are, other parts as JSON, images left out.
pub(super) fn tool_content_text(raw: &RawValue) -> String {
    let mut text = String::new();
    for part in array_elements(raw) {
        let Some(block) = BlockFields::from_raw(part) else {
            continue;
        };
        let BlockFields { kind, content: inner, .. } = block;
        match (kind.and_then(as_string).as_deref(), inner) {
            (Some("content"), Some(inner)) if parse_images(inner).is_empty() => {
                text += &block_text(inner);
            }
            (Some("content"), _) => {}
            _ => text += part.get(),
        }
    }
    text
}

/// True if `text` contains every value of a tool's input except its description.
pub(super) fn text_contains_all_input_values(text: &str, input: &RawValue) -> bool {
    let Some(members) = non_null_members(input.get()) else { return input.get() == "null" };
    let is_told = |raw: &RawValue| as_string(raw).is_some_and(|words| text.contains(&*words));
    members.iter().all(|(name, raw)| *name == "description" || is_told(raw))
}

/// Images of a tool's content.
pub(super) fn tool_content_images(raw: &RawValue) -> Vec<Image<'_>> {
    let parts = array_elements(raw).into_iter();
    parts.filter_map(|part| parse_image(BlockFields::from_raw(part)?.content?)).collect()
}

/// True if a tool's content has a diff.
pub(super) fn has_diff(raw: &RawValue) -> bool {
    array_elements(raw).into_iter().any(|part| {
        let kind = BlockFields::from_raw(part).and_then(|block| block.kind);
        kind.and_then(as_string).is_some_and(|kind| kind == "diff")
    })
}

/// Output text in a result object, or the JSON.
pub(super) fn result_text(raw: &RawValue) -> Cow<'_, str> {
    object! { ResultFields { formatted_output, aggregated_output, output, text, stdout; skip _ } }
    let result = ResultFields::from_raw(raw).unwrap_or_default();
    let named = [
        result.formatted_output,
        result.aggregated_output,
        result.output,
        result.text,
        result.stdout,
    ];
    let named = named.into_iter().flatten().find_map(as_string);
    named.unwrap_or_else(|| string_or_json(raw))
}

/// Formats plan entries as a check list.
pub(super) fn format_plan(entries: &RawValue) -> String {
    object! { Entry { content, status; skip _ } }
    let mut lines = vec!["plan:".to_owned()];
    for raw in array_elements(entries) {
        let Some(entry) = Entry::from_raw(raw) else {
            continue;
        };
        let [content, status] =
            [entry.content, entry.status].map(|member| member.and_then(as_string));
        let mark = match status.as_deref() {
            Some("completed") => "[x]",
            Some("in_progress") => "[>]",
            _ => "[ ]",
        };
        lines.push(format!("{mark} {}", content.unwrap_or_default()));
    }
    lines.join("\n")
}

/// Amount of a cost in USD; `None` for another currency.
pub(super) fn parse_cost_usd(cost: &RawValue) -> Option<f64> {
    object! { CostFields { amount, currency; skip _ } }
    let CostFields { amount, currency } = CostFields::from_raw(cost)?;
    (currency.and_then(as_string)? == "USD").then(|| amount.and_then(as_scalar))?
}

/// Chosen option in the outcome of a permission request.
pub(super) fn chosen_option_or_cancelled(outcome: &RawValue) -> String {
    object! { OutcomeFields { outcome, option = "optionId"; skip _ } }
    let read = OutcomeFields::from_raw(outcome);
    let OutcomeFields { outcome, option } = read.unwrap_or_default();
    let [outcome, option] = [outcome, option].map(|member| member.and_then(as_string));
    option.or(outcome).unwrap_or(Cow::Borrowed("cancelled")).into_owned()
}

/// Fields of `_meta` that agents add to the protocol.
#[derive(Debug, Default)]
pub(super) struct AgentMeta<'a> {
    pub(super) tool: Option<Cow<'a, str>>,
    /// Call of the sub-agent that sent the update.
    pub(super) parent: Option<Cow<'a, str>>,
    pub(super) usage: Option<&'a RawValue>,
}

impl<'a> AgentMeta<'a> {
    /// Parses `_meta`.
    pub(super) fn parse(raw: &'a RawValue) -> AgentMeta<'a> {
        object! { MetaFields { tool = "toolName", parent = "parentToolUseId", usage; keep } }
        let Some(members) = MetaFields::from_raw(raw) else {
            return AgentMeta::default();
        };
        let MetaFields { tool, parent, usage, .. } = members;
        let mut meta =
            AgentMeta { tool: tool.and_then(as_string), parent: parent.and_then(as_string), usage };
        // Some agents nest the fields under their name.
        for (_, inner) in members.unknown {
            let Some(members) = MetaFields::from_raw(inner) else {
                continue;
            };
            let MetaFields { tool, parent, .. } = members;
            meta.tool = meta.tool.or(tool.and_then(as_string));
            meta.parent = meta.parent.or(parent.and_then(as_string));
        }
        meta
    }
}

/// Parses the token counts of a turn that Gemini reports in `_meta`.
pub(super) fn parse_quota_usage(meta: &RawValue) -> Option<Usage> {
    object! { MetaFields { quota; skip _ } }
    object! { Quota { token_count; skip _ } }
    object! { Count { input = "input_tokens", output = "output_tokens"; skip _ } }
    let quota = MetaFields::from_raw(meta)?.quota?;
    let count = Quota::from_raw(quota)?.token_count?;
    let Count { input, output } = Count::from_raw(count)?;
    Some(Usage {
        input_tokens: input.and_then(as_scalar),
        output_tokens: output.and_then(as_scalar),
        ..Usage::default()
    })
}
