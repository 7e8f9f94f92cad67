//! Incremental renderer of a page: settled rows are returned once and in order, the rest is
//! rendered again on demand.
//!
//! Invariant: a row that was returned as settled is never returned again, also after the whole page
//! was received again.

mod change;
pub mod cost;
mod images;
mod item;
mod raw_call;
pub mod status;
mod text_stream;
pub mod tool_details;

use millpond_engine::view::{Item, ItemKey, ItemKind, ItemState, Page, Patch, Status, ViewName};

use crate::row::{Row, SemanticMark};

pub use change::PageChange;
use change::rewritten_item_keys;
pub use images::FetchedImage;
use images::{ImageFetching, PageImages, RowPhase};
pub(crate) use item::push_wrapped_text;
pub use item::{RenderOptions, answer_text, notice_text, steps_label, tool_name};
use item::{item_rows, render_images_citations_and_interruption};
pub(crate) use raw_call::raw_call_rows;
use text_stream::TextStream;

/// Earlier items that are printed when a session is opened.
const HISTORY_ITEMS_MAX: usize = 200;

/// Items whose images are fetched ahead of being printed.
const IMAGE_PREFETCH_ITEMS_MAX: usize = 32;

/// Content above the next item; decides the gap row between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ContentAbove {
    Nothing,
    Prompt,
    Other,
}

/// Renders the page of one view into rows.
#[derive(Debug)]
pub struct PageRenderer {
    view: ViewName,
    options: RenderOptions,
    page: Page,
    /// Count of printed items.
    items_printed: usize,
    /// Lower bound of the keys of unprinted items.
    next_key: ItemKey,
    /// The first unprinted item, while it is printed in parts.
    text_stream: Option<TextStream>,
    settled_rows: Vec<Row>,
    images: PageImages,
    /// Prints the user's messages and how runs ended.
    shows_prompts_and_endings: bool,
    /// Prints earlier items without the usual limit.
    prints_whole_history: bool,
    above: ContentAbove,
}

impl PageRenderer {
    pub fn new(view: ViewName, options: RenderOptions) -> PageRenderer {
        PageRenderer {
            view,
            options,
            page: Page::default(),
            items_printed: 0,
            next_key: ItemKey::default(),
            text_stream: None,
            settled_rows: Vec::new(),
            images: PageImages::default(),
            shows_prompts_and_endings: true,
            prints_whole_history: false,
            above: ContentAbove::Nothing,
        }
    }

    /// Omits the user's messages and how runs ended, for a caller that knows both.
    pub fn hide_prompts_and_endings(&mut self) {
        self.shows_prompts_and_endings = false;
    }

    /// Makes items wait for their images; the caller must fetch those of `take_wanted_images`.
    pub fn make_items_wait_for_images(&mut self) {
        self.images.replace_fetching_mode(ImageFetching::On);
    }

    /// Settles items that wait for images without them; returns true if any settled.
    pub fn settle_without_images(&mut self) -> bool {
        let printed = self.items_printed;
        let fetched = self.images.replace_fetching_mode(ImageFetching::Off);
        self.settle_items_and_partial_text();
        self.images.replace_fetching_mode(fetched);
        printed < self.items_printed
    }

    /// Returns the names of images to fetch, each once.
    pub fn take_wanted_images(&mut self) -> Vec<String> {
        self.images.take_wanted()
    }

    pub fn set_image_result_and_settle(&mut self, name: &str, fetched: FetchedImage) {
        self.images.set_fetch_result_if_requested(name, fetched);
        self.settle_items_and_partial_text();
    }

    pub fn page(&self) -> &Page {
        &self.page
    }

    pub fn view(&self) -> ViewName {
        self.view
    }

    /// Replaces the page, on the first connection or after a failed resume.
    pub fn replace_page_and_settle(&mut self, page: Page) {
        self.page = page;
        if let Some(stream) = &self.text_stream {
            self.restart_preview_if_printing(stream.key);
        }
        if self.items_printed == 0
            && !self.prints_whole_history
            && HISTORY_ITEMS_MAX < self.page.items.len()
        {
            self.skip_items(self.page.items.len() - HISTORY_ITEMS_MAX);
            let words = format!("… {} earlier items, /all to print them", self.items_printed);
            self.settled_rows.push(Row::from_text(&words, crate::style::Style::DIM));
            self.above = ContentAbove::Other;
        }
        self.settle_items_and_partial_text();
    }

