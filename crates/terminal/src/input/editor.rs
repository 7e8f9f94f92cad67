//! Multi-line text editor with undo, a kill buffer and collapsed pastes.
//!
//! Invariant: the cursor is on a grapheme boundary.

use unicode_segmentation::UnicodeSegmentation;

use super::layout::{EditorLayout, TextPosition};

/// Placeholder characters of long pastes; removed from all other input.
const PASTE_PLACEHOLDERS: std::ops::RangeInclusive<char> = '\u{e000}'..='\u{e0ff}';

/// A longer paste is collapsed into one placeholder.
const PASTE_LINES_MAX: usize = 10;
const PASTE_BYTES_MAX: usize = 1_000;

/// Undo steps kept.
const UNDO_STEPS_MAX: usize = 200;

/// Longest message.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// Target of a cursor movement or deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    Left,
    Right,
    WordLeft,
    WordRight,
    LineStart,
    LineEnd,
    Start,
    End,
}

/// Text and cursor, as kept for undo.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct EditorState {
    text: String,
    cursor: usize,
}

/// Kind of an edit, for undo.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum EditKind {
    /// Typed a word character: undo removes a word at a time.
    Typing,
    #[default]
    Other,
}

/// Editor of the message being written.
#[derive(Clone, Debug, Default)]
pub struct Editor {
    current: EditorState,
    /// Long pastes, by the index of their placeholder.
    pastes: Vec<String>,
    kill_buffer: String,
    undo_stack: Vec<EditorState>,
    redo_stack: Vec<EditorState>,
    last_edit: EditKind,
    /// Column that vertical movement keeps.
    goal_column: Option<usize>,
}

impl Editor {
    /// Returns the text with long pastes expanded.
    pub fn expanded_text(&self) -> String {
        let mut text = String::with_capacity(self.current.text.len());
        for character in self.current.text.chars() {
            match self.find_paste_by_placeholder(character) {
                Some(paste) => text.push_str(paste),
                None => text.push(character),
            }
        }
        text
    }

    pub fn is_empty(&self) -> bool {
        self.current.text.is_empty()
    }

    /// Text between the start of the line and the cursor; pastes are placeholders.
    pub fn line_before_cursor(&self) -> &str {
        let before = &self.current.text[..self.current.cursor];
        before.rsplit('\n').next().unwrap_or(before)
    }

    /// Replaces the text.
    pub fn set_text(&mut self, text: &str) {
        self.push_undo_unless_typing_word(EditKind::Other);
        self.pastes.clear();
        self.current.text.clear();
        self.current.cursor = 0;
        self.insert_printable_within_limit(text);
    }

    /// Returns the text and clears the editor, except for the kill buffer.
    pub fn take_text_and_reset_undo(&mut self) -> String {
        let text = self.expanded_text();
        *self = Editor { kill_buffer: std::mem::take(&mut self.kill_buffer), ..Editor::default() };
        text
    }

    /// Inserts typed text at the cursor.
    pub fn insert(&mut self, text: &str) {
        let is_word = text.chars().all(char::is_alphanumeric);
        self.push_undo_unless_typing_word(if is_word { EditKind::Typing } else { EditKind::Other });
        self.insert_printable_within_limit(text);
    }

    /// Returns the paste that a placeholder stands for.
    fn find_paste_by_placeholder(&self, placeholder: char) -> Option<&str> {
        let place = u32::from(placeholder).checked_sub(u32::from(*PASTE_PLACEHOLDERS.start()))?;
        self.pastes.get(usize::try_from(place).ok()?).map(String::as_str)
    }

    /// Inserts a paste; a long one is shown as a placeholder and sent in full.
    pub fn insert_paste(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let is_long = PASTE_LINES_MAX < text.lines().count() || PASTE_BYTES_MAX < text.len();
        let placeholder = PASTE_PLACEHOLDERS.clone().nth(self.pastes.len());
        match placeholder.filter(|_| is_long && self.bytes_left() >= text.len()) {
            Some(placeholder) => {
                self.push_undo_unless_typing_word(EditKind::Other);
                self.pastes.push(text);
                self.insert_at_cursor(placeholder.encode_utf8(&mut [0; 4]));
            }
            None => self.insert(&text),
        }
    }

