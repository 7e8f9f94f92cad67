use millpond_engine::view::patch::{Patch, Settled};

use super::*;
use crate::hyperlinks::HyperlinkMode;
use crate::size::Size;
use crate::style::Style;

const LOOK: RenderOptions =
    RenderOptions { size: Size { cols: 40, rows: 12 }, hyperlinks: HyperlinkMode::SpelledOut };

fn page_of_prompts(count: u32) -> Page {
    let mut page = Page::default();
    for number in 0..count {
        let mut item = Item::new(ItemKind::User, "r", "u");
        item.text = format!("prompt {number}").into();
        page.apply(&Patch::Put { key: ItemKey(number), item });
    }
    page.apply(&Patch::Settle(Settled { count, bytes: 0 }));
    page
}

fn take_settled_texts(renderer: &mut PageRenderer) -> Vec<String> {
    let rows = renderer.take_settled();
    rows.iter().map(|row| row.text().to_owned()).filter(|text| !text.is_empty()).collect()
}

#[test]
fn of_a_long_session_only_the_end_is_printed_unless_all_is_wanted() {
    let mut renderer = PageRenderer::new(ViewName::Transcript, LOOK);
    renderer.mark_content_above();
    renderer.replace_page_and_settle(page_of_prompts(250));
    let shown = take_settled_texts(&mut renderer);
    assert_eq!(shown.len(), 201);
    assert_eq!(shown[0], "… 50 earlier items, /all to print them");
    assert_eq!((&*shown[1], &*shown[200]), ("› prompt 50", "› prompt 249"));
    renderer.replace_page_and_settle(page_of_prompts(251));
    assert_eq!(take_settled_texts(&mut renderer), ["› prompt 250"], "taken anew, only what is new");
    let mut all = PageRenderer::new(ViewName::Transcript, LOOK);
    all.lift_items_limit_of_first_page();
    all.replace_page_and_settle(page_of_prompts(250));
    assert_eq!(take_settled_texts(&mut all).len(), 250);
}

/// A renderer whose prompt is printed and whose text is live, with its page and item.
fn renderer_with_live_text() -> (PageRenderer, Page, Item<'static>) {
    let mut renderer = PageRenderer::new(ViewName::Transcript, LOOK);
    let mut page = page_of_prompts(1);
    let mut item = Item::new(ItemKind::Text, "r", "m");
    item.text = "one two three four five six seven eight nine ten eleven twelve ".repeat(3).into();
    page.apply(&Patch::Put { key: ItemKey(1), item: item.clone() });
    renderer.replace_page_and_settle(page.clone());
    renderer.take_settled();
    (renderer, page, item)
}

#[test]
fn rows_that_scrolled_away_before_they_settled_are_not_said_again() {
    let (mut renderer, mut page, _) = renderer_with_live_text();
    let live: Vec<String> = renderer.live_rows().iter().map(|row| row.text().to_owned()).collect();
    assert_eq!(live[0], "", "a blank row comes between");
    // It settles before the resize reports that two of its rows and the blank one scrolled away.
    page.apply(&Patch::Settle(Settled { count: 2, bytes: 0 }));
    renderer.replace_page_and_settle(page);
    renderer.resize(LOOK, 3);
    assert_eq!(take_settled_texts(&mut renderer), live[3..]);
}

#[test]
fn what_has_scrolled_away_and_is_taken_back_is_said_anew() {
    let (mut renderer, mut page, mut item) = renderer_with_live_text();
    renderer.live_rows();
    renderer.resize(LOOK, 3);
    renderer.take_settled();
    item.text = "Two herons.".into();
    page.apply(&Patch::Put { key: ItemKey(1), item });
    renderer.replace_page_and_settle(page.clone());
    let live: Vec<String> = renderer.live_rows().iter().map(|row| row.text().to_owned()).collect();
    assert_eq!(live, ["", "Two herons."]);
    page.apply(&Patch::Settle(Settled { count: 2, bytes: 0 }));
    renderer.replace_page_and_settle(page);
    assert_eq!(take_settled_texts(&mut renderer), ["Two herons."]);
}

fn row_texts(renderer: &mut PageRenderer) -> Vec<String> {
    let rows = renderer.live_rows();
    rows.iter().map(|row| row.text().to_owned()).filter(|text| !text.is_empty()).collect()
}

#[test]
fn steps_s7_a_pending_call_does_not_look_done_and_its_result_comes_into_its_row() {
    let mut renderer = PageRenderer::new(ViewName::Steps, LOOK);
    let mut call = Item::new(ItemKind::Tool, "r", "s0");
    call.name = Some("ls".into());
    call.state = ItemState::Pending;
    renderer.apply_patch(&Patch::Put { key: ItemKey(0), item: call });
    assert_eq!(row_texts(&mut renderer), ["○ ls …"]);
    let mut entry = Item::new(ItemKind::Entry, "r", "e0");
    entry.state = ItemState::Done;
    entry.text = "src\n  main.rs\n\tlib.rs\n".into();
    renderer.apply_patch(&Patch::Result { key: ItemKey(0), call: "s0".into(), entry });
    let done = ["● ls", "  src", "    main.rs", "      lib.rs"];
    assert_eq!(row_texts(&mut renderer), done, "the output keeps its indentation");
    renderer.apply_patch(&Patch::Settle(Settled { count: 1, bytes: 0 }));
    assert_eq!(take_settled_texts(&mut renderer), done, "printed once");
    assert_eq!(row_texts(&mut renderer), [""; 0]);
}

#[test]
fn a_call_without_a_result_is_called_and_never_looks_done() {
    let mut renderer = PageRenderer::new(ViewName::Steps, LOOK);
    let mut call = Item::new(ItemKind::Tool, "r", "s0");
    call.name = Some("ls".into());
    call.state = ItemState::Called;
    renderer.apply_patch(&Patch::Put { key: ItemKey(0), item: call });
    assert_eq!(row_texts(&mut renderer), ["→ ls called"]);
}

#[test]
fn steps_s4_the_kept_row_of_the_control_shows_nothing() {
    let mut renderer = PageRenderer::new(ViewName::Steps, LOOK);
    let control = Item::new(ItemKind::Steps, "r", "r0");
    renderer.apply_patch(&Patch::Put { key: ItemKey(0), item: control });
    assert_eq!(row_texts(&mut renderer), [""; 0]);
}

#[test]
fn wrapped_lines_keep_their_indentation_on_every_row() {
    let mut rows = Vec::new();
    let text =
        "    one two three four five six seven eight\n                                  deep";
    push_wrapped_text(&mut rows, LOOK, ("· ", Style::DIM), text, Style::PLAIN);
    let texts: Vec<&str> = rows.iter().map(Row::text).collect();
    assert_eq!(
        texts,
        ["·     one two three four five six seven", "      eight", "                     deep"]
    );
}
