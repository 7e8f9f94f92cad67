//! A text item as it is written: what is settled of it becomes rows once, what may still change is
//! shown ahead of that.

use std::collections::VecDeque;

use engine::view::Key;

use super::item::Look;
use crate::limits::live_rows_max;
use crate::markdown::Markdown;
use crate::row::Row;

#[derive(Clone, Debug)]
pub(super) struct TextStream {
    pub(super) key: Key,
    look: Look,
    markdown: Markdown,
    /// Bytes of the text that it has been given.
    fed: usize,
    /// Whether any of its rows has been handed out.
    begun: bool,
    ahead: Option<Ahead>,
    /// What has scrolled away before it was settled.
    let_go: Option<LetGo>,
}

/// The text up to rows that have scrolled away as they were, and how far it had come before.
#[derive(Clone, Debug)]
struct LetGo {
    text: String,
    markdown: Markdown,
    fed: usize,
}

/// The rest of the text, laid out as if nothing of it would change.
#[derive(Clone, Debug)]
struct Ahead {
    markdown: Markdown,
    fed: usize,
    /// What would be settled, as far as it could be seen.
    rows: VecDeque<Row>,
}

impl TextStream {
    pub(super) fn new(key: Key, look: Look) -> TextStream {
        let markdown = Markdown::new(look.size, look.links);
        TextStream { key, look, markdown, fed: 0, begun: false, ahead: None, let_go: None }
    }

    /// The text up to here does not change any more.
    pub(super) fn settle(&mut self, text: &str, bytes: usize, out: &mut Vec<Row>) {
        let bytes = text.floor_char_boundary(bytes.min(text.len()));
        if self.let_go.as_ref().is_some_and(|gone| gone.text.len() <= bytes) {
            // It came as it was shown.
            self.let_go = None;
        }
        if self.fed < bytes {
            self.markdown.push(&text[self.fed..bytes]);
            self.fed = bytes;
            // What was shown ahead is shown anew from where the settled text ends.
            self.ahead = None;
        }
        self.hand_out(out);
    }

    pub(super) fn has_begun(&self) -> bool {
        self.begun
    }

    fn hand_out(&mut self, out: &mut Vec<Row>) {
        let mut rows = self.markdown.take_settled();
        self.begun |= !rows.is_empty();
        out.append(&mut rows);
    }

    /// All of the text is there.
    pub(super) fn finish(mut self, text: &str, out: &mut Vec<Row>) {
        self.settle(text, text.len(), out);
        self.markdown.finish();
        self.hand_out(out);
    }

    /// The text changed otherwise than by growing. If that took back what has scrolled away, it is
    /// said anew.
    pub(super) fn changed(&mut self, text: &str) {
        self.ahead = None;
        if self.let_go.as_ref().is_some_and(|gone| !text.starts_with(&gone.text))
            && let Some(LetGo { markdown, fed, .. }) = self.let_go.take()
        {
            self.markdown = markdown;
            self.markdown.set_size(self.look.size);
            self.begun = false;
            self.fed = text.floor_char_boundary(fed.min(text.len()));
        }
    }

    /// Another size; so many rows of what was shown have scrolled away as they were.
    pub(super) fn resize(
        &mut self,
        text: &str,
        look: Look,
        scrolled_away: usize,
        out: &mut Vec<Row>,
    ) {
        self.look = look;
        if 0 < scrolled_away {
            self.begun = true;
            self.let_go(text, scrolled_away, out);
        }
        self.ahead = None;
        self.markdown.set_size(look.size);
        self.hand_out(out);
    }

    /// What has scrolled away cannot be taken back, settled or not.
    fn let_go(&mut self, text: &str, rows: usize, out: &mut Vec<Row>) {
        if let Some(ahead) = &self.ahead {
            let before = self.let_go.take().map(|gone| (gone.markdown, gone.fed));
            let (markdown, fed) = before.unwrap_or_else(|| (self.markdown.clone(), self.fed));
            self.let_go = Some(LetGo { text: text[..ahead.fed].to_owned(), markdown, fed });
            self.markdown.push(&text[self.fed..ahead.fed]);
            self.fed = ahead.fed;
        }
        let mut settled = self.markdown.take_settled();
        let gone = rows.min(settled.len());
        out.extend(settled.drain(gone..));
        self.markdown.scrolled_away(rows - gone);
    }

    /// What is not settled, as it looks now; not more than can be seen.
    pub(super) fn live(&mut self, text: &str) -> Vec<Row> {
        if self.fed == text.len() {
            return self.markdown.live();
        }
        let most = live_rows_max(self.look.size);
        let ahead = self.ahead.get_or_insert_with(|| Ahead {
            markdown: self.markdown.clone(),
            fed: self.fed,
            rows: VecDeque::new(),
        });
        ahead.markdown.push(&text[ahead.fed..]);
        ahead.fed = text.len();
        ahead.rows.extend(ahead.markdown.take_settled());
        let hidden = ahead.rows.len().saturating_sub(most);
        ahead.rows.drain(..hidden);
        ahead.rows.iter().cloned().chain(ahead.markdown.live()).collect()
    }
}