    /// Moves the cursor.
    pub fn move_cursor(&mut self, motion: Motion) {
        self.last_edit = EditKind::Other;
        self.goal_column = None;
        self.current.cursor = self.motion_target(motion);
    }

    /// Moves the cursor one row up in text wrapped at `columns`; returns false on the first row.
    pub fn move_up(&mut self, columns: usize) -> bool {
        self.move_to_row(columns, |row| row.checked_sub(1))
    }

    /// Moves the cursor one row down; returns false on the last row.
    pub fn move_down(&mut self, columns: usize) -> bool {
        self.move_to_row(columns, |row| row.checked_add(1))
    }

    /// Deletes from the cursor to the target.
    pub fn delete(&mut self, motion: Motion) {
        let target = self.motion_target(motion);
        if target != self.current.cursor {
            self.push_undo_unless_typing_word(EditKind::Other);
            self.remove_to(target);
        }
    }

    /// Deletes into the kill buffer.
    pub fn kill(&mut self, motion: Motion) {
        let target = match motion {
            // At the end of a line, the line break itself is killed.
            Motion::LineEnd if self.current.text[self.current.cursor..].starts_with('\n') => {
                self.current.cursor + 1
            }
            motion => self.motion_target(motion),
        };
        if target != self.current.cursor {
            self.push_undo_unless_typing_word(EditKind::Other);
            self.kill_buffer = self.remove_to(target);
        }
    }

    /// Inserts the kill buffer.
    pub fn yank(&mut self) {
        let killed = self.kill_buffer.clone();
        self.push_undo_unless_typing_word(EditKind::Other);
        self.insert_at_cursor(&killed);
    }

    pub fn undo(&mut self) {
        if let Some(before) = self.undo_stack.pop() {
            self.redo_stack.push(std::mem::replace(&mut self.current, before));
            self.last_edit = EditKind::Other;
        }
    }

    pub fn redo(&mut self) {
        if let Some(after) = self.redo_stack.pop() {
            self.undo_stack.push(std::mem::replace(&mut self.current, after));
            self.last_edit = EditKind::Other;
        }
    }

    /// Replaces `bytes` before the cursor with `text`.
    pub fn replace_before_cursor(&mut self, bytes: usize, text: &str) {
        self.push_undo_unless_typing_word(EditKind::Other);
        let from = self.current.text.floor_char_boundary(self.current.cursor.saturating_sub(bytes));
        self.current.text.replace_range(from..self.current.cursor, "");
        self.current.cursor = from;
        self.insert_printable_within_limit(text);
    }

    /// Returns the displayed rows, wrapped at `columns`, and the cursor's position.
    pub fn wrapped_rows_and_cursor(&self, columns: usize) -> (Vec<String>, TextPosition) {
        let layout = self.layout(columns);
        let rows =
            layout.rows().iter().map(|row| self.displayed_text(&self.current.text[row.clone()]));
        (
            rows.collect(),
            layout.position_of(&self.current.text, self.current.cursor, |text| {
                self.displayed_width(text)
            }),
        )
    }

    fn layout(&self, columns: usize) -> EditorLayout {
        EditorLayout::new(&self.current.text, columns, |text| self.displayed_width(text))
    }

    fn displayed_width(&self, text: &str) -> usize {
        unicode_width::UnicodeWidthStr::width(self.displayed_text(text).as_str())
    }

    fn displayed_text(&self, text: &str) -> String {
        let mut shown = String::with_capacity(text.len());
        for character in text.chars() {
            match self.find_paste_by_placeholder(character) {
                Some(paste) => shown.push_str(&paste_label(paste)),
                None if character == '\t' => shown.push_str("    "),
                None => shown.push(character),
            }
        }
        shown
    }

