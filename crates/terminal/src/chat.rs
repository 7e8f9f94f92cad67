//! State of the chat: keys, pages and times go in; rows and effects come out.
//!
//! Does not read a clock, a key or a socket. It does list folders, for file completion.

mod ask;
pub mod commands;
mod completion;
mod key_handling;
mod live_region;

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Instant;

use millpond_client::messages::{Delivery, QueuedMessage};
use millpond_engine::view::{Item, ItemKind, Page, Patch, ViewName};

pub use ask::AskAnswer;
use ask::AskBox;
use commands::SlashCommand;
pub use completion::SessionChoice;
use completion::{CompletionMenu, CompletionSources};
pub use live_region::LiveRegion;

use crate::input::editor::Editor;
use crate::input::history::History;
use crate::input::paste_burst::PasteBurst;
use crate::page::{
    FetchedImage, PageChange, PageRenderer, RenderOptions, push_wrapped_text, raw_call_rows,
};
use crate::row::Row;
use crate::style::Style;

/// Side effect that the chat asks its event loop to perform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    Send {
        text: String,
        delivery: Delivery,
    },
    /// Append to the history file.
    SaveToHistory(String),
    AnswerAsk(AskAnswer),
    CancelRun,
    RunCommand(SlashCommand),
    /// Open the message in an external editor.
    OpenEditor(String),
    /// Fetch the sessions of the `/resume` menu.
    FetchResumeChoices,
    Suspend,
    Quit,
}

/// Interactive chat over one session: page, input line, menus, asks and notices.
#[derive(Debug)]
pub struct Chat {
    renderer: PageRenderer,
    /// Live rows of the page that did not fit on the screen.
    hidden_rows: usize,
    options: RenderOptions,
    editor: Editor,
    history: History,
    paste_burst: PasteBurst,
    search: Option<HistorySearch>,
    menu: Option<CompletionMenu>,
    ask: Option<AskBox>,
    queue: Vec<QueuedMessage>,
    folder: PathBuf,
    /// Choices of `/resume` and `/model`.
    completion_sources: CompletionSources,
    /// The `/resume` choices were requested and the menu is still wanted.
    awaits_resume_choices: bool,
    /// Why the gateway is unreachable; `None` while connected.
    connection_problem: Option<String>,
    /// When the active run was first seen.
    run_seen_at: Option<Instant>,
    last_interrupt: Option<Instant>,
    /// The run whose ending was considered last for a notice.
    ended_run: Option<String>,
    /// Notice rows, printed after the settled rows of the page.
    notices: Vec<Row>,
    /// Asks are printed as notices because no live region is shown.
    line_mode: bool,
}

/// Incremental search in the input history.
#[derive(Clone, Debug, Default)]
struct HistorySearch {
    query: String,
    /// Index of the found entry.
    match_index: Option<usize>,
}

impl Chat {
    pub fn new(view: ViewName, options: RenderOptions, history: History, folder: PathBuf) -> Chat {
        Chat {
            renderer: build_renderer_awaiting_images(view, options),
            hidden_rows: 0,
            options,
            editor: Editor::default(),
            history,
            paste_burst: PasteBurst::default(),
            search: None,
            menu: None,
            ask: None,
            queue: Vec::new(),
            folder,
            completion_sources: CompletionSources::default(),
            awaits_resume_choices: false,
            connection_problem: None,
            run_seen_at: None,
            last_interrupt: None,
            ended_run: None,
            notices: Vec::new(),
            line_mode: false,
        }
    }

    /// Prints asks as notices from now on.
    pub fn enable_line_mode(&mut self) {
        self.line_mode = true;
    }

    /// Returns true while an ask waits for the user's answer.
    pub fn has_open_ask(&self) -> bool {
        self.ask.is_some()
    }

    pub fn renderer(&self) -> &PageRenderer {
        &self.renderer
    }

    /// Settles items that wait for images without them; returns true if any settled.
    pub fn settle_without_images(&mut self) -> bool {
        self.renderer.settle_without_images()
    }

    pub fn take_wanted_images(&mut self) -> Vec<String> {
        self.renderer.take_wanted_images()
    }

    pub fn set_image_result_and_settle(&mut self, name: &str, fetched: FetchedImage) {
        self.renderer.set_image_result_and_settle(name, fetched);
    }

    pub fn queue(&self) -> &[QueuedMessage] {
        &self.queue
    }

    /// Sets the queue, without messages that the page already shows.
    pub fn set_queue_except_shown_messages(&mut self, mut queue: Vec<QueuedMessage>) {
        let items = &self.renderer.page().items;
        queue.retain(|message| !items.values().rev().any(|item| item.run == message.id));
        self.queue = queue;
    }

    pub fn set_connection_problem(&mut self, words: Option<String>) {
        self.connection_problem = words;
    }

