//! The settled part of every view: it only grows, and only a withdrawal changes it.

use millpond_engine::event::{Event, MessageId, Outcome, Record, StepId, TextMode, ToolKind};
use millpond_engine::view::{Item, ItemKey, ItemKind, ItemState, Page, ViewName};
use millpond_engine::wire::Encoder;

use crate::transcript::print_client::{
    message_ended, message_started, run_ended, run_started, text_appended, tool_started,
};
use crate::views::{for_each_log, new_encoder, patch_stream_kind, sample_positions};

/// Settled items that are not withdrawn, by key. Views other than `transcript` may still add images
/// and citations to them.
fn settled_items(view: ViewName, page: &Page) -> Vec<(ItemKey, Item<'static>)> {
    let settled = page.items.iter().take_while(|(key, _)| key.0 < page.settled.count);
    let shown = settled.filter(|(_, item)| item.state != ItemState::Withdrawn);
    let compared = shown.map(|(key, item)| {
        let mut item = item.clone();
        if view != ViewName::Transcript {
            item.images.clear();
            item.citations.clear();
        }
        (key, item)
    });
    compared.collect()
}

/// Removes the steps that are withdrawn in `is` from both versions of an item.
fn drop_withdrawn_steps(was: &mut Item<'static>, is: &mut Item<'static>) {
    let gone = |step: &Item<'_>| step.state == ItemState::Withdrawn;
    let withdrawn: Vec<String> =
        is.steps.iter().filter(|step| gone(step)).map(|step| step.id.to_string()).collect();
    for item in [&mut *was, &mut *is] {
        item.steps.retain(|step| !withdrawn.iter().any(|id| *id == step.id));
    }
    for (was, is) in was.steps.iter_mut().zip(&mut is.steps) {
        drop_withdrawn_steps(was, is);
    }
}

/// Panics unless the settled part of `before` is in `after` as it was, except for what was withdrawn;
/// in `transcript` nothing settled is.
pub(crate) fn check_settled(view: ViewName, before: &Page, after: &Page) {
    assert!(before.settled <= after.settled, "{view:?} unsettles");
    let is_kept = |key: ItemKey| {
        let item = after.items.get(key);
        view == ViewName::Transcript || item.is_none_or(|item| item.state != ItemState::Withdrawn)
    };
    let mut old = settled_items(view, before);
    old.retain(|(key, _)| is_kept(*key));
    let mut new = settled_items(view, after);
    new.retain(|(key, _)| key.0 < before.settled.count);
    for ((_, was), (_, is)) in old.iter_mut().zip(&mut new) {
        drop_withdrawn_steps(was, is);
    }
    assert_eq!(old, new, "{view:?} changes a settled item");
    let next = ItemKey(before.settled.count);
    let prefix = before.items.get(next).map_or("", |item| &item.text[..before.settled.bytes]);
    let grown = after.items.get(next);
    assert!(grown.is_none_or(|item| item.text.starts_with(prefix)), "{view:?} drops {prefix:?}");
}

#[test]
fn t2_in_every_log_and_view_what_is_settled_only_grows_and_never_changes() {
    for_each_log(|name, records| {
        for view in ViewName::ALL {
            let mut encoder = new_encoder(patch_stream_kind(view));
            let mut before = Page::default();
            let looked_at: Vec<usize> = sample_positions(records.len()).collect();
            for (at, record) in records.iter().enumerate() {
                encoder.push(record, &mut |_| {});
                if looked_at.contains(&at) || at + 1 == records.len() {
                    check_settled(view, &before, encoder.page());
                    before = encoder.page().clone();
                }
            }
            let ended = before.ended.is_some() && view != ViewName::Transcript;
            let last = before.items.last_key().map_or(0, |key| key.0 + 1);
            assert!(!ended || last <= before.settled.count, "{name} {view:?} is not settled");
        }
    });
}

/// Keys of the settled items and texts after these events, in one view.
fn settled_texts(view: ViewName, events: &[Event<'static>]) -> Vec<String> {
    let mut encoder: Encoder = new_encoder(patch_stream_kind(view));
    for (seq, event) in (0..).zip(events) {
        let record = Record { seq, at_ms: None, run: "r1".into(), event: event.clone() };
        encoder.push(&record, &mut |_| {});
    }
    let items = settled_items(view, encoder.page()).into_iter();
    items.map(|(_, item)| format!("{:?} {}", item.kind, item.text)).collect()
}

#[test]
fn t2_each_view_settles_what_only_a_withdrawal_can_change() {
    let prompt = Event::PromptReceived {
        text: "Q".into(),
        images: Vec::new(),
        origin: millpond_engine::event::PromptOrigin::Person,
    };
    let round = Event::RoundStarted { round: 0, model: None, response: None };
    let mut events = vec![
        run_started(TextMode::Incremental),
        prompt,
        round,
        message_started(0),
        text_appended(0, "One. Two"),
    ];
    let check = |events: &[Event<'static>], expected: [&[&str]; 4]| {
        let views = [ViewName::Latest, ViewName::Steps, ViewName::Bubbles, ViewName::Sentences];
        for (view, expected) in views.into_iter().zip(expected) {
            assert_eq!(settled_texts(view, events), expected, "{view:?}");
        }
    };
    let (user, one, two, whole) = ("User Q", "Text One. ", "Text Two", "Text One. Two");
    check(&events, [&[user], &[user], &[user], &[user, one]]);
    events.push(message_ended(0));
    check(&events, [&[user], &[user, whole], &[user, whole], &[user, one, two]]);
    events.push(tool_started(0, ToolKind::Function));
    check(&events, [&[user], &[user, whole], &[user, whole], &[user, one, two]]);
    events.push(Event::Withdrawn { messages: vec![MessageId(0)], steps: vec![StepId(0)] });
    check(&events, [&[user], &[user], &[user], &[user]]);
    events.push(run_ended(Outcome::Cancelled));
    assert!(settled_texts(ViewName::Latest, &events).iter().all(|item| item == user));
}

#[test]
fn steps_s4_a_round_with_folded_steps_settles_when_its_control_is_there() {
    let mut events = vec![
        run_started(TextMode::Incremental),
        Event::RoundStarted { round: 0, model: None, response: None },
        Event::ReasoningStarted {
            step: StepId(0),
            round: 0,
            origin: millpond_engine::event::ReasoningOrigin::Native,
            interrupts: None,
        },
        Event::ReasoningAppended { step: StepId(0), text: "Hm".into() },
        Event::ReasoningEnded { step: StepId(0), incomplete: false },
        message_started(0),
        text_appended(0, "Yes."),
        message_ended(0),
    ];
    assert_eq!(settled_texts(ViewName::Steps, &events), [""; 0]);
    events.push(Event::RoundEnded { round: 0, stop: None, incomplete: false });
    let kinds = [format!("{:?} ", ItemKind::Steps), format!("{:?} Yes.", ItemKind::Text)];
    assert_eq!(settled_texts(ViewName::Steps, &events), kinds);
}
