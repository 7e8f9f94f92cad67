//! A page on a terminal, while it changes: lines that may still change are drawn anew in place,
//! those that cannot are printed once and scroll away like any output.
//!
//! Does not: clear the screen, touch what was there before, or draw more than fits.

use engine::view::{Item, Key, Kind, Picture, ViewName};
use unicode_width::UnicodeWidthChar;

use super::control::neutralised;
use super::page::{asks_text, item_text, page_text, status_text};

/// What the terminal is assumed to be where it does not say.
const USUAL_SIZE: Size = Size { columns: 80, rows: 24 };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) columns: usize,
    pub(super) rows: usize,
}

impl Size {
    pub(super) fn of_terminal() -> Size {
        let size = terminal_size::terminal_size();
        size.map_or(USUAL_SIZE, |(columns, rows)| Size {
            columns: usize::from(columns.0).max(2),
            rows: usize::from(rows.0).max(2),
        })
    }
}

/// The part of the page that is still being drawn.
#[derive(Debug)]
pub(super) struct LivePage {
    view: ViewName,
    /// Lines on the screen above the cursor that may still change.
    drawn: Vec<String>,
    /// Items below this one have been printed for good.
    printed: u32,
    /// So many bytes of that one have been, too.
    printed_bytes: usize,
}

impl LivePage {
    pub(super) fn new(view: ViewName) -> LivePage {
        LivePage { view, drawn: Vec::new(), printed: 0, printed_bytes: 0 }
    }

    /// What to write so that the screen shows the page as it is now.
    pub(super) fn update(&mut self, picture: &Picture, size: Size) -> String {
        let mut out = String::new();
        if picture.ended.is_some() {
            let rest = self.rest(picture);
            self.print(&rest, &mut out);
            return out;
        }
        let settled = self.newly_settled(picture);
        if !settled.is_empty() {
            self.print(&settled, &mut out);
        }
        let lines = self.live_lines(picture, size);
        self.draw(lines, &mut out);
        out
    }

    /// Takes what was drawn off the screen and prints something for good.
    fn print(&mut self, text: &str, out: &mut String) {
        self.draw(Vec::new(), out);
        out.push_str(&neutralised(text).replace('\n', "\r\n"));
    }

    /// All that has not been printed yet.
    fn rest(&self, picture: &Picture) -> String {
        let mut left = picture.clone();
        left.items = picture.items.from(Key(self.printed)).map(own).collect();
        let mut is_printed = false;
        if let Some(first) = left.items.get_mut(Key(self.printed)) {
            first.text = first.text[self.printed_bytes.min(first.text.len())..].to_owned().into();
            is_printed = 0 < self.printed_bytes && item_text(first).trim().is_empty();
        }
        let rest = page_text(&left);
        if is_printed && !rest.is_empty() { format!("\n{rest}") } else { rest }
    }

    /// Text that has settled since the last time, as far as whole lines have.
    fn newly_settled(&mut self, picture: &Picture) -> String {
        if self.view != ViewName::Transcript {
            return String::new();
        }
        let mut text = String::new();
        while self.printed < picture.settled.count {
            if let Some(item) = picture.items.get(Key(self.printed)) {
                let rest = without(item, self.printed_bytes);
                if !rest.trim().is_empty() {
                    text.push_str(rest.trim_end_matches('\n'));
                    text.push_str("\n\n");
                } else if 0 < self.printed_bytes {
                    // All of it has been printed, to the end of its last line.
                    text.push('\n');
                }
            }
            self.printed += 1;
            self.printed_bytes = 0;
        }
        let next = picture.items.get(Key(self.printed)).filter(|item| item.kind == Kind::Text);
        if let Some(item) = next {
            let settled = item.text.get(self.printed_bytes..picture.settled.bytes);
            if let Some(end) = settled.unwrap_or_default().rfind('\n') {
                text.push_str(&item.text[self.printed_bytes..=self.printed_bytes + end]);
                self.printed_bytes += end + 1;
            }
        }
        text
    }

    /// The last lines of what may still change, as many as fit.
    fn live_lines(&self, picture: &Picture, size: Size) -> Vec<String> {
        let room = size.rows - 1;
        let mut lines = Vec::new();
        let status = status_text(picture);
        if !status.is_empty() {
            lines.push(neutralised(&status).into_owned());
        }
        for ask in asks_text(picture).iter().rev() {
            lines.extend(wrapped_tail(ask, size.columns - 1, room));
        }
        for (key, item) in picture.items.from(Key(self.printed)).rev() {
            if room <= lines.len() {
                break;
            }
            let printed = if key.0 == self.printed { self.printed_bytes } else { 0 };
            let text = without(item, printed);
            if text.trim().is_empty() {
                continue;
            }
            if !lines.is_empty() {
                lines.push(String::new());
            }
            lines.extend(wrapped_tail(&text, size.columns - 1, room));
        }
        lines.truncate(room);
        lines.reverse();
        lines
    }

