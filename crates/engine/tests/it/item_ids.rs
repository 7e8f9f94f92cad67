//! Ids of items over several runs of one session (F7).

use std::collections::BTreeMap;

use millpond_engine::event::Record;
use millpond_engine::view::{
    Item, ItemKey, ItemKind, Page, Patch, Thinking, View, ViewName, ViewOptions,
};

use crate::log::Log;
use crate::views::{encode_records, final_page, for_each_log, patch_stream_kind};

/// The records as two runs of one session.
fn two_runs(records: &[Record<'_>]) -> Vec<Record<'static>> {
    let copy = |run: &'static str, before: usize| {
        records.iter().map(move |record| Record {
            seq: record.seq + before as u64,
            at_ms: record.at_ms,
            run: run.into(),
            event: record.event.clone().into_owned(),
        })
    };
    copy("r1", 0).chain(copy("r2", records.len())).collect()
}

/// Every id that an item ever had, with its key.
#[derive(Default)]
struct SeenIds(BTreeMap<(String, String), ItemKey>);

impl SeenIds {
    fn check(&mut self, name: &str, key: ItemKey, item: &Item<'_>) {
        // An answer names an ask by its run and its own id.
        if item.kind != ItemKind::Ask {
            let id = (format!("{:?}", item.kind), item.id.to_string());
            let first = *self.0.entry(id).or_insert(key);
            assert_eq!(first, key, "{name}: {:?} {}", item.kind, item.id);
        }
        for step in &item.steps {
            self.check(name, key, step);
        }
    }
}

#[test]
fn f7_ids_are_unique_among_the_items_of_a_kind_in_all_runs_of_a_session() {
    for_each_log(|name, records| {
        let records = two_runs(records);
        for view in ViewName::ALL {
            let name = format!("{name} {view:?}");
            let mut fold = View::new(view, ViewOptions { thinking: Thinking::Show });
            let (mut page, mut seen) = (Page::default(), SeenIds::default());
            for record in &records {
                fold.apply(record, &mut |patch| {
                    page.apply(&patch);
                    if let Patch::Put { key, .. } | Patch::Next { key, .. } = patch {
                        seen.check(&name, key, page.items.get(key).unwrap());
                    } else if let Patch::Remove { key } = patch {
                        seen.0.retain(|_, seen| *seen != key);
                    }
                });
            }
        }
    });
}

#[test]
fn f7_ids_of_the_first_run_are_numbers_and_those_of_later_runs_begin_with_the_runs_number() {
    let mut log = Log::new();
    log.prompt("Hi").start_round().push_message(&["One. Two."]).start_tool("look");
    log.succeed_tool(0, "ok").end_round().complete_run();
    let records = two_runs(&log.records());
    let ids = |view| {
        let page = final_page(view, &records);
        page.items.values().map(|item| item.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(
        ids(ViewName::Sentences),
        ["u0", "m0.0", "m0.1", "s0", "2.u0", "2.m0.0", "2.m0.1", "2.s0"]
    );
    assert_eq!(ids(ViewName::Bubbles), ["u0", "m0", "2.u0", "2.m0"]);
    assert_eq!(ids(ViewName::Transcript)[4..], ["2.u0", "2.m0", "2.s0", "2.r0"]);
    let (sent, _) = encode_records(patch_stream_kind(ViewName::Sentences), &records);
    assert_eq!(sent.iter().filter(|frame| frame.data.contains("\"next\"")).count(), 2);
}
