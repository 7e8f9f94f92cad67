//! A page as rows: what is settled is handed out once and in order, the rest is shown as it stands.
//!
//! Invariant: rows that were handed out are never handed out again, also after the page was taken
//! anew.

mod item;
mod pictures;
pub mod spent;
pub mod status;
mod stream;

use engine::view::{Item, Key, Kind, Patch, Picture, State, Status, ViewName};
use engine::wire::patch::{NoPatch, decode};

use crate::row::{Mark, Row};

pub use item::Look;
pub(crate) use item::put;
use item::{item_rows, tail_rows};
pub use pictures::Fetched;
use pictures::{Pictures, Stays};
use stream::TextStream;

/// Items of a page from before that are printed when a session is opened.
const HISTORY_ITEMS_MAX: usize = 200;

/// Items whose pictures are fetched before their turn comes.
const AHEAD_ITEMS_MAX: usize = 32;

/// What stands above the next item: a blank row comes between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Above {
    Nothing,
    Prompt,
    Other,
}

#[derive(Debug)]
pub struct Page {
    view: ViewName,
    look: Look,
    picture: Picture,
    /// Items that have been handed out, from the first, and the key after theirs.
    printed: usize,
    next: Key,
    /// The first item that has not, if some of it has.
    stream: Option<TextStream>,
    settled: Vec<Row>,
    pictures: Pictures,
    /// Whether what people wrote is shown.
    prompts: bool,
    /// Also what is older than what is usually printed of a session.
    prints_all: bool,
    above: Above,
}

/// What a patch was about, for those who do something when it comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Items,
    Asked,
    Ended,
}

impl Page {
    pub fn new(view: ViewName, look: Look) -> Page {
        Page {
            view,
            look,
            picture: Picture::default(),
            printed: 0,
            next: Key::default(),
            stream: None,
            settled: Vec::new(),
            pictures: Pictures::default(),
            prompts: true,
            prints_all: false,
            above: Above::Nothing,
        }
    }

    /// From now on without what people wrote.
    pub fn leave_out_prompts(&mut self) {
        self.prompts = false;
    }

    /// From now on what has pictures waits for them: whoever asks for this fetches them.
    pub fn fetch_pictures(&mut self) {
        self.pictures.set_fetching(true);
    }

    /// Settles what waits for pictures without them; says whether anything did.
    pub fn wait_no_longer(&mut self) -> bool {
        let printed = self.printed;
        let fetched = self.pictures.set_fetching(false);
        self.settle();
        self.pictures.set_fetching(fetched);
        printed < self.printed
    }

    /// Names of pictures to be fetched, each once.
    pub fn take_wanted_pictures(&mut self) -> Vec<String> {
        self.pictures.take_wanted()
    }

    pub fn picture_came(&mut self, name: &str, fetched: Fetched) {
        self.pictures.came(name, fetched);
        self.settle();
    }

    pub fn picture(&self) -> &Picture {
        &self.picture
    }

    pub fn view(&self) -> ViewName {
        self.view
    }

    /// The page as it stands, at first or after the line could not be resumed.
    pub fn put(&mut self, picture: Picture) {
        self.picture = picture;
        if let Some(stream) = &self.stream {
            self.changed(stream.key);
        }
        if self.printed == 0 && !self.prints_all && HISTORY_ITEMS_MAX < self.picture.items.len() {
            self.skip_items(self.picture.items.len() - HISTORY_ITEMS_MAX);
            let words = format!("… {} earlier items; /all prints them", self.printed);
            self.settled.push(Row::line(&words, crate::style::Style::DIM));
            self.above = Above::Other;
        }
        self.settle();
    }

    /// From now on, without what was settled before.
    pub fn skip(&mut self, picture: Picture) {
        let fetched = self.pictures.set_fetching(false);
        self.put(picture);
        self.settled.clear();
        self.pictures.set_fetching(fetched);
    }

    fn skip_items(&mut self, count: usize) {
        let first = self.picture.items.iter().nth(count).map(|(key, _)| key);
        self.printed = count;
        self.next = first.unwrap_or_default();
    }

