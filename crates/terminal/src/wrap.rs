//! Incremental first-fit wrapping of text.
//!
//! Invariant: a row is emitted once, when no later text can change it; chunk boundaries do not
//! show. At most one row and the word after it are held.

use crate::hyperlinks::Hyperlink;
use crate::row::{Row, RowStart};
use crate::style::Style;
use crate::text::clusters;

/// Wraps one line of styled text into rows.
#[derive(Clone, Debug)]
pub(crate) struct LineWrapper {
    cols: usize,
    /// Prefix of every row except the first.
    prefix: Row,
    /// The row being filled, with its prefix.
    row: Row,
    row_width: usize,
    /// Bytes of the row's prefix.
    row_prefix_bytes: usize,
    has_emitted_rows: bool,
    /// Spaces after the row's text; dropped if the row breaks there.
    spaces: Row,
    /// The unfinished word after the spaces.
    word: Row,
    url_scan: UrlScan,
}

/// Search for a URL in the word; a URL is not broken if a row can hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UrlScan {
    /// The word ends with this many bytes of `://`.
    SchemeBytesSeen(usize),
    /// A URL was found; its rest starts at this byte of the word.
    StartsAt(usize),
}

impl LineWrapper {
    /// Creates a wrapper for rows of `cols` columns, prefixes included.
    pub(crate) fn new(cols: usize, first: Row, prefix: Row) -> LineWrapper {
        LineWrapper {
            cols,
            prefix,
            row_width: first.width(),
            row_prefix_bytes: first.text().len(),
            row: first,
            has_emitted_rows: false,
            spaces: Row::default(),
            word: Row::default(),
            url_scan: UrlScan::SchemeBytesSeen(0),
        }
    }

    /// Appends text of one line.
    pub(crate) fn push(
        &mut self,
        text: &str,
        style: Style,
        link: Option<&Hyperlink>,
        out: &mut Vec<Row>,
    ) {
        let mut rest = text;
        while !rest.is_empty() {
            let word = rest.find([' ', '\t']).unwrap_or(rest.len());
            let (now, later) = rest.split_at(word);
            let mut unplaced = now;
            while !unplaced.is_empty() {
                let (piece, later) = unplaced.split_at(self.bytes_before_overflow(unplaced));
                self.scan_for_url(piece);
                self.word.push_linked(piece, style, link);
                self.place_breakable_parts(out);
                unplaced = later;
            }
            let spaces = later.len() - later.trim_start_matches([' ', '\t']).len();
            if spaces > 0 {
                self.end_word();
                self.spaces.push_linked(&" ".repeat(spaces), style, link);
            }
            rest = &later[spaces..];
        }
    }

    /// Ends the line and starts another.
    pub(crate) fn break_line(&mut self, out: &mut Vec<Row>) {
        self.end_word();
        self.spaces = Row::default();
        self.emit_row_and_start_next(RowStart::NewLine, out);
    }

    /// Emits the last row.
    pub(crate) fn finish(&mut self, out: &mut Vec<Row>) {
        self.append_word_to_row();
        out.push(std::mem::take(&mut self.row));
    }

    /// Returns the prefixes of the current row and of the next.
    pub(crate) fn current_and_next_row_prefixes(&self) -> (Row, Row) {
        let mut row = self.row.clone();
        (row.split_off_front_bytes(self.row_prefix_bytes), self.prefix.clone())
    }

    /// Ends the row in the middle of the text.
    pub(crate) fn end_row_mid_text(&mut self, out: &mut Vec<Row>) {
        self.append_word_to_row();
        let begins =
            if self.spaces.is_empty() { RowStart::WithoutSpace } else { RowStart::AfterSpace };
        self.emit_row_and_start_next(begins, out);
    }

    /// Returns true if no row was emitted: all text fits into the first row.
    pub(crate) fn fits_in_one_row_so_far(&self) -> bool {
        !self.has_emitted_rows
    }

    pub(crate) fn apply_base_style(&mut self, below: Style) {
        for part in [&mut self.row, &mut self.spaces, &mut self.word] {
            part.apply_base_style(below);
        }
    }

    /// Wraps the held text again at another width; emitted rows stay.
    pub(crate) fn resize(&mut self, cols: usize, out: &mut Vec<Row>) {
        let mut held = std::mem::take(&mut self.row);
        let first = held.split_off_front_bytes(self.row_prefix_bytes);
        held.push_row(&self.spaces);
        held.push_row(&self.word);
        let handed_out = self.has_emitted_rows;
        *self = LineWrapper::new(cols, first, std::mem::take(&mut self.prefix));
        self.has_emitted_rows = handed_out;
        for (text, style, link) in held.spans() {
            self.push(text, style, link, out);
        }
    }

