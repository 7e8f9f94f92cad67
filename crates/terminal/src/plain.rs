//! Rows without a terminal: for a pipe, for `TERM=dumb`, for a screen reader.
//!
//! Invariant: what is written holds no escape, and nothing that was written is ever changed. Only
//! settled rows are written; a line that was broken into rows is one line again.

use std::io::{self, Write};

use crate::row::{Begins, Row};

#[derive(Debug)]
pub struct Plain<W> {
    out: W,
    /// A line has been begun and may go on.
    open: bool,
}

impl<W: Write> Plain<W> {
    pub fn new(out: W) -> Plain<W> {
        Plain { out, open: false }
    }

    /// Appends rows that have settled.
    pub fn write(&mut self, rows: &[Row]) -> io::Result<()> {
        let mut text = String::new();
        for row in rows {
            match row.begins() {
                Begins::Line if self.open => text.push('\n'),
                Begins::AfterSpace if self.open => text.push(' '),
                Begins::Line | Begins::AfterSpace | Begins::Within => {}
            }
            text.push_str(row.text());
            self.open = true;
        }
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    /// Ends the line that has been begun, if one has.
    pub fn end_line(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.open) {
            self.out.write_all(b"\n")?;
        }
        self.out.flush()
    }

    /// Writes what is no row, such as a sign at the beginning of a line.
    pub fn raw(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    /// Ends the last line.
    pub fn finish(mut self) -> io::Result<W> {
        self.end_line()?;
        Ok(self.out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::{Links, Markdown};
    use crate::size::Size;

    #[track_caller]
    fn check(size: Size, text: &str, expected: &str) {
        let mut plain = Plain::new(Vec::new());
        let mut markdown = Markdown::new(size, Links::Spelled);
        for char in text.chars() {
            markdown.push(char.encode_utf8(&mut [0; 4]));
            plain.write(&markdown.take_settled()).unwrap();
        }
        markdown.finish();
        plain.write(&markdown.take_settled()).unwrap();
        assert_eq!(String::from_utf8(plain.finish().unwrap()).unwrap(), expected);
    }

    #[test]
    fn r12_nothing_is_escaped_and_lines_are_whole() {
        let text = "# A\n\n**b** [c](https://d.e) f\x1b[2J g h i j k l m n o p\n\n```rust\nlet a = 1;\n```";
        let expected =
            "A\n\nb c (https://d.e) f␛[2J g h i j k l m n o p\n\n```rust\nlet a = 1;\n```\n";
        check(Size::UNBOUNDED, text, expected);
        check(Size::new(20, 10), text, expected);
    }
}
