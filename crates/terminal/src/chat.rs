//! A conversation as a person has it: keys, pages and times go in; rows and wishes come out.
//!
//! Pure: it never reads a clock, a key or a socket.

mod ask;
pub mod commands;
mod complete;
mod keys;
mod live;

use std::path::PathBuf;
use std::time::Instant;

use engine::view::patch::Ended;
use engine::view::{Kind, Picture, ViewName};

pub use ask::Answer;
use ask::AskBox;
use commands::Order;
pub use complete::Place;
use complete::{Known, Menu};
pub use live::Live;

use crate::input::burst::Burst;
use crate::input::editor::Editor;
use crate::input::history::History;
use crate::link::Waiting;
use crate::page::{Change, Fetched, Look, Page, put};
use crate::row::Row;
use crate::style::Style;

/// What the chat cannot do by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    Send {
        text: String,
        join: bool,
    },
    /// To be kept with what was written before.
    Remember(String),
    Answer(Answer),
    Cancel,
    Order(Order),
    /// What is written, in an editor of the person's choice.
    Editor(String),
    /// Conversations to choose from.
    Places,
    Suspend,
    Leave,
}

#[derive(Debug)]
pub struct Chat {
    page: Page,
    /// Rows of the page that may change and were not drawn, for want of room.
    hidden: usize,
    look: Look,
    editor: Editor,
    history: History,
    burst: Burst,
    search: Option<Search>,
    menu: Option<Menu>,
    ask: Option<AskBox>,
    queue: Vec<Waiting>,
    folder: PathBuf,
    /// What `/resume` and `/model` offer.
    known: Known,
    /// They have been asked for, and nobody has turned away since.
    awaits_places: bool,
    /// Why the gateway cannot be heard.
    away: Option<String>,
    /// When the run that is going was first seen.
    began: Option<Instant>,
    interrupted: Option<Instant>,
    /// Rows of our own that stand between what the page says.
    said: Vec<Row>,
    /// Nothing is seen but what is said: for screen readers.
    by_lines: bool,
}

#[derive(Clone, Debug, Default)]
struct Search {
    words: String,
    /// The place of what was found.
    at: Option<usize>,
}

impl Chat {
    pub fn new(view: ViewName, look: Look, history: History, folder: PathBuf) -> Chat {
        Chat {
            page: page(view, look),
            hidden: 0,
            look,
            editor: Editor::default(),
            history,
            burst: Burst::default(),
            search: None,
            menu: None,
            ask: None,
            queue: Vec::new(),
            folder,
            known: Known::default(),
            awaits_places: false,
            away: None,
            began: None,
            interrupted: None,
            said: Vec::new(),
            by_lines: false,
        }
    }

    /// From now on whatever a person must know is said in its place.
    pub fn go_by_lines(&mut self) {
        self.by_lines = true;
    }

    /// Whether something waits for the person.
    pub fn is_asked(&self) -> bool {
        self.ask.is_some()
    }

    pub fn page(&self) -> &Page {
        &self.page
    }

    /// Settles what waits for pictures without them; says whether anything did.
    pub fn wait_no_longer(&mut self) -> bool {
        self.page.wait_no_longer()
    }

    pub fn take_wanted_pictures(&mut self) -> Vec<String> {
        self.page.take_wanted_pictures()
    }

    pub fn picture_came(&mut self, name: &str, fetched: Fetched) {
        self.page.picture_came(name, fetched);
    }

    pub fn queue(&self) -> &[Waiting] {
        &self.queue
    }

    /// What waits, as it was a moment ago: what the page shows has begun since.
    pub fn set_queue(&mut self, mut queue: Vec<Waiting>) {
        let items = &self.page.picture().items;
        queue.retain(|message| !items.values().rev().any(|item| item.run == message.id));
        self.queue = queue;
    }

    pub fn set_away(&mut self, words: Option<String>) {
        self.away = words;
    }

