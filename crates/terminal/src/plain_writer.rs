//! Append-only row writer for pipes, `TERM=dumb` and screen readers.
//!
//! Invariant: the output contains no escape sequence and is never changed. Only settled rows are
//! written; the rows of a wrapped line are joined again.

use std::io::{self, Write};

use crate::row::{Row, RowStart};

/// Writes settled rows as plain lines.
#[derive(Debug)]
pub struct PlainWriter<W> {
    out: W,
    /// The last line has no line end yet: the next row may continue it.
    line_open: bool,
}

impl<W: Write> PlainWriter<W> {
    pub fn new(out: W) -> PlainWriter<W> {
        PlainWriter { out, line_open: false }
    }

    /// Appends settled rows.
    pub fn write_rows_leaving_line_open(&mut self, rows: &[Row]) -> io::Result<()> {
        let mut text = String::new();
        for row in rows {
            match row.row_start() {
                RowStart::NewLine if self.line_open => text.push('\n'),
                RowStart::AfterSpace if self.line_open => text.push(' '),
                RowStart::NewLine | RowStart::AfterSpace | RowStart::WithoutSpace => {}
            }
            text.push_str(row.text());
            self.line_open = true;
        }
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    /// Ends the open line, if any.
    pub fn end_line_if_open(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.line_open) {
            self.out.write_all(b"\n")?;
        }
        self.out.flush()
    }

    /// Writes text that is not a row, such as a prompt.
    pub fn write_without_tracking_line(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    /// Ends the last line and returns the writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.end_line_if_open()?;
        Ok(self.out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::{HyperlinkMode, MarkdownRenderer};
    use crate::size::Size;

    #[track_caller]
    fn check(size: Size, text: &str, expected: &str) {
        let mut plain = PlainWriter::new(Vec::new());
        let mut markdown = MarkdownRenderer::new(size, HyperlinkMode::SpelledOut);
        for char in text.chars() {
            markdown.push(char.encode_utf8(&mut [0; 4]));
            plain.write_rows_leaving_line_open(&markdown.take_settled()).unwrap();
        }
        markdown.finish();
        plain.write_rows_leaving_line_open(&markdown.take_settled()).unwrap();
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