    /// Replaces the page and drops its settled rows: only later items are printed.
    pub fn replace_page_and_drop_settled(&mut self, page: Page) {
        let fetched = self.images.replace_fetching_mode(ImageFetching::Off);
        self.replace_page_and_settle(page);
        self.settled_rows.clear();
        self.images.replace_fetching_mode(fetched);
    }

    fn skip_items(&mut self, count: usize) {
        let first = self.page.items.iter().nth(count).map(|(key, _)| key);
        self.items_printed = count;
        self.next_key = first.unwrap_or_default();
    }

    pub fn apply_patch(&mut self, patch: &Patch<'_>) -> PageChange {
        self.page.apply(patch);
        for key in rewritten_item_keys(patch) {
            self.restart_preview_if_printing(*key);
        }
        self.settle_items_and_partial_text();
        PageChange::of_patch(patch)
    }

    /// Returns the rows that have settled since the last call.
    pub fn take_settled(&mut self) -> Vec<Row> {
        std::mem::take(&mut self.settled_rows)
    }

    /// Renders the unsettled items as they look now.
    pub fn live_rows(&mut self) -> Vec<Row> {
        let mut rows = Vec::new();
        let live = self.page.items.iter_from(self.next_key);
        for (key, item) in live.filter(|(_, item)| item.state != ItemState::Withdrawn) {
            let options = self.options;
            let mut shown = if item.kind == ItemKind::Text
                && self.text_stream.as_ref().is_none_or(|stream| stream.key == key)
            {
                let stream = self.text_stream.get_or_insert_with(|| TextStream::new(key, options));
                let mut rows = stream.update_preview_and_live_rows(&item.text);
                rows.append(&mut render_images_citations_and_interruption(
                    item,
                    options,
                    &self.images,
                    RowPhase::Live,
                ));
                rows
            } else {
                item_rows(item, options, &self.images, RowPhase::Live)
            };
            let goes_on = self
                .text_stream
                .as_ref()
                .is_some_and(|stream| stream.key == key && stream.has_emitted_rows());
            if !shown.is_empty() && !goes_on && (self.has_content_above() || !rows.is_empty()) {
                rows.push(Row::default());
            }
            rows.append(&mut shown);
        }
        rows
    }

    /// Applies a new size, after `scrolled_away` live rows left the screen as they were shown.
    pub fn resize(&mut self, options: RenderOptions, scrolled_away: usize) {
        self.options = options;
        // Rows settled since the last frame looked the same while live, except for images.
        let shown = self.settled_rows.iter().take_while(|row| row.image().is_none()).count();
        let settled = scrolled_away.min(shown);
        self.settled_rows.drain(..settled);
        let scrolled_away = scrolled_away - settled;
        let has_begun = self.has_content_above();
        let first = self.page.items.iter_from(self.next_key).next().map(|(key, _)| key);
        if self.text_stream.as_ref().is_some_and(|stream| Some(stream.key) != first) {
            // It is unknown whose rows scrolled away: better printed twice than lost.
            self.text_stream = None;
        }
        let Some(stream) = &mut self.text_stream else { return };
        let text = self.page.items.get(stream.key).map_or("", |item| &*item.text);
        let gap = usize::from(has_begun && !stream.has_emitted_rows());
        if 0 < scrolled_away && gap == 1 {
            self.above = ContentAbove::Other;
        }
        stream.resize(text, options, scrolled_away.saturating_sub(gap), &mut self.settled_rows);
    }

    /// Restarts the preview after the item's text changed, if it is the one being printed.
    fn restart_preview_if_printing(&mut self, key: ItemKey) {
        if let Some(stream) = self.text_stream.as_mut().filter(|stream| stream.key == key) {
            let text = self.page.items.get(key).map_or("", |item| &*item.text);
            stream.drop_preview_and_reprint_if_changed(text);
        }
    }

