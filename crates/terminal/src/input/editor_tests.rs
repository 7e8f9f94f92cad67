use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;

use super::*;

fn editor_with(text: &str) -> Editor {
    let mut editor = Editor::default();
    editor.insert(text);
    editor
}

#[test]
fn a_character_is_what_a_person_counts_as_one() {
    let mut editor = editor_with("a👩‍👩‍👧e\u{301}");
    for left in ["a👩‍👩‍👧", "a", ""] {
        editor.delete(Motion::Left);
        assert_eq!(editor.expanded_text(), left);
    }
    let mut editor = editor_with("e");
    editor.insert("\u{301}");
    editor.move_cursor(Motion::Left);
    editor.insert("x");
    assert_eq!(editor.expanded_text(), "xe\u{301}");
}

#[test]
fn words_and_lines_are_gone_over_killed_and_put_back() {
    let mut editor = editor_with("still water\nruns deep");
    editor.move_cursor(Motion::WordLeft);
    editor.kill(Motion::LineStart);
    assert_eq!(editor.expanded_text(), "still water\ndeep");
    editor.move_cursor(Motion::End);
    editor.yank();
    assert_eq!(editor.expanded_text(), "still water\ndeepruns ");
    editor.move_cursor(Motion::Start);
    editor.kill(Motion::WordRight);
    assert_eq!(editor.expanded_text(), " water\ndeepruns ");
    editor.kill(Motion::LineEnd);
    editor.kill(Motion::LineEnd);
    assert_eq!(editor.expanded_text(), "deepruns ");
    for _ in 0..4 {
        editor.undo();
    }
    assert_eq!(editor.expanded_text(), "still water\ndeep");
    editor.redo();
    assert_eq!(editor.expanded_text(), "still water\ndeepruns ");
}

#[test]
fn what_is_typed_is_taken_back_by_words() {
    let mut editor = Editor::default();
    for letter in ["o", "n", "e", " ", "t", "w", "o"] {
        editor.insert(letter);
    }
    editor.undo();
    assert_eq!(editor.expanded_text(), "one ");
    editor.undo();
    editor.undo();
    assert_eq!(editor.expanded_text(), "");
}

#[test]
fn a_long_paste_is_one_character_and_sent_in_full() {
    let mut editor = editor_with("see ");
    let long = "line\r\n".repeat(11);
    editor.insert_paste(&long);
    editor.insert(" there");
    assert_eq!(editor.wrapped_rows_and_cursor(80).0, ["see [pasted 11 lines] there"]);
    assert_eq!(editor.expanded_text(), format!("see {} there", "line\n".repeat(11)));
    editor.move_cursor(Motion::WordLeft);
    editor.move_cursor(Motion::Left);
    editor.delete(Motion::Left);
    assert_eq!(editor.expanded_text(), "see  there");
    editor.insert("\u{e000}\u{1b}[31m\u{7}");
    assert_eq!(editor.expanded_text(), "see [31m there", "nothing that is not shown can be put in");
    editor.insert_paste("two\nlines");
    assert_eq!(editor.wrapped_rows_and_cursor(80).0, ["see [31mtwo", "lines there"]);
}

#[test]
fn rows_break_behind_blanks_and_the_cursor_has_a_place() {
    let editor = editor_with("one two three");
    assert_eq!(
        editor.wrapped_rows_and_cursor(8),
        (vec!["one two ".into(), "three".into()], TextPosition { row: 1, column: 5 })
    );
    let full = editor_with("12345");
    assert_eq!(
        full.wrapped_rows_and_cursor(5),
        (vec!["12345".into(), String::new()], TextPosition { row: 1, column: 0 })
    );
    let lines = editor_with("a\n\nb");
    assert_eq!(lines.wrapped_rows_and_cursor(5).0, ["a", "", "b"]);
}

#[test]
fn up_and_down_keep_to_their_column() {
    let mut editor = editor_with("long line\nab\nlong again");
    assert!(editor.move_up(80) && editor.move_up(80));
    assert_eq!(editor.wrapped_rows_and_cursor(80).1, TextPosition { row: 0, column: 9 });
    assert!(!editor.move_up(80));
    assert!(editor.move_down(80));
    assert_eq!(editor.wrapped_rows_and_cursor(80).1, TextPosition { row: 1, column: 2 });
    assert!(editor.move_down(80) && !editor.move_down(80));
    assert_eq!(editor.wrapped_rows_and_cursor(80).1, TextPosition { row: 2, column: 10 });
}

#[derive(Clone, Debug)]
enum EditStep {
    Insert(String),
    Paste(String),
    Move(Motion),
    Delete(Motion),
    Kill(Motion),
    Yank,
    Undo,
    Redo,
    Up(usize),
    Down(usize),
}

fn any_motion() -> impl Strategy<Value = Motion> {
    use Motion::{End, Left, LineEnd, LineStart, Right, Start, WordLeft, WordRight};
    prop::sample::select(vec![Left, Right, WordLeft, WordRight, LineStart, LineEnd, Start, End])
}

fn edit_step() -> impl Strategy<Value = EditStep> {
    prop_oneof![
        4 => "[a-z \n\te\u{301}👩‍\u{200d}水\u{1b}]{0,12}".prop_map(EditStep::Insert),
        1 => "[a-z\r\n]{0,30}".prop_map(EditStep::Paste),
        3 => any_motion().prop_map(EditStep::Move),
        1 => any_motion().prop_map(EditStep::Delete),
        1 => any_motion().prop_map(EditStep::Kill),
        1 => Just(EditStep::Yank),
        1 => Just(EditStep::Undo),
        1 => Just(EditStep::Redo),
        1 => (1..30_usize).prop_map(EditStep::Up),
        1 => (1..30_usize).prop_map(EditStep::Down),
    ]
}

proptest! {
    #[test]
    fn whatever_is_done_the_cursor_stands_between_characters(
        deeds in prop::collection::vec(edit_step(), 0..40),
        columns in 2..30_usize,
    ) {
        let mut editor = Editor::default();
        for deed in deeds {
            match deed {
                EditStep::Insert(text) => editor.insert(&text),
                EditStep::Paste(text) => editor.insert_paste(&text),
                EditStep::Move(motion) => editor.move_cursor(motion),
                EditStep::Delete(motion) => editor.delete(motion),
                EditStep::Kill(motion) => editor.kill(motion),
                EditStep::Yank => editor.yank(),
                EditStep::Undo => editor.undo(),
                EditStep::Redo => editor.redo(),
                EditStep::Up(columns) => { editor.move_up(columns); }
                EditStep::Down(columns) => { editor.move_down(columns); }
            }
            let text = &editor.current.text;
            let at = editor.current.cursor;
            let starts = text.grapheme_indices(true).any(|(start, _)| start == at);
            prop_assert!(starts || at == text.len(), "{text:?} {at}");
            let (rows, place) = editor.wrapped_rows_and_cursor(columns);
            prop_assert!(place.row < rows.len());
            prop_assert!(place.column <= columns.max(rows[place.row].width()));
            let broken = editor.current.text.chars().any(|c| editor.find_paste_by_placeholder(c).is_some());
            if !broken {
                let together = rows.concat();
                prop_assert_eq!(together, editor.displayed_text(&editor.current.text.replace('\n', "")));
            }
        }
    }
}