    fn move_to_row(&mut self, columns: usize, row: impl Fn(usize) -> Option<usize>) -> bool {
        self.last_edit = EditKind::Other;
        let layout = self.layout(columns);
        let width = |text: &str| self.displayed_width(text);
        let place = layout.position_of(&self.current.text, self.current.cursor, width);
        let column = self.goal_column.unwrap_or(place.column);
        let Some(range) = row(place.row).and_then(|row| layout.rows().get(row)) else {
            return false;
        };
        let cursor = layout.offset_at_column(&self.current.text, range.clone(), column, width);
        self.current.cursor = cursor;
        self.goal_column = Some(column);
        true
    }

    fn bytes_left(&self) -> usize {
        let pasted: usize = self.pastes.iter().map(String::len).sum();
        TEXT_BYTES_MAX.saturating_sub(self.current.text.len() + pasted)
    }

    /// Inserts text without control characters, up to the length limit.
    fn insert_printable_within_limit(&mut self, text: &str) {
        let room = text.floor_char_boundary(self.bytes_left());
        let kept = text[..room].chars().filter(|character| {
            let is_control = character.is_control() && !matches!(character, '\n' | '\t');
            !is_control && !PASTE_PLACEHOLDERS.contains(character)
        });
        self.insert_at_cursor(&kept.collect::<String>());
    }

    /// Inserts text as it is.
    fn insert_at_cursor(&mut self, text: &str) {
        self.current.text.insert_str(self.current.cursor, text);
        // The inserted text may combine with what follows into one grapheme.
        self.current.cursor =
            grapheme_boundary_at_or_after(&self.current.text, self.current.cursor + text.len());
    }

    /// Removes and returns the text between the cursor and `target`.
    fn remove_to(&mut self, target: usize) -> String {
        let range = self.current.cursor.min(target)..self.current.cursor.max(target);
        self.current.cursor = range.start;
        let cut: String = self.current.text.drain(range).collect();
        self.current.cursor =
            grapheme_boundary_at_or_after(&self.current.text, self.current.cursor);
        cut
    }

    /// Saves the state for undo, unless typing continues a word.
    fn push_undo_unless_typing_word(&mut self, edit: EditKind) {
        self.goal_column = None;
        let before = std::mem::replace(&mut self.last_edit, edit);
        if (before, edit) == (EditKind::Typing, EditKind::Typing) {
            return;
        }
        if self.undo_stack.len() == UNDO_STEPS_MAX {
            self.undo_stack.remove(0);
        }
        self.undo_stack.push(self.current.clone());
        self.redo_stack.clear();
    }

    fn motion_target(&self, motion: Motion) -> usize {
        let EditorState { text, cursor } = &self.current;
        let (before, after) = text.split_at(*cursor);
        match motion {
            Motion::Left => before.grapheme_indices(true).next_back().map_or(0, |(at, _)| at),
            Motion::Right => cursor + after.graphemes(true).next().map_or(0, str::len),
            Motion::WordLeft => {
                let words = before.split_word_bound_indices();
                let word = words.rev().find(|(_, word)| !word.trim().is_empty());
                word.map_or(0, |(at, _)| at)
            }
            Motion::WordRight => {
                let mut words = after.split_word_bound_indices();
                let word = words.find(|(_, word)| !word.trim().is_empty());
                word.map_or(text.len(), |(at, word)| cursor + at + word.len())
            }
            Motion::LineStart => before.rfind('\n').map_or(0, |at| at + 1),
            Motion::LineEnd => after.find('\n').map_or(text.len(), |at| cursor + at),
            Motion::Start => 0,
            Motion::End => text.len(),
        }
    }
}

/// Returns the text displayed for a long paste.
fn paste_label(paste: &str) -> String {
    match paste.lines().count() {
        0 | 1 => format!("[pasted {} characters]", paste.chars().count()),
        lines => format!("[pasted {lines} lines]"),
    }
}

/// Returns the first grapheme boundary at or after `at`.
fn grapheme_boundary_at_or_after(text: &str, at: usize) -> usize {
    // No grapheme spans a line end.
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    if at == line {
        return at;
    }
    let mut ends =
        text[line..].grapheme_indices(true).map(|(start, part)| line + start + part.len());
    ends.find(|end| at <= *end).unwrap_or(text.len())
}

#[cfg(test)]
#[path = "editor_tests.rs"]
mod tests;
