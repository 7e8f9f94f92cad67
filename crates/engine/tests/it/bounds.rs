//! What is too much for a page: rule X14.

use engine::limits::OUTPUT_BYTES_SHOWN_MAX;
use engine::view::ViewName;

use crate::log::Log;
use crate::views::picture;

#[test]
fn x14_output_past_its_limit_is_cut_on_the_page_and_says_by_how_much() {
    for (more, note) in [
        (0, ""),
        (1, "\n[1 more byte is in the log]"),
        (5_000, "\n[5000 more bytes are in the log]"),
    ] {
        let mut log = Log::new();
        let output = "x".repeat(OUTPUT_BYTES_SHOWN_MAX + more);
        log.round().tool("cat").result(0, &output).message(&["Long."]).end_round().done();
        let whole = "x".repeat(OUTPUT_BYTES_SHOWN_MAX) + note;
        let page = picture(ViewName::Transcript, &log.records());
        assert_eq!(page.items.values().next().unwrap().text, whole);
        let page = picture(ViewName::Steps, &log.records());
        let steps = &page.items.values().next().unwrap().steps;
        assert_eq!(steps[0].result.as_deref(), Some(&*whole));
    }
}