    pub fn patch(&mut self, data: &str) -> Result<Change, NoPatch> {
        let patch = decode(data, &self.picture)?;
        if let Patch::Put { key, item } = &patch
            && *key < self.next
            && self.picture.items.get(*key).is_none()
        {
            // It belongs above, where nothing can be put any more: late is better than never.
            self.printed += 1;
            print(item, self.look, &self.pictures, &mut self.settled, &mut self.above);
        }
        self.picture.apply(&patch);
        match &patch {
            Patch::Rewrite { key, .. } | Patch::Put { key, .. } | Patch::Remove { key } => {
                self.changed(*key);
            }
            Patch::Withdraw { keys } => keys.iter().for_each(|key| self.changed(*key)),
            _ => {}
        }
        self.settle();
        Ok(match patch {
            Patch::Ask(_) => Change::Asked,
            Patch::Ended(_) => Change::Ended,
            _ => Change::Items,
        })
    }

    /// Rows that have settled since the last call.
    pub fn take_settled(&mut self) -> Vec<Row> {
        std::mem::take(&mut self.settled)
    }

    /// What is not settled, as it looks now.
    pub fn live(&mut self) -> Vec<Row> {
        let mut rows = Vec::new();
        let live = self.picture.items.from(self.next);
        for (key, item) in live.filter(|(_, item)| item.state != State::Withdrawn) {
            let look = self.look;
            let mut shown = if item.kind == Kind::Text
                && self.stream.as_ref().is_none_or(|stream| stream.key == key)
            {
                let stream = self.stream.get_or_insert_with(|| TextStream::new(key, look));
                let mut rows = stream.live(&item.text);
                rows.append(&mut tail_rows(item, look, &self.pictures, Stays::NotYet));
                rows
            } else {
                item_rows(item, look, &self.pictures, Stays::NotYet)
            };
            let goes_on =
                self.stream.as_ref().is_some_and(|stream| stream.key == key && stream.has_begun());
            if !shown.is_empty() && !goes_on && (self.has_begun() || !rows.is_empty()) {
                rows.push(Row::default());
            }
            rows.append(&mut shown);
        }
        rows
    }

    /// Another size; so many of the live rows have scrolled away as they were.
    pub fn resize(&mut self, look: Look, scrolled_away: usize) {
        self.look = look;
        // What has settled since was shown as it was about to settle, but for pictures.
        let shown = self.settled.iter().take_while(|row| row.art().is_none()).count();
        let settled = scrolled_away.min(shown);
        self.settled.drain(..settled);
        let scrolled_away = scrolled_away - settled;
        let has_begun = self.has_begun();
        let first = self.picture.items.from(self.next).next().map(|(key, _)| key);
        if self.stream.as_ref().is_some_and(|stream| Some(stream.key) != first) {
            // Nobody knows whose rows have scrolled away: better twice than never.
            self.stream = None;
        }
        let Some(stream) = &mut self.stream else { return };
        let text = self.picture.items.get(stream.key).map_or("", |item| &*item.text);
        let gap = usize::from(has_begun && !stream.has_begun());
        if 0 < scrolled_away && gap == 1 {
            self.above = Above::Other;
        }
        stream.resize(text, look, scrolled_away.saturating_sub(gap), &mut self.settled);
    }

    fn changed(&mut self, key: Key) {
        if let Some(stream) = self.stream.as_mut().filter(|stream| stream.key == key) {
            let text = self.picture.items.get(key).map_or("", |item| &*item.text);
            stream.changed(text);
        }
    }

