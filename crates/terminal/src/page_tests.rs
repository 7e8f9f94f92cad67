use engine::view::patch::{Patch, Settled};

use super::*;
use crate::links::Links;
use crate::size::Size;

const LOOK: Look = Look { size: Size { cols: 40, rows: 12 }, links: Links::Spelled };

fn picture(count: u32) -> Picture {
    let mut picture = Picture::default();
    for number in 0..count {
        let mut item = Item::new(Kind::User, "r", "u");
        item.text = format!("prompt {number}").into();
        picture.apply(&Patch::Put { key: Key(number), item });
    }
    picture.apply(&Patch::Settle(Settled { count, bytes: 0 }));
    picture
}

fn texts(page: &mut Page) -> Vec<String> {
    let rows = page.take_settled();
    rows.iter().map(|row| row.text().to_owned()).filter(|text| !text.is_empty()).collect()
}

#[test]
fn of_a_long_session_only_the_end_is_printed_unless_all_is_wanted() {
    let mut page = Page::new(ViewName::Transcript, LOOK);
    page.stands_below_something();
    page.put(picture(250));
    let shown = texts(&mut page);
    assert_eq!(shown.len(), 201);
    assert_eq!(shown[0], "… 50 earlier items; /all prints them");
    assert_eq!((&*shown[1], &*shown[200]), ("› prompt 50", "› prompt 249"));
    page.put(picture(251));
    assert_eq!(texts(&mut page), ["› prompt 250"], "taken anew, only what is new");
    let mut all = Page::new(ViewName::Transcript, LOOK);
    all.print_all();
    all.put(picture(250));
    assert_eq!(texts(&mut all).len(), 250);
}

/// A page whose prompt is printed and whose text is live, with what it shows.
fn with_a_long_text() -> (Page, Picture, Item<'static>) {
    let mut page = Page::new(ViewName::Transcript, LOOK);
    let mut picture = picture(1);
    let mut item = Item::new(Kind::Text, "r", "m");
    item.text = "one two three four five six seven eight nine ten eleven twelve ".repeat(3).into();
    picture.apply(&Patch::Put { key: Key(1), item: item.clone() });
    page.put(picture.clone());
    page.take_settled();
    (page, picture, item)
}

#[test]
fn rows_that_scrolled_away_before_they_settled_are_not_said_again() {
    let (mut page, mut picture, _) = with_a_long_text();
    let live: Vec<String> = page.live().iter().map(|row| row.text().to_owned()).collect();
    assert_eq!(live[0], "", "a blank row comes between");
    // It settles before anybody hears that two of its rows, and the blank one, have scrolled away.
    picture.apply(&Patch::Settle(Settled { count: 2, bytes: 0 }));
    page.put(picture);
    page.resize(LOOK, 3);
    assert_eq!(texts(&mut page), live[3..]);
}

#[test]
fn what_has_scrolled_away_and_is_taken_back_is_said_anew() {
    let (mut page, mut picture, mut item) = with_a_long_text();
    page.live();
    page.resize(LOOK, 3);
    page.take_settled();
    item.text = "Two herons.".into();
    picture.apply(&Patch::Put { key: Key(1), item });
    page.put(picture.clone());
    let live: Vec<String> = page.live().iter().map(|row| row.text().to_owned()).collect();
    assert_eq!(live, ["", "Two herons."]);
    picture.apply(&Patch::Settle(Settled { count: 2, bytes: 0 }));
    page.put(picture);
    assert_eq!(texts(&mut page), ["Two herons."]);
}
