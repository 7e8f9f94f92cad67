//! The output limit of a page: rule X14.

use millpond_engine::limits::OUTPUT_BYTES_SHOWN_MAX;
use millpond_engine::view::ViewName;

use crate::log::Log;
use crate::views::final_page;

#[test]
fn x14_output_past_its_limit_is_cut_on_the_page_and_says_by_how_much() {
    for (more, note) in
        [(0, ""), (1, "\n[1 more byte in the log]"), (5_000, "\n[5000 more bytes in the log]")]
    {
        let mut log = Log::new();
        let output = "x".repeat(OUTPUT_BYTES_SHOWN_MAX + more);
        log.start_round()
            .start_tool("cat")
            .succeed_tool(0, &output)
            .push_message(&["Long."])
            .end_round()
            .complete_run();
        let whole = "x".repeat(OUTPUT_BYTES_SHOWN_MAX) + note;
        let page = final_page(ViewName::Transcript, &log.records());
        assert_eq!(page.items.values().next().unwrap().text, whole);
        let page = final_page(ViewName::Steps, &log.records());
        let steps = &page.items.values().next().unwrap().steps;
        assert_eq!(steps[0].result.as_deref(), Some(&*whole));
    }
}
