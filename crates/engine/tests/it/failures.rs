//! Failures of runs, on the pages of every view.

use millpond_engine::event::{Outcome, Record};
use millpond_engine::view::{ItemKind, ViewName};
use millpond_engine::wire::StreamKind;

use crate::log::Log;
use crate::views::{encode_records, final_page};

#[test]
fn e_a_failure_is_an_item_that_stays_in_every_view_and_no_frame_of_its_own() {
    for outcome in [Outcome::Failed, Outcome::Truncated, Outcome::Stalled, Outcome::Interrupted] {
        let mut log = Log::new();
        log.start_round().push_message(&["So far"]).end_run(outcome, None);
        let first = log.records();
        let mut second = Log::new();
        second.start_round().push_message(&["Again."]).end_round().complete_run();
        let again =
            second.records().into_iter().map(|record| Record { run: "r2".into(), ..record });
        let both: Vec<_> = first.iter().cloned().chain(again).collect();
        for view in ViewName::ALL {
            let label = final_page(view, &first).label;
            let page = final_page(view, &both);
            let failures: Vec<_> =
                page.items.values().filter(|item| item.kind == ItemKind::Error).collect();
            assert_eq!(failures.len(), 1, "{view:?} {outcome:?}");
            assert_eq!((&*failures[0].text, &*failures[0].run), (&*label, "r1"), "{view:?}");
            let (frames, _) = encode_records(StreamKind::new(view), &first);
            let told = frames.iter().filter(|frame| frame.data.contains(&label)).count();
            // `transcript` has a message for every item; the ending has the parts of the label.
            assert_eq!(told, usize::from(view == ViewName::Transcript), "{view:?}");
        }
    }
    for outcome in [Outcome::Completed, Outcome::Cancelled] {
        let mut log = Log::new();
        log.start_round().push_message(&["So far"]).end_run(outcome, None);
        for view in ViewName::ALL {
            let page = final_page(view, &log.records());
            assert!(page.items.values().all(|item| item.kind != ItemKind::Error), "{view:?}");
        }
    }
}
