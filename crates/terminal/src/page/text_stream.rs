//! Incremental rendering of one text item: settled text becomes rows once, the rest is a preview.

use std::collections::VecDeque;

use millpond_engine::view::ItemKey;

use super::item::RenderOptions;
use crate::limits::live_rows_max;
use crate::markdown::MarkdownRenderer;
use crate::row::Row;

/// Renderer of a text item that is still being written.
#[derive(Clone, Debug)]
pub(super) struct TextStream {
    pub(super) key: ItemKey,
    options: RenderOptions,
    markdown: MarkdownRenderer,
    /// Bytes of the text pushed to `markdown`.
    bytes_fed: usize,
    /// At least one row was returned as settled.
    has_emitted_rows: bool,
    preview: Option<Preview>,
    /// Text that scrolled away before it settled.
    scrolled_away: Option<ScrolledAway>,
}

/// Text up to the rows that scrolled away, and the renderer's state before them.
#[derive(Clone, Debug)]
struct ScrolledAway {
    text: String,
    markdown: MarkdownRenderer,
    bytes_fed: usize,
}

/// The unsettled rest of the text, rendered as if it were final.
#[derive(Clone, Debug)]
struct Preview {
    markdown: MarkdownRenderer,
    bytes_fed: usize,
    /// The last rows that fit on the screen.
    rows: VecDeque<Row>,
}

impl TextStream {
    pub(super) fn new(key: ItemKey, options: RenderOptions) -> TextStream {
        let markdown = MarkdownRenderer::new(options.size, options.hyperlinks);
        TextStream {
            key,
            options,
            markdown,
            bytes_fed: 0,
            has_emitted_rows: false,
            preview: None,
            scrolled_away: None,
        }
    }

    /// Settles the first `bytes` of the text.
    pub(super) fn settle_up_to(&mut self, text: &str, bytes: usize, out: &mut Vec<Row>) {
        let bytes = text.floor_char_boundary(bytes.min(text.len()));
        if self.scrolled_away.as_ref().is_some_and(|gone| gone.text.len() <= bytes) {
            // It settled as it was shown.
            self.scrolled_away = None;
        }
        if self.bytes_fed < bytes {
            self.markdown.push(&text[self.bytes_fed..bytes]);
            self.bytes_fed = bytes;
            // The preview restarts where the settled text ends.
            self.preview = None;
        }
        self.emit_settled_rows(out);
    }

    pub(super) fn has_emitted_rows(&self) -> bool {
        self.has_emitted_rows
    }

    fn emit_settled_rows(&mut self, out: &mut Vec<Row>) {
        let mut rows = self.markdown.take_settled();
        self.has_emitted_rows |= !rows.is_empty();
        out.append(&mut rows);
    }

    /// Settles the whole text.
    pub(super) fn finish(mut self, text: &str, out: &mut Vec<Row>) {
        self.settle_up_to(text, text.len(), out);
        self.markdown.finish();
        self.emit_settled_rows(out);
    }

    /// Drops the preview of a rewritten text. If text that scrolled away was changed, it is printed
    /// again.
    pub(super) fn drop_preview_and_reprint_if_changed(&mut self, text: &str) {
        self.preview = None;
        if self.scrolled_away.as_ref().is_some_and(|gone| !text.starts_with(&gone.text))
            && let Some(ScrolledAway { markdown, bytes_fed: fed, .. }) = self.scrolled_away.take()
        {
            self.markdown = markdown;
            self.markdown.set_size_and_rewrap(self.options.size);
            self.has_emitted_rows = false;
            self.bytes_fed = text.floor_char_boundary(fed.min(text.len()));
        }
    }

    /// Applies a new size, after `scrolled_away` rows left the screen as they were shown.
    pub(super) fn resize(
        &mut self,
        text: &str,
        options: RenderOptions,
        scrolled_away: usize,
        out: &mut Vec<Row>,
    ) {
        self.options = options;
        if 0 < scrolled_away {
            self.has_emitted_rows = true;
            self.settle_shown_and_skip_rows(text, scrolled_away, out);
        }
        self.preview = None;
        self.markdown.set_size_and_rewrap(options.size);
        self.emit_settled_rows(out);
    }

    /// Settles the shown text without returning the first `rows` rows, which have scrolled away.
    fn settle_shown_and_skip_rows(&mut self, text: &str, rows: usize, out: &mut Vec<Row>) {
        if let Some(ahead) = &self.preview {
            let before = self.scrolled_away.take().map(|gone| (gone.markdown, gone.bytes_fed));
            let (markdown, fed) = before.unwrap_or_else(|| (self.markdown.clone(), self.bytes_fed));
            self.scrolled_away = Some(ScrolledAway {
                text: text[..ahead.bytes_fed].to_owned(),
                markdown,
                bytes_fed: fed,
            });
            self.markdown.push(&text[self.bytes_fed..ahead.bytes_fed]);
            self.bytes_fed = ahead.bytes_fed;
        }
        let mut settled = self.markdown.take_settled();
        let gone = rows.min(settled.len());
        out.extend(settled.drain(gone..));
        self.markdown.settle_as_shown_and_drop_rows(rows - gone);
    }

    /// Renders the unsettled rows, at most one screen.
    pub(super) fn update_preview_and_live_rows(&mut self, text: &str) -> Vec<Row> {
        if self.bytes_fed == text.len() {
            return self.markdown.live_rows();
        }
        let most = live_rows_max(self.options.size);
        let ahead = self.preview.get_or_insert_with(|| Preview {
            markdown: self.markdown.clone(),
            bytes_fed: self.bytes_fed,
            rows: VecDeque::new(),
        });
        ahead.markdown.push(&text[ahead.bytes_fed..]);
        ahead.bytes_fed = text.len();
        ahead.rows.extend(ahead.markdown.take_settled());
        let hidden = ahead.rows.len().saturating_sub(most);
        ahead.rows.drain(..hidden);
        ahead.rows.iter().cloned().chain(ahead.markdown.live_rows()).collect()
    }
}