    /// Starts an empty page, for another session or another view. Settled rows are kept.
    pub fn start_empty_page(&mut self, view: ViewName) {
        self.renderer.settle_without_images();
        let mut rows = self.renderer.take_settled();
        rows.append(&mut self.notices);
        self.notices = rows;
        self.renderer = build_renderer_awaiting_images(view, self.options);
        self.ask = None;
        self.queue.clear();
        self.run_seen_at = None;
    }

    pub fn replace_page(&mut self, page: Page, now: Instant) {
        self.renderer.replace_page_and_settle(page);
        self.sync_run_timer_and_ask(now);
        self.add_abnormal_end_notice_unless_shown();
    }

    /// Sets a page whose settled part has been printed already.
    pub fn replace_page_and_drop_settled(&mut self, page: Page, now: Instant) {
        self.renderer.replace_page_and_drop_settled(page);
        self.sync_run_timer_and_ask(now);
        self.ended_run = self.renderer.page().ended.as_ref().map(|ended| ended.run.to_string());
    }

    pub fn apply_patch(&mut self, patch: &Patch<'_>, now: Instant) -> PageChange {
        let change = self.renderer.apply_patch(patch);
        self.sync_run_timer_and_ask(now);
        if change == PageChange::RunEnded {
            self.add_abnormal_end_notice_unless_shown();
        }
        change
    }

    fn sync_run_timer_and_ask(&mut self, now: Instant) {
        if !self.renderer.is_run_active() {
            self.run_seen_at = None;
        } else if self.run_seen_at.is_none() {
            self.run_seen_at = Some(now);
        }
        let open = self.renderer.page().asks.first();
        self.ask = match (self.ask.take(), open) {
            (_, None) => None,
            (Some(known), Some(ask)) if known.is_for(ask) => Some(known),
            (_, Some(ask)) => {
                let ask = AskBox::new(ask, now);
                if self.line_mode {
                    push_wrapped_text(
                        &mut self.notices,
                        self.options,
                        ("? ", Style::PLAIN),
                        &ask.to_plain_text(),
                        Style::PLAIN,
                    );
                }
                Some(ask)
            }
        };
    }

    /// Adds a notice on how the run ended, once, unless it completed or an item of the page says
    /// it.
    fn add_abnormal_end_notice_unless_shown(&mut self) {
        let page = self.renderer.page();
        let Some(ended) = &page.ended else { return };
        let told = page.items.values().next_back().is_some_and(Item::is_ending)
            || self.ended_run.as_deref() == Some(&*ended.run);
        let words = ended.label().filter(|_| !told).map(Cow::into_owned);
        self.ended_run = Some(ended.run.to_string());
        if let Some(words) = words {
            self.add_notice(&words);
        }
    }

    /// Returns the rows that have settled since the last call, notices last.
    pub fn take_settled(&mut self) -> Vec<Row> {
        let mut rows = self.renderer.take_settled();
        if !self.notices.is_empty() {
            rows.append(&mut self.notices);
            self.renderer.mark_content_above();
        }
        rows
    }

    /// Adds a dimmed line, printed with the next settled rows.
    pub fn add_notice(&mut self, words: &str) {
        push_wrapped_text(&mut self.notices, self.options, ("· ", Style::DIM), words, Style::DIM);
    }

    /// Adds a tool call in full, as its agent made it; 1 is the newest.
    fn add_raw_call_notice(&mut self, number: usize) {
        match raw_call_rows(self.renderer.page(), number, self.options) {
            Ok(mut rows) => self.notices.append(&mut rows),
            Err(words) => self.add_notice(&words),
        }
    }

    pub fn resize(&mut self, options: RenderOptions, scrolled_away: usize) {
        self.options = options;
        // With hidden rows it is unknown which ones scrolled away: better printed twice than lost.
        let gone = if self.hidden_rows == 0 { scrolled_away } else { 0 };
        self.renderer.resize(options.without_footer(), gone);
    }

    pub fn set_input_text(&mut self, text: &str) {
        self.editor.set_text(text);
        self.menu = None;
    }

    /// Puts a message that could not be sent back in front of the input text.
    pub fn prepend_unsent_text_to_input(&mut self, text: &str) {
        let written = self.editor.expanded_text();
        let both =
            if written.is_empty() { text.to_owned() } else { format!("{text}\n\n{written}") };
        self.editor.set_text(&both);
    }

    /// Lifts the limit on earlier items, for the next page.
    pub fn lift_items_limit_of_first_page(&mut self) {
        self.renderer.lift_items_limit_of_first_page();
    }

    pub fn insert_paste(&mut self, text: &str) {
        self.editor.insert_paste(text);
        self.menu = None;
    }

    /// Returns the text of the newest reply.
    pub fn newest_reply_text(&self) -> Option<String> {
        let mut items = self.renderer.page().items.values().rev();
        items.find(|item| item.kind == ItemKind::Text).map(|item| item.text.to_string())
    }
}

fn build_renderer_awaiting_images(view: ViewName, options: RenderOptions) -> PageRenderer {
    let mut page = PageRenderer::new(view, options.without_footer());
    page.make_items_wait_for_images();
    page
}
