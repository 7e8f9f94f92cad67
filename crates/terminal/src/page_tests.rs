use millpond_engine::view::patch::{Patch, Settled};

use super::*;
use crate::hyperlinks::HyperlinkMode;
use crate::size::Size;

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
    all.lift_earlier_items_limit();
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
