//! A text of several lines under a cursor.
//!
//! Invariant: the cursor stands between two characters as a person counts them, never inside one.

use unicode_segmentation::UnicodeSegmentation;

use super::layout::{Layout, Place};

/// Characters that stand for a long paste until the text is sent; nothing else can put them there.
const STANDINS: std::ops::RangeInclusive<char> = '\u{e000}'..='\u{e0ff}';

/// A paste that is longer is shown as one character.
const PASTE_LINES_MAX: usize = 10;
const PASTE_BYTES_MAX: usize = 1_000;

/// How many changes can be taken back.
const UNDO_MAX: usize = 200;

/// Bytes of a message that is being written.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// Where the cursor goes, or how far is deleted.
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

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    text: String,
    cursor: usize,
}

#[derive(Clone, Debug, Default)]
pub struct Editor {
    now: State,
    /// Long pastes, by the place of their stand-in among the stand-ins.
    pastes: Vec<String>,
    killed: String,
    undo: Vec<State>,
    redo: Vec<State>,
    /// Whether the change before was typing, so that a word is taken back as one.
    typing: bool,
    /// The column that going up and down keeps to.
    column: Option<usize>,
}

impl Editor {
    /// What is written, with long pastes in full.
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(self.now.text.len());
        for character in self.now.text.chars() {
            match self.paste(character) {
                Some(paste) => text.push_str(paste),
                None => text.push(character),
            }
        }
        text
    }

    pub fn is_empty(&self) -> bool {
        self.now.text.is_empty()
    }

    /// What stands before the cursor on its line, as far as it is shown as it is.
    pub fn before_cursor(&self) -> &str {
        let before = &self.now.text[..self.now.cursor];
        before.rsplit('\n').next().unwrap_or(before)
    }

    pub fn set(&mut self, text: &str) {
        self.remember(false);
        self.pastes.clear();
        self.now.text.clear();
        self.now.cursor = 0;
        self.put(text);
    }

    /// Takes what is written, and begins anew.
    pub fn take(&mut self) -> String {
        let text = self.text();
        *self = Editor { killed: std::mem::take(&mut self.killed), ..Editor::default() };
        text
    }

    pub fn insert(&mut self, text: &str) {
        let is_word = text.chars().all(char::is_alphanumeric);
        self.remember(is_word);
        self.put(text);
    }

    fn paste(&self, standin: char) -> Option<&str> {
        let place = u32::from(standin).checked_sub(u32::from(*STANDINS.start()))?;
        self.pastes.get(usize::try_from(place).ok()?).map(String::as_str)
    }

    /// A long paste is shown as one character, and sent in full.
    pub fn insert_paste(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let is_long = PASTE_LINES_MAX < text.lines().count() || PASTE_BYTES_MAX < text.len();
        let standin = STANDINS.clone().nth(self.pastes.len());
        match standin.filter(|_| is_long && self.room() >= text.len()) {
            Some(standin) => {
                self.remember(false);
                self.pastes.push(text);
                self.splice(standin.encode_utf8(&mut [0; 4]));
            }
            None => self.insert(&text),
        }
    }

    pub fn go(&mut self, motion: Motion) {
        self.typing = false;
        self.column = None;
        self.now.cursor = self.target(motion);
    }

    /// One row up, as the text is shown so many columns wide; says whether there was one.
    pub fn up(&mut self, columns: usize) -> bool {
        self.go_to_row(columns, |row| row.checked_sub(1))
    }

    pub fn down(&mut self, columns: usize) -> bool {
        self.go_to_row(columns, |row| row.checked_add(1))
    }

    pub fn delete(&mut self, motion: Motion) {
        let target = self.target(motion);
        if target != self.now.cursor {
            self.remember(false);
            self.cut(target);
        }
    }

    /// Deletes what can be put back with `yank`.
    pub fn kill(&mut self, motion: Motion) {
        let target = match motion {
            // The end of a line that is empty already is the beginning of the next.
            Motion::LineEnd if self.now.text[self.now.cursor..].starts_with('\n') => {
                self.now.cursor + 1
            }
            motion => self.target(motion),
        };
        if target != self.now.cursor {
            self.remember(false);
            self.killed = self.cut(target);
        }
    }

    pub fn yank(&mut self) {
        let killed = self.killed.clone();
        self.remember(false);
        self.splice(&killed);
    }

    pub fn undo(&mut self) {
        if let Some(before) = self.undo.pop() {
            self.redo.push(std::mem::replace(&mut self.now, before));
            self.typing = false;
        }
    }

    pub fn redo(&mut self) {
        if let Some(after) = self.redo.pop() {
            self.undo.push(std::mem::replace(&mut self.now, after));
            self.typing = false;
        }
    }

    /// Puts another text in place of what stands before the cursor.
    pub fn replace_before(&mut self, bytes: usize, text: &str) {
        self.remember(false);
        let from = self.now.text.floor_char_boundary(self.now.cursor.saturating_sub(bytes));
        self.now.text.replace_range(from..self.now.cursor, "");
        self.now.cursor = from;
        self.put(text);
    }

    /// The rows that the text takes, and where on them the cursor is.
    pub fn rows(&self, columns: usize) -> (Vec<String>, Place) {
        let layout = self.layout(columns);
        let rows = layout.rows().iter().map(|row| self.shown(&self.now.text[row.clone()]));
        (rows.collect(), layout.place_of(&self.now.text, self.now.cursor, |text| self.width(text)))
    }

    fn layout(&self, columns: usize) -> Layout {
        Layout::new(&self.now.text, columns, |text| self.width(text))
    }

    fn width(&self, text: &str) -> usize {
        unicode_width::UnicodeWidthStr::width(self.shown(text).as_str())
    }

    fn shown(&self, text: &str) -> String {
        let mut shown = String::with_capacity(text.len());
        for character in text.chars() {
            match self.paste(character) {
                Some(paste) => shown.push_str(&standin_words(paste)),
                None if character == '\t' => shown.push_str("    "),
                None => shown.push(character),
            }
        }
        shown
    }

    fn go_to_row(&mut self, columns: usize, row: impl Fn(usize) -> Option<usize>) -> bool {
        self.typing = false;
        let layout = self.layout(columns);
        let width = |text: &str| self.width(text);
        let place = layout.place_of(&self.now.text, self.now.cursor, width);
        let column = self.column.unwrap_or(place.column);
        let Some(range) = row(place.row).and_then(|row| layout.rows().get(row)) else {
            return false;
        };
        let cursor = layout.at_column(&self.now.text, range.clone(), column, width);
        self.now.cursor = cursor;
        self.column = Some(column);
        true
    }

    fn room(&self) -> usize {
        let pasted: usize = self.pastes.iter().map(String::len).sum();
        TEXT_BYTES_MAX.saturating_sub(self.now.text.len() + pasted)
    }

    /// Only what can be shown, and only as much as there is room for.
    fn put(&mut self, text: &str) {
        let room = text.floor_char_boundary(self.room());
        let kept = text[..room].chars().filter(|character| {
            let is_control = character.is_control() && !matches!(character, '\n' | '\t');
            !is_control && !STANDINS.contains(character)
        });
        self.splice(&kept.collect::<String>());
    }

    fn splice(&mut self, text: &str) {
        self.now.text.insert_str(self.now.cursor, text);
        // What was put there may have become one character with what follows.
        self.now.cursor = boundary_after(&self.now.text, self.now.cursor + text.len());
    }

    fn cut(&mut self, target: usize) -> String {
        let range = self.now.cursor.min(target)..self.now.cursor.max(target);
        self.now.cursor = range.start;
        let cut: String = self.now.text.drain(range).collect();
        self.now.cursor = boundary_after(&self.now.text, self.now.cursor);
        cut
    }

    fn remember(&mut self, typing: bool) {
        self.column = None;
        let goes_on = typing && self.typing;
        self.typing = typing;
        if goes_on {
            return;
        }
        if self.undo.len() == UNDO_MAX {
            self.undo.remove(0);
        }
        self.undo.push(self.now.clone());
        self.redo.clear();
    }

    fn target(&self, motion: Motion) -> usize {
        let State { text, cursor } = &self.now;
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

/// What a long paste is shown as.
fn standin_words(paste: &str) -> String {
    match paste.lines().count() {
        0 | 1 => format!("[pasted {} characters]", paste.chars().count()),
        lines => format!("[pasted {lines} lines]"),
    }
}

/// The first place between two characters, at this one or after it.
fn boundary_after(text: &str, at: usize) -> usize {
    // No character goes over the end of a line.
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