    /// Length of a beginning of `text` in which no character but the last can overflow the row. The
    /// row must end at the first one that does, however the text arrives: without the text before
    /// it, the rest breaks elsewhere.
    fn bytes_before_overflow(&self, text: &str) -> usize {
        let used = self.row_width + self.spaces.width() + self.word.width();
        // A character is at most as wide as it has bytes.
        let free = self.cols.saturating_sub(used).min(text.len());
        let first = text.chars().next().map_or(0, char::len_utf8);
        text.floor_char_boundary(free).max(first)
    }

    /// Places the parts of the word that cannot change any more.
    fn place_breakable_parts(&mut self, out: &mut Vec<Row>) {
        while let Some(at) = find_break_beside_non_ascii(self.word.text())
            && !matches!(self.url_scan, UrlScan::StartsAt(from) if from <= at)
        {
            let front = self.take_word_front(at);
            let rest = std::mem::replace(&mut self.word, front);
            let address = std::mem::replace(&mut self.url_scan, UrlScan::SchemeBytesSeen(0));
            self.start_rows_until_word_fits(out);
            self.append_word_to_row();
            self.word = rest;
            self.url_scan = address;
        }
        self.start_rows_until_word_fits(out);
    }

    fn scan_for_url(&mut self, piece: &str) {
        for (index, byte) in piece.bytes().enumerate() {
            let UrlScan::SchemeBytesSeen(seen) = self.url_scan else { return };
            self.url_scan = match (seen, byte) {
                (1, b'/') => UrlScan::SchemeBytesSeen(2),
                (2, b'/') => UrlScan::StartsAt(self.word.text().len() + index + 1),
                (_, b':') => UrlScan::SchemeBytesSeen(1),
                _ => UrlScan::SchemeBytesSeen(0),
            };
        }
    }

    /// Removes and returns the first `bytes` of the word.
    fn take_word_front(&mut self, bytes: usize) -> Row {
        if let UrlScan::StartsAt(from) = &mut self.url_scan {
            *from = from.saturating_sub(bytes);
        }
        self.word.split_off_front_bytes(bytes)
    }

    fn end_word(&mut self) {
        self.append_word_to_row();
        self.url_scan = UrlScan::SchemeBytesSeen(0);
    }

    /// Starts rows until the word fits into one. A word only grows, so this is final.
    fn start_rows_until_word_fits(&mut self, out: &mut Vec<Row>) {
        let mut wanted = self.word.width();
        if !self.has_only_prefix() && self.cols < self.row_width + self.spaces.width() + wanted {
            let begins =
                if self.spaces.is_empty() { RowStart::WithoutSpace } else { RowStart::AfterSpace };
            self.emit_row_and_start_next(begins, out);
        }
        while self.has_only_prefix() && self.cols < self.row_width + wanted {
            let fitting = bytes_fitting(self.word.text(), self.cols.saturating_sub(self.row_width));
            if fitting == self.word.text().len() {
                return;
            }
            let front = self.take_word_front(fitting);
            self.row.push_row(&front);
            self.emit_row_and_start_next(RowStart::WithoutSpace, out);
            wanted = self.word.width();
        }
    }

    /// Appends the word to the row.
    fn append_word_to_row(&mut self) {
        if self.word.is_empty() {
            return;
        }
        // A row never starts with the space it was broken at.
        if !self.has_only_prefix() {
            self.row.push_row(&self.spaces);
        }
        self.spaces = Row::default();
        self.row.push_row(&self.word);
        self.row_width = self.row.width();
        self.word = Row::default();
    }

    fn emit_row_and_start_next(&mut self, begins: RowStart, out: &mut Vec<Row>) {
        let mut row = self.prefix.clone();
        row.set_row_start(begins);
        self.row_width = row.width();
        self.row_prefix_bytes = row.text().len();
        self.spaces = Row::default();
        self.has_emitted_rows = true;
        out.push(std::mem::replace(&mut self.row, row));
    }

    /// Returns true if the row contains only its prefix.
    fn has_only_prefix(&self) -> bool {
        self.row.text().len() == self.row_prefix_bytes
    }
}

/// Finds a Unicode line break next to a non-ASCII character. Independent of the text after it.
fn find_break_beside_non_ascii(word: &str) -> Option<usize> {
    if word.is_ascii() {
        return None;
    }
    let beside_wide = |at: usize| {
        let before = word[..at].chars().next_back();
        let after = word[at..].chars().next();
        [before, after].iter().flatten().any(|char| !char.is_ascii())
    };
    let mut places = unicode_linebreak::linebreaks(word).map(|(at, _)| at);
    places.find(|&at| at < word.len() && beside_wide(at))
}

/// Returns the length of the longest prefix that fits into `cols`, at least one cluster.
fn bytes_fitting(text: &str, cols: usize) -> usize {
    let mut used = 0;
    let mut bytes = 0;
    for cluster in clusters(text) {
        used += cluster.width;
        if cols < used && bytes > 0 {
            break;
        }
        bytes += cluster.text.len();
    }
    bytes
}

#[cfg(test)]
#[path = "wrap_tests.rs"]
mod tests;