    /// Draws lines in place of those drawn before; the lines that are the same stay untouched.
    fn draw(&mut self, lines: Vec<String>, out: &mut String) {
        let same = self.drawn.iter().zip(&lines).take_while(|(old, new)| old == new).count();
        let up = self.drawn.len() - same;
        if 0 < up {
            out.extend(["\x1b[", &up.to_string(), "A\r\x1b[J"]);
        }
        for line in &lines[same..] {
            out.push_str(line);
            out.push_str("\r\n");
        }
        self.drawn = lines;
    }
}

fn own((key, item): (Key, &Item<'static>)) -> (Key, Item<'static>) {
    (key, item.clone())
}

/// An item's text without its first bytes, which have been printed.
fn without(item: &Item<'_>, printed: usize) -> String {
    if printed == 0 {
        return item_text(item);
    }
    let rest = item.text.get(printed..).unwrap_or_default().to_owned();
    item_text(&Item { text: rest.into(), ..item.clone() })
}

/// The last `count` lines of a text, wrapped, the last one first.
fn wrapped_tail(text: &str, columns: usize, count: usize) -> Vec<String> {
    let mut tail = Vec::new();
    for line in text.trim_end_matches('\n').rsplit('\n') {
        let line = neutralised(line).replace('\t', "    ");
        let mut rows = wrapped(&line, columns);
        rows.reverse();
        tail.append(&mut rows);
        if count <= tail.len() {
            break;
        }
    }
    tail.truncate(count);
    tail
}

/// A line in rows that fit, broken between words where there are any.
pub(crate) fn wrapped(line: &str, columns: usize) -> Vec<String> {
    let mut rows = Vec::new();
    let mut row = String::new();
    let mut width = 0;
    for char in line.chars() {
        let wide = char.width().unwrap_or(0);
        // A wide character may need more room than the word before it leaves.
        while columns < width + wide && !row.is_empty() {
            let rest = match row.rfind(' ') {
                Some(at) if char != ' ' => row.split_off(at + 1),
                _ => String::new(),
            };
            width = rest.chars().map(|char| char.width().unwrap_or(0)).sum();
            rows.push(std::mem::replace(&mut row, rest));
        }
        row.push(char);
        width += wide;
    }
    rows.push(row);
    rows
}

#[cfg(test)]
mod tests {
    use engine::event::{AskKind, AskOption};
    use engine::view::patch::{Ask, Patch, Settled, Status};

    use super::*;

    #[test]
    fn lines_are_broken_between_words_and_never_wider_than_the_screen() {
        assert_eq!(wrapped("one two three", 8), ["one two ", "three"]);
        assert_eq!(wrapped("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(wrapped("東京東京", 5), ["東京", "東京"]);
        assert_eq!(wrapped(" 東京東京", 5), [" ", "東京", "東京"]);
        assert_eq!(wrapped("", 5), [""]);
        assert_eq!(wrapped_tail("a\nb\nc\n", 9, 2), ["c", "b"]);
    }

    #[test]
    fn a_blank_line_stands_between_items_also_where_the_first_ends_with_its_line() {
        let mut picture = Picture::default();
        let mut page = LivePage::new(ViewName::Transcript);
        let size = Size { columns: 40, rows: 9 };
        let mut written = String::new();
        let mut item = Item::new(Kind::Text, "r1", "m0");
        item.text = "One.\n".into();
        picture.apply(&Patch::Put { key: Key(0), item: item.clone() });
        picture.apply(&Patch::Settle(Settled { count: 0, bytes: 5 }));
        written += &page.update(&picture, size);
        item.id = "m1".into();
        item.text = "Two.\n".into();
        picture.apply(&Patch::Put { key: Key(1), item });
        picture.apply(&Patch::Settle(Settled { count: 2, bytes: 0 }));
        written += &page.update(&picture, size);
        assert_eq!(written, "One.\r\n\r\nTwo.\r\n\r\n");
    }

    #[test]
    fn what_is_asked_stands_above_the_status() {
        let mut picture = Picture::default();
        picture.apply(&Patch::Status(Status::Waiting));
        picture.apply(&Patch::Ask(Ask {
            run: "r1".into(),
            id: "q".into(),
            kind: AskKind::Command,
            text: "rm -r pond".into(),
            options: vec![AskOption { id: "y".into(), label: "Allow".into() }],
            digest: None,
            expires_at: None,
        }));
        let lines =
            LivePage::new(ViewName::Latest).live_lines(&picture, Size { columns: 40, rows: 9 });
        assert_eq!(lines, ["? rm -r pond [Allow]", "[Waiting for you...]"]);
    }

    #[test]
    fn only_lines_that_changed_are_drawn_again() {
        let mut page = LivePage::new(ViewName::Latest);
        let mut out = String::new();
        page.draw(vec!["a".into(), "b".into()], &mut out);
        assert_eq!(out, "a\r\nb\r\n");
        out.clear();
        page.draw(vec!["a".into(), "bc".into()], &mut out);
        assert_eq!(out, "\x1b[1A\r\x1b[Jbc\r\n");
        out.clear();
        page.draw(vec!["a".into(), "bc".into()], &mut out);
        assert_eq!(out, "");
        page.draw(Vec::new(), &mut out);
        assert_eq!(out, "\x1b[2A\r\x1b[J");
    }
}
