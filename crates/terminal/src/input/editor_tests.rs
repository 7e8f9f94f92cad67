use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;

use super::*;

fn typed(text: &str) -> Editor {
    let mut editor = Editor::default();
    editor.insert(text);
    editor
}

#[test]
fn a_character_is_what_a_person_counts_as_one() {
    let mut editor = typed("a👩‍👩‍👧e\u{301}");
    for left in ["a👩‍👩‍👧", "a", ""] {
        editor.delete(Motion::Left);
        assert_eq!(editor.text(), left);
    }
    let mut editor = typed("e");
    editor.insert("\u{301}");
    editor.go(Motion::Left);
    editor.insert("x");
    assert_eq!(editor.text(), "xe\u{301}");
}

#[test]
fn words_and_lines_are_gone_over_killed_and_put_back() {
    let mut editor = typed("still water\nruns deep");
    editor.go(Motion::WordLeft);
    editor.kill(Motion::LineStart);
    assert_eq!(editor.text(), "still water\ndeep");
    editor.go(Motion::End);
    editor.yank();
    assert_eq!(editor.text(), "still water\ndeepruns ");
    editor.go(Motion::Start);
    editor.kill(Motion::WordRight);
    assert_eq!(editor.text(), " water\ndeepruns ");
    editor.kill(Motion::LineEnd);
    editor.kill(Motion::LineEnd);
    assert_eq!(editor.text(), "deepruns ");
    for _ in 0..4 {
        editor.undo();
    }
    assert_eq!(editor.text(), "still water\ndeep");
    editor.redo();
    assert_eq!(editor.text(), "still water\ndeepruns ");
}

#[test]
fn what_is_typed_is_taken_back_by_words() {
    let mut editor = Editor::default();
    for letter in ["o", "n", "e", " ", "t", "w", "o"] {
        editor.insert(letter);
    }
    editor.undo();
    assert_eq!(editor.text(), "one ");
    editor.undo();
    editor.undo();
    assert_eq!(editor.text(), "");
}

#[test]
fn a_long_paste_is_one_character_and_sent_in_full() {
    let mut editor = typed("see ");
    let long = "line\r\n".repeat(11);
    editor.insert_paste(&long);
    editor.insert(" there");
    assert_eq!(editor.rows(80).0, ["see [pasted 11 lines] there"]);
    assert_eq!(editor.text(), format!("see {} there", "line\n".repeat(11)));
    editor.go(Motion::WordLeft);
    editor.go(Motion::Left);
    editor.delete(Motion::Left);
    assert_eq!(editor.text(), "see  there");
    editor.insert("\u{e000}\u{1b}[31m\u{7}");
    assert_eq!(editor.text(), "see [31m there", "nothing that is not shown can be put in");
    editor.insert_paste("two\nlines");
    assert_eq!(editor.rows(80).0, ["see [31mtwo", "lines there"]);
}

#[test]
fn rows_break_behind_blanks_and_the_cursor_has_a_place() {
    let editor = typed("one two three");
    assert_eq!(
        editor.rows(8),
        (vec!["one two ".into(), "three".into()], Place { row: 1, column: 5 })
    );
    let full = typed("12345");
    assert_eq!(full.rows(5), (vec!["12345".into(), String::new()], Place { row: 1, column: 0 }));
    let lines = typed("a\n\nb");
    assert_eq!(lines.rows(5).0, ["a", "", "b"]);
}

#[test]
fn up_and_down_keep_to_their_column() {
    let mut editor = typed("long line\nab\nlong again");
    assert!(editor.up(80) && editor.up(80));
    assert_eq!(editor.rows(80).1, Place { row: 0, column: 9 });
    assert!(!editor.up(80));
    assert!(editor.down(80));
    assert_eq!(editor.rows(80).1, Place { row: 1, column: 2 });
    assert!(editor.down(80) && !editor.down(80));
    assert_eq!(editor.rows(80).1, Place { row: 2, column: 10 });
}

#[derive(Clone, Debug)]
enum Deed {
    Insert(String),
    Paste(String),
    Go(Motion),
    Delete(Motion),
    Kill(Motion),
    Yank,
    Undo,
    Redo,
    Up(usize),
    Down(usize),
}

fn motion() -> impl Strategy<Value = Motion> {
    use Motion::{End, Left, LineEnd, LineStart, Right, Start, WordLeft, WordRight};
    prop::sample::select(vec![Left, Right, WordLeft, WordRight, LineStart, LineEnd, Start, End])
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        4 => "[a-z \n\te\u{301}👩‍\u{200d}水\u{1b}]{0,12}".prop_map(Deed::Insert),
        1 => "[a-z\r\n]{0,30}".prop_map(Deed::Paste),
        3 => motion().prop_map(Deed::Go),
        1 => motion().prop_map(Deed::Delete),
        1 => motion().prop_map(Deed::Kill),
        1 => Just(Deed::Yank),
        1 => Just(Deed::Undo),
        1 => Just(Deed::Redo),
        1 => (1..30_usize).prop_map(Deed::Up),
        1 => (1..30_usize).prop_map(Deed::Down),
    ]
}

proptest! {
    #[test]
    fn whatever_is_done_the_cursor_stands_between_characters(
        deeds in prop::collection::vec(deed(), 0..40),
        columns in 2..30_usize,
    ) {
        let mut editor = Editor::default();
        for deed in deeds {
            match deed {
                Deed::Insert(text) => editor.insert(&text),
                Deed::Paste(text) => editor.insert_paste(&text),
                Deed::Go(motion) => editor.go(motion),
                Deed::Delete(motion) => editor.delete(motion),
                Deed::Kill(motion) => editor.kill(motion),
                Deed::Yank => editor.yank(),
                Deed::Undo => editor.undo(),
                Deed::Redo => editor.redo(),
                Deed::Up(columns) => { editor.up(columns); }
                Deed::Down(columns) => { editor.down(columns); }
            }
            let text = &editor.now.text;
            let at = editor.now.cursor;
            let starts = text.grapheme_indices(true).any(|(start, _)| start == at);
            prop_assert!(starts || at == text.len(), "{text:?} {at}");
            let (rows, place) = editor.rows(columns);
            prop_assert!(place.row < rows.len());
            prop_assert!(place.column <= columns.max(rows[place.row].width()));
            let broken = editor.now.text.chars().any(|c| editor.paste(c).is_some());
            if !broken {
                let together = rows.concat();
                prop_assert_eq!(together, editor.shown(&editor.now.text.replace('\n', "")));
            }
        }
    }
}
