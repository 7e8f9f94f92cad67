//! First-fit wrapping of text as it arrives.
//!
//! Invariant: a row is handed out when nothing that follows can change it, and never again; how
//! the text was cut into pieces does not show. What is held is one row and the word after it.

use crate::links::Link;
use crate::row::{Begins, Row};
use crate::style::Style;
use crate::text::clusters;

/// Longest piece of a run without spaces that is looked at in one go.
const PIECE_BYTES: usize = 256;

#[derive(Clone, Debug)]
pub(crate) struct Wrap {
    cols: usize,
    /// What stands before the text in every row but the first.
    lead: Row,
    /// The row that is being filled, its lead included.
    row: Row,
    row_width: usize,
    /// Bytes of it that are its lead.
    row_lead: usize,
    handed_out: bool,
    /// Spaces after what the row holds; they are not shown where it is broken.
    spaces: Row,
    /// What follows them and has no end yet.
    word: Row,
    address: Address,
}

/// Whether the word is an address, which is not broken where a row can hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Address {
    /// So many bytes of `://` were the last.
    Maybe(usize),
    /// From this byte of the word on; nought where that has been placed.
    From(usize),
}

impl Wrap {
    /// Rows of `cols` columns, of which the leads take their part.
    pub(crate) fn new(cols: usize, first: Row, lead: Row) -> Wrap {
        Wrap {
            cols,
            lead,
            row_width: first.width(),
            row_lead: first.text().len(),
            row: first,
            handed_out: false,
            spaces: Row::default(),
            word: Row::default(),
            address: Address::Maybe(0),
        }
    }

    /// Appends text of one line.
    pub(crate) fn push(
        &mut self,
        text: &str,
        style: Style,
        link: Option<&Link>,
        out: &mut Vec<Row>,
    ) {
        let mut rest = text;
        while !rest.is_empty() {
            let word = rest.find([' ', '\t']).unwrap_or(rest.len());
            let (now, later) = rest.split_at(word);
            for piece in pieces(now) {
                self.look_for_address(piece);
                self.word.push_linked(piece, style, link);
                self.grow(out);
            }
            let spaces = later.len() - later.trim_start_matches([' ', '\t']).len();
            if spaces > 0 {
                self.end_word();
                self.spaces.push_linked(&" ".repeat(spaces), style, link);
            }
            rest = &later[spaces..];
        }
    }

    /// Ends the line here, and begins another.
    pub(crate) fn break_line(&mut self, out: &mut Vec<Row>) {
        self.end_word();
        self.spaces = Row::default();
        self.next_row(Begins::Line, out);
    }

    pub(crate) fn finish(&mut self, out: &mut Vec<Row>) {
        self.place_word();
        out.push(std::mem::take(&mut self.row));
    }

    /// What stands before this row and before the next.
    pub(crate) fn leads(&self) -> (Row, Row) {
        let mut row = self.row.clone();
        (row.split_front(self.row_lead), self.lead.clone())
    }

    /// Ends the row here, in the middle of the text.
    pub(crate) fn cut(&mut self, out: &mut Vec<Row>) {
        self.place_word();
        let begins = if self.spaces.is_empty() { Begins::Within } else { Begins::AfterSpace };
        self.next_row(begins, out);
    }

    /// Nothing has been handed out yet: everything fits into the first row.
    pub(crate) fn fits_one_row(&self) -> bool {
        !self.handed_out
    }

    pub(crate) fn restyle(&mut self, below: Style) {
        for part in [&mut self.row, &mut self.spaces, &mut self.word] {
            part.restyle(below);
        }
    }

    /// The same text in rows of another width; what has been handed out stays as it is.
    pub(crate) fn resize(&mut self, cols: usize, out: &mut Vec<Row>) {
        let mut held = std::mem::take(&mut self.row);
        let first = held.split_front(self.row_lead);
        held.push_row(&self.spaces);
        held.push_row(&self.word);
        let handed_out = self.handed_out;
        *self = Wrap::new(cols, first, std::mem::take(&mut self.lead));
        self.handed_out = handed_out;
        for (text, style, link) in held.spans() {
            self.push(text, style, link, out);
        }
    }

    /// Places what of the word cannot change any more.
    fn grow(&mut self, out: &mut Vec<Row>) {
        while let Some(at) = break_in(self.word.text())
            && !matches!(self.address, Address::From(from) if from <= at)
        {
            let front = self.take_front(at);
            let rest = std::mem::replace(&mut self.word, front);
            let address = std::mem::replace(&mut self.address, Address::Maybe(0));
            self.make_room(out);
            self.place_word();
            self.word = rest;
            self.address = address;
        }
        self.make_room(out);
    }

    fn look_for_address(&mut self, piece: &str) {
        for (index, byte) in piece.bytes().enumerate() {
            let Address::Maybe(seen) = self.address else { return };
            self.address = match (seen, byte) {
                (1, b'/') => Address::Maybe(2),
                (2, b'/') => Address::From(self.word.text().len() + index + 1),
                (_, b':') => Address::Maybe(1),
                _ => Address::Maybe(0),
            };
        }
    }

    /// Takes so many bytes from the front of the word.
    fn take_front(&mut self, bytes: usize) -> Row {
        if let Address::From(from) = &mut self.address {
            *from = from.saturating_sub(bytes);
        }
        self.word.split_front(bytes)
    }

    fn end_word(&mut self) {
        self.place_word();
        self.address = Address::Maybe(0);
    }

    /// Begins rows until the word fits into one. A word only grows: what does not fit now never will.
    fn make_room(&mut self, out: &mut Vec<Row>) {
        let mut wanted = self.word.width();
        if !self.is_bare() && self.cols < self.row_width + self.spaces.width() + wanted {
            let begins = if self.spaces.is_empty() { Begins::Within } else { Begins::AfterSpace };
            self.next_row(begins, out);
        }
        while self.is_bare() && self.cols < self.row_width + wanted {
            let fitting = bytes_within(self.word.text(), self.cols.saturating_sub(self.row_width));
            if fitting == self.word.text().len() {
                return;
            }
            let front = self.take_front(fitting);
            self.row.push_row(&front);
            self.next_row(Begins::Within, out);
            wanted = self.word.width();
        }
    }

    /// Appends the word, for which there is room.
    fn place_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        // A row never begins with the space at which it was broken.
        if !self.is_bare() {
            self.row.push_row(&self.spaces);
        }
        self.spaces = Row::default();
        self.row.push_row(&self.word);
        self.row_width = self.row.width();
        self.word = Row::default();
    }

    fn next_row(&mut self, begins: Begins, out: &mut Vec<Row>) {
        let mut row = self.lead.clone();
        row.set_begins(begins);
        self.row_width = row.width();
        self.row_lead = row.text().len();
        self.spaces = Row::default();
        self.handed_out = true;
        out.push(std::mem::replace(&mut self.row, row));
    }

    /// The row holds nothing but its lead.
    fn is_bare(&self) -> bool {
        self.row.text().len() == self.row_lead
    }
}

fn pieces(run: &str) -> impl Iterator<Item = &str> {
    let mut rest = run;
    std::iter::from_fn(move || {
        let end = (PIECE_BYTES..rest.len()).find(|&at| rest.is_char_boundary(at));
        let (piece, later) = rest.split_at(end.unwrap_or(rest.len()));
        rest = later;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Where a word may be broken without a space: beside a character that is not ASCII, as Unicode
/// says. Depends on nothing after the place.
fn break_in(word: &str) -> Option<usize> {
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

/// The longest beginning that fits into so many columns, and at least one cluster.
fn bytes_within(text: &str, cols: usize) -> usize {
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
