//! A call that the person is asked about: one item for the ask, and one for the output after it.

use std::cell::Cell;

use millpond_engine::event::{AnsweredBy, AskKind, Event, StepId, ToolOutcome};
use millpond_engine::view::{ItemKind, ItemState, Page, ViewName};

use crate::log::Log;
use crate::views::{final_page, for_each_log};

#[test]
fn transcript_t11_a_call_that_was_asked_about_is_one_item_in_every_source() {
    let asked = Cell::new(0);
    for_each_log(|name, records| {
        let page = final_page(ViewName::Transcript, records);
        for (key, ask) in page.items.iter().filter(|(_, item)| item.kind == ItemKind::Ask) {
            let Some(call) = &ask.call else { continue };
            asked.set(asked.get() + 1);
            let arguments = ask.arguments.as_deref().unwrap_or_default();
            assert!(arguments.is_empty() || !ask.text.contains(arguments), "{name}: {}", ask.text);
            let of_call = page
                .items
                .iter()
                .filter(|(other, item)| *other != key && item.call.as_ref() == Some(call));
            for (other, item) in of_call {
                assert!(key < other, "{name}: the output stands above the ask");
                assert_eq!(item.arguments, None, "{name}: {call} twice");
            }
        }
    });
    assert!(15 <= asked.get(), "only {} asks about calls", asked.get());
}

/// A command that is asked about, with this end.
fn asked_command(end: impl FnOnce(&mut Log)) -> Page {
    let mut log = Log::new();
    log.start_round().start_tool("run");
    log.push(Event::AskOpened {
        ask: "a".into(),
        kind: AskKind::Tool,
        text: "Run it?".into(),
        options: Vec::new(),
        step: Some(StepId(0)),
        digest: None,
        expires_at_ms: None,
    });
    end(&mut log);
    final_page(ViewName::Transcript, &log.records())
}

fn resolve(answer: &'static str, by: AnsweredBy) -> Event<'static> {
    Event::AskResolved { ask: "a".into(), answer: answer.into(), by }
}

#[test]
fn transcript_t1_t9_t11_an_ask_is_answered_in_the_place_of_its_call_and_the_output_follows() {
    let kinds =
        |page: &Page| page.items.values().map(|item| (item.kind, item.state)).collect::<Vec<_>>();
    let open = asked_command(|_| {});
    assert_eq!(kinds(&open), [(ItemKind::Ask, ItemState::Live)]);
    assert_eq!(open.settled.count, 0);
    let ask = open.items.values().next().unwrap();
    assert_eq!(
        (&*ask.text, ask.arguments.as_deref()),
        ("Run it?", Some(r#"{"secret":"argument"}"#))
    );
    // Output before the answer waits below it.
    let early = asked_command(|log| {
        log.push(Event::OutputAppended { step: StepId(0), text: "early\n".into() });
    });
    assert_eq!(early.settled.count, 0);
    let expected = [(ItemKind::Ask, ItemState::Live), (ItemKind::Tool, ItemState::Live)];
    assert_eq!(kinds(&early), expected);
    let done = asked_command(|log| {
        log.push(resolve("allow", AnsweredBy::Person)).succeed_tool(0, "out");
    });
    let expected = [(ItemKind::Ask, ItemState::Done), (ItemKind::Tool, ItemState::Done)];
    assert_eq!((kinds(&done), done.settled.count), (expected.to_vec(), 2));
    let output = done.items.values().last().unwrap();
    assert_eq!((&*output.text, &output.arguments, &*output.id), ("out", &None, "s0r"));
    for outcome in [ToolOutcome::Denied, ToolOutcome::Failed] {
        let page = asked_command(|log| {
            log.push(resolve("deny", AnsweredBy::Nobody));
            log.push(Event::ToolEnded { step: StepId(0), outcome, detail: None });
        });
        let denied = (ItemKind::Ask, ItemState::Incomplete);
        let failed = (ItemKind::Tool, ItemState::Failed);
        let expected =
            if outcome == ToolOutcome::Denied { vec![denied] } else { vec![denied, failed] };
        assert_eq!((page.settled.count as usize, kinds(&page)), (expected.len(), expected));
    }
}