    /// Renders the items that the view has settled into settled rows, up to one that waits for an
    /// image.
    fn settle_items_and_partial_text(&mut self) {
        let mut waits = false;
        while let Some((key, item)) = self.page.items.iter_from(self.next_key).next() {
            if self.page.settled.count <= key.0 {
                break;
            }
            waits = self.images.mark_wanted_and_check_pending(item);
            if waits {
                break;
            }
            match self.text_stream.take() {
                Some(stream) if stream.key == key => {
                    let (was_new, mut rows) = (!stream.has_emitted_rows(), Vec::new());
                    stream.finish(&item.text, &mut rows);
                    rows.append(&mut render_images_citations_and_interruption(
                        item,
                        self.options,
                        &self.images,
                        RowPhase::Settled,
                    ));
                    if was_new && !rows.is_empty() {
                        push_gap_row_if_content_above(&mut self.settled_rows, &mut self.above);
                    }
                    self.settled_rows.append(&mut rows);
                }
                _ if is_prompt_or_ending(item) && !self.shows_prompts_and_endings => {}
                _ => push_gap_and_item_rows(
                    item,
                    self.options,
                    &self.images,
                    &mut self.settled_rows,
                    &mut self.above,
                ),
            }
            self.images.forget_item_images(item);
            self.items_printed += 1;
            self.next_key = ItemKey(key.0 + 1);
        }
        if waits {
            return self.mark_next_images_wanted();
        }
        self.images.forget_all();
        self.settle_partial_text();
    }

    /// Adds the images of the next items to the wanted ones, so that they are fetched in parallel.
    fn mark_next_images_wanted(&mut self) {
        let next = self.page.items.iter_from(self.next_key).take(IMAGE_PREFETCH_ITEMS_MAX);
        for (_, item) in next.filter(|(_, item)| item.state != ItemState::Live) {
            self.images.mark_wanted_and_check_pending(item);
        }
    }

    /// Renders the settled beginning of the first unprinted text item into settled rows.
    fn settle_partial_text(&mut self) {
        let bytes = self.page.settled.bytes;
        let Some((key, item)) = self.page.items.iter_from(self.next_key).next() else { return };
        if item.kind != ItemKind::Text || bytes == 0 || key.0 != self.page.settled.count {
            return;
        }
        let options = self.options;
        if self.text_stream.as_ref().is_none_or(|stream| stream.key != key) {
            self.text_stream = Some(TextStream::new(key, options));
        }
        let Some(stream) = &mut self.text_stream else { return };
        let (was_new, mut rows) = (!stream.has_emitted_rows(), Vec::new());
        stream.settle_up_to(&item.text, bytes, &mut rows);
        if was_new && !rows.is_empty() {
            push_gap_row_if_content_above(&mut self.settled_rows, &mut self.above);
        }
        self.settled_rows.append(&mut rows);
    }

    /// Lifts the limit on earlier items, for the next page.
    pub fn lift_items_limit_of_first_page(&mut self) {
        self.prints_whole_history = true;
    }

    /// Notes that other rows were printed above the next item.
    pub fn mark_content_above(&mut self) {
        self.above = ContentAbove::Other;
    }

    /// Returns true if anything was printed above the live rows.
    pub fn has_content_above(&self) -> bool {
        self.above != ContentAbove::Nothing
    }

    pub fn is_run_active(&self) -> bool {
        !matches!(self.page.status, Status::Idle) && self.page.ended.is_none()
    }
}

fn is_prompt_or_ending(item: &Item<'_>) -> bool {
    item.kind == ItemKind::User || item.is_ending()
}

fn push_gap_and_item_rows(
    item: &Item<'_>,
    options: RenderOptions,
    images: &PageImages,
    settled: &mut Vec<Row>,
    above: &mut ContentAbove,
) {
    let mut rows = item_rows(item, options, images, RowPhase::Settled);
    if rows.is_empty() {
        return;
    }
    push_gap_row_if_content_above(settled, above);
    if item.kind == ItemKind::User {
        rows[0] = std::mem::take(&mut rows[0]).with_semantic_mark(SemanticMark::Prompt);
        *above = ContentAbove::Prompt;
    }
    settled.append(&mut rows);
}

/// Pushes the blank row between two items.
fn push_gap_row_if_content_above(settled: &mut Vec<Row>, above: &mut ContentAbove) {
    match above {
        ContentAbove::Nothing => {}
        ContentAbove::Prompt => {
            settled.push(Row::default().with_semantic_mark(SemanticMark::Output));
        }
        ContentAbove::Other => settled.push(Row::default()),
    }
    *above = ContentAbove::Other;
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