    /// Hands out what does not change any more.
    fn settle(&mut self) {
        let answered = self.newest_prompt();
        let mut waits = false;
        while let Some((key, item)) = self.picture.items.from(self.next).next() {
            if !self.is_settled(key, item, answered) {
                break;
            }
            waits = self.pictures.are_coming(item);
            if waits {
                break;
            }
            match self.stream.take() {
                Some(stream) if stream.key == key => {
                    let (was_new, mut rows) = (!stream.has_begun(), Vec::new());
                    stream.finish(&item.text, &mut rows);
                    rows.append(&mut tail_rows(item, self.look, &self.pictures, Stays::Here));
                    if was_new && !rows.is_empty() {
                        gap(&mut self.settled, &mut self.above);
                    }
                    self.settled.append(&mut rows);
                }
                _ if item.kind == Kind::User && !self.prompts => {}
                _ => print(item, self.look, &self.pictures, &mut self.settled, &mut self.above),
            }
            self.pictures.forget(item);
            self.printed += 1;
            self.next = Key(key.0 + 1);
        }
        if waits {
            return self.want_ahead();
        }
        self.pictures.forget_all();
        if self.view == ViewName::Transcript {
            self.settle_part();
        }
    }

    /// Pictures of what comes next are not waited for one after the other.
    fn want_ahead(&mut self) {
        let next = self.picture.items.from(self.next).take(AHEAD_ITEMS_MAX);
        for (_, item) in next.filter(|(_, item)| item.state != State::Live) {
            self.pictures.are_coming(item);
        }
    }

    fn is_settled(&self, key: Key, item: &Item<'_>, answered: Option<Key>) -> bool {
        match self.view {
            ViewName::Transcript => u32::try_from(self.printed)
                .is_ok_and(|printed| printed < self.picture.settled.count),
            // Its reply is overwritten until the run has ended.
            ViewName::Latest => !self.is_going() || answered.is_some_and(|prompt| key <= prompt),
            ViewName::Steps | ViewName::Bubbles | ViewName::Sentences => item.state != State::Live,
        }
    }

    /// What the run that is going answers to.
    fn newest_prompt(&self) -> Option<Key> {
        if self.view != ViewName::Latest {
            return None;
        }
        let mut newest = self.picture.items.iter().rev();
        newest.find(|(_, item)| item.kind == Kind::User).map(|(key, _)| key)
    }

    /// The beginning of the first item that is not whole.
    fn settle_part(&mut self) {
        let bytes = self.picture.settled.bytes;
        let Some((key, item)) = self.picture.items.from(self.next).next() else { return };
        if item.kind != Kind::Text || bytes == 0 {
            return;
        }
        let look = self.look;
        if self.stream.as_ref().is_none_or(|stream| stream.key != key) {
            self.stream = Some(TextStream::new(key, look));
        }
        let Some(stream) = &mut self.stream else { return };
        let (was_new, mut rows) = (!stream.has_begun(), Vec::new());
        stream.settle(&item.text, bytes, &mut rows);
        if was_new && !rows.is_empty() {
            gap(&mut self.settled, &mut self.above);
        }
        self.settled.append(&mut rows);
    }

    /// The page that comes next is printed from its beginning, however long it is.
    pub fn print_all(&mut self) {
        self.prints_all = true;
    }

    /// Something that is none of its items stands above what comes next.
    pub fn stands_below_something(&mut self) {
        self.above = Above::Other;
    }

    /// Whether anything stands above what is live.
    pub fn has_begun(&self) -> bool {
        self.above != Above::Nothing
    }

    pub fn is_going(&self) -> bool {
        !matches!(self.picture.status, Status::Idle) && self.picture.ended.is_none()
    }
}

fn print(
    item: &Item<'_>,
    look: Look,
    pictures: &Pictures,
    settled: &mut Vec<Row>,
    above: &mut Above,
) {
    let mut rows = item_rows(item, look, pictures, Stays::Here);
    if rows.is_empty() {
        return;
    }
    gap(settled, above);
    if item.kind == Kind::User {
        rows[0] = std::mem::take(&mut rows[0]).marked(Mark::Prompt);
        *above = Above::Prompt;
    }
    settled.append(&mut rows);
}

/// A blank row between one item and the next.
fn gap(settled: &mut Vec<Row>, above: &mut Above) {
    match above {
        Above::Nothing => {}
        Above::Prompt => settled.push(Row::default().marked(Mark::Output)),
        Above::Other => settled.push(Row::default()),
    }
    *above = Above::Other;
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