    /// Another session, or another view of the same.
    pub fn turn_to(&mut self, view: ViewName) {
        self.page.wait_no_longer();
        let mut rows = self.page.take_settled();
        rows.append(&mut self.said);
        self.said = rows;
        self.page = page(view, self.look);
        self.ask = None;
        self.queue.clear();
        self.began = None;
    }

    pub fn put(&mut self, picture: Picture, now: Instant) {
        self.page.put(picture);
        self.after_change(now);
    }

    /// A page whose settled part the person has seen already.
    pub fn put_seen(&mut self, picture: Picture, now: Instant) {
        self.page.skip(picture);
        self.after_change(now);
    }

    /// A change of the page. What does not fit says why; the page is to be taken anew then.
    pub fn patch(&mut self, data: &str, now: Instant) -> Result<Change, String> {
        let change = self.page.patch(data).map_err(|fault| fault.problem)?;
        self.after_change(now);
        if change == Change::Ended {
            self.say_ending();
        }
        Ok(change)
    }

    fn after_change(&mut self, now: Instant) {
        if !self.page.is_going() {
            self.began = None;
        } else if self.began.is_none() {
            self.began = Some(now);
        }
        let open = self.page.picture().asks.first();
        self.ask = match (self.ask.take(), open) {
            (_, None) => None,
            (Some(known), Some(ask)) if known.is(ask) => Some(known),
            (_, Some(ask)) => {
                let ask = AskBox::new(ask, now);
                if self.by_lines {
                    put(
                        &mut self.said,
                        self.look,
                        ("? ", Style::PLAIN),
                        &ask.in_words(),
                        Style::PLAIN,
                    );
                }
                Some(ask)
            }
        };
    }

    /// How a run ended, unless it simply ended well or the page says why it did not.
    fn say_ending(&mut self) {
        let picture = self.page.picture();
        let told = picture.items.values().next_back().is_some_and(|item| item.kind == Kind::Error);
        let words = picture.ended.as_ref().and_then(Ended::words);
        if let Some(words) = words.filter(|_| !told) {
            let words = words.into_owned();
            self.say(&words);
        }
    }

    /// Rows that are settled since the last call.
    pub fn take_settled(&mut self) -> Vec<Row> {
        let mut rows = self.page.take_settled();
        if !self.said.is_empty() {
            rows.append(&mut self.said);
            self.page.stands_below_something();
        }
        rows
    }

    /// Says something to the person, once, in its place.
    pub fn say(&mut self, words: &str) {
        put(&mut self.said, self.look, ("· ", Style::DIM), words, Style::DIM);
    }

    pub fn resize(&mut self, look: Look, scrolled_away: usize) {
        self.look = look;
        // Where rows were left out nobody knows which have scrolled away: better twice than never.
        let gone = if self.hidden == 0 { scrolled_away } else { 0 };
        self.page.resize(look.above_the_rest(), gone);
    }

    pub fn write(&mut self, text: &str) {
        self.editor.set(text);
        self.menu = None;
    }

    /// What could not be sent is not lost.
    pub fn give_back(&mut self, text: &str) {
        let written = self.editor.text();
        let both =
            if written.is_empty() { text.to_owned() } else { format!("{text}\n\n{written}") };
        self.editor.set(&both);
    }

    /// The page that comes next is printed from its beginning.
    pub fn print_all(&mut self) {
        self.page.print_all();
    }

    pub fn paste(&mut self, text: &str) {
        self.editor.insert_paste(text);
        self.menu = None;
    }

    /// The newest whole reply.
    pub fn reply(&self) -> Option<String> {
        let mut items = self.page.picture().items.values().rev();
        items.find(|item| item.kind == Kind::Text).map(|item| item.text.to_string())
    }
}

fn page(view: ViewName, look: Look) -> Page {
    let mut page = Page::new(view, look.above_the_rest());
    page.fetch_pictures();
    page
}
