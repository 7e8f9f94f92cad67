//! A tool call and its result as one row: the result is added to the call that is on the page.

use std::borrow::Cow;

use super::item::{Item, ItemKind, ItemState};

/// Adds `entry` to the call with the id `call`: the item itself or a step nested in it. Unknown
/// calls change nothing.
pub(super) fn add_result_to_call(item: &mut Item<'static>, call: &str, entry: &Item<'_>) {
    if let Some(found) = find_call_mut(item, call) {
        merge_result(found, entry);
    }
}

/// Finds a call in an item and the steps nested in it.
fn find_call_mut<'i>(item: &'i mut Item<'static>, call: &str) -> Option<&'i mut Item<'static>> {
    if item.kind != ItemKind::Steps && item.id == call {
        return Some(item);
    }
    item.steps.iter_mut().find_map(|step| find_call_mut(step, call))
}

/// Merges the result of a call and of the calls nested in it. Nested steps that are new are added.
fn merge_result(call: &mut Item<'static>, result: &Item<'_>) {
    if result.state == ItemState::Withdrawn {
        return call.clear_as_withdrawn();
    }
    call.state = result.state;
    let output = if result.kind == ItemKind::Entry {
        Some(&*result.text).filter(|text| !text.is_empty())
    } else {
        result.result.as_deref()
    };
    if let Some(output) = output {
        call.result = Some(Cow::Owned(output.to_owned()));
    }
    if let Some(rest) = &result.arguments {
        call.arguments.get_or_insert_default().to_mut().push_str(rest);
    }
    if let Some(description) = &result.description {
        call.description = Some(description.clone());
    }
    if let Some(label) = &result.label {
        call.label = Some(Cow::Owned(label.clone().into_owned()));
    }
    call.ran_for_ms = match (call.ran_for_ms, result.ran_for_ms) {
        (Some(writing), Some(running)) => Some(writing.saturating_add(running)),
        (one, other) => one.or(other),
    };
    call.images.extend(result.images.iter().cloned().map(super::image_ref::ImageRef::into_owned));
    call.citations.extend(result.citations.iter().cloned().map(crate::event::Citation::into_owned));
    for step in &result.steps {
        match call.steps.iter_mut().find(|known| known.id == step.id) {
            Some(known) => merge_result(known, step),
            None => call.steps.push(step.clone().into_owned()),
        }
    }
}
