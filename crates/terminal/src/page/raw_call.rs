//! A tool call as its agent made it: name, arguments and output in full, on request.

use millpond_engine::view::{Item, ItemKind, ItemState, Page};

use super::item::{RenderOptions, push_wrapped_text, tool_name};
use crate::row::Row;
use crate::style::{Attributes, Style};

/// Returns the rows of a call; 1 is the newest, also of those that are folded into a control. The
/// error says which calls there are.
pub(crate) fn raw_call_rows(
    page: &Page,
    number: usize,
    options: RenderOptions,
) -> Result<Vec<Row>, String> {
    let mut calls = Vec::new();
    for item in page.items.values() {
        push_calls(item, &mut calls);
    }
    let asks: Vec<&Item<'_>> = calls.extract_if(.., |item| has_own_output(item, page)).collect();
    let found = number.checked_sub(1).and_then(|back| calls.iter().rev().nth(back));
    let Some(call) = found else {
        return Err(match calls.len() {
            0 => "this view shows no tool call".to_owned(),
            1 => "this view shows one tool call: /raw".to_owned(),
            count => format!("this view shows {count} tool calls: /raw 1 is the newest"),
        });
    };
    let mut rows = Vec::new();
    let bold = Style::PLAIN.with_attributes(Attributes::BOLD);
    push_wrapped_text(&mut rows, options, ("▾ ", Style::DIM), tool_name(call), bold);
    // The arguments of a call that was asked about are in its ask, or are its question.
    let asked = asks.iter().find(|ask| is_of_same_call(ask, call));
    let asked = asked.map(|ask| ask.arguments.as_deref().unwrap_or(&ask.text));
    let arguments = call.arguments.as_deref().or(asked).unwrap_or_default();
    let result = call.result.as_deref().unwrap_or_default();
    for (label, text) in [("arguments", arguments), ("output", &call.text), ("output", result)] {
        if !text.trim().is_empty() {
            push_wrapped_text(&mut rows, options, ("  ", Style::PLAIN), label, Style::DIM);
            push_wrapped_text(&mut rows, options, ("    ", Style::PLAIN), text, Style::PLAIN);
        }
    }
    Ok(rows)
}

/// Pushes the call of an item, and those that are nested in it, in the order of the page.
fn push_calls<'a, 'p>(item: &'a Item<'p>, calls: &mut Vec<&'a Item<'p>>) {
    if item.state == ItemState::Withdrawn {
        return;
    }
    let is_asked_call = item.kind == ItemKind::Ask && item.call.is_some();
    if is_asked_call || matches!(item.kind, ItemKind::Tool | ItemKind::Entry | ItemKind::Action) {
        calls.push(item);
    }
    for step in &item.steps {
        push_calls(step, calls);
    }
}

/// True for the ask of a call whose output is an item of its own.
fn has_own_output(item: &Item<'_>, page: &Page) -> bool {
    item.kind == ItemKind::Ask
        && page
            .items
            .values()
            .any(|other| other.kind == ItemKind::Tool && is_of_same_call(other, item))
}

fn is_of_same_call(one: &Item<'_>, other: &Item<'_>) -> bool {
    one.call.is_some() && one.call == other.call && one.run == other.run
}
