//! The examples of the crate do what they say.

#[path = "../../examples/bubbles.rs"]
#[allow(dead_code, reason = "`main` is not called here")]
mod bubbles;

use millpond_engine::ItemKind;

#[test]
fn the_bubbles_example_shows_one_item_per_message() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/acp/both-sides.jsonl");
    let page = bubbles::show_bubbles(&std::fs::read(path).unwrap());
    let kinds: Vec<ItemKind> = page.items.values().map(|item| item.kind).collect();
    assert_eq!(kinds.first(), Some(&ItemKind::User));
    assert!(kinds.contains(&ItemKind::Text), "{kinds:?}");
    assert!(page.ended.is_some());
}
