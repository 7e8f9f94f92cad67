//! The chat on a real terminal: keys and frames on one side, the gateway on the other.

mod beside;
mod easel;
mod front;
mod heard;
mod keyboard;
pub mod once;
mod orders;
mod outside;
mod typed;
mod work;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use engine::view::{Thinking, ViewName};
use tokio::sync::mpsc;
use tokio::time::{Instant as Moment, sleep_until};

use crate::album::Album;
use crate::chat::commands::Order;
use crate::chat::{Chat, Wish};
use crate::input::history::History;
use crate::input::keys::{Key, meaning};
use crate::limits::{FRAME_EVERY, TICK_EVERY};
use crate::link::follow::{Told, Wanted, follow};
use crate::link::{Link, Session};
use crate::links::Links;
use crate::modes::{broke, restore_on_panic, take_broken};
use crate::page::Look;
use crate::screen::Features;
use crate::size::Size;

use front::Front;
use keyboard::Happened;
use work::{Done, Work};

/// However a window is dragged, after so long something is drawn.
const STILL_MAX: Duration = Duration::from_secs(3);

#[derive(Debug)]
pub struct Setup {
    pub link: Link,
    /// The conversation to go on with; a new one is made with the first message.
    pub session: Option<Session>,
    /// The person is to choose one.
    pub chooses: bool,
    pub view: ViewName,
    pub manner: Manner,
    pub links: Links,
    /// Where agents work, for names of files.
    pub folder: PathBuf,
    /// What was written before, and where more of it is kept.
    pub history: Vec<String>,
    pub history_file: Option<PathBuf>,
    /// What is said first.
    pub greeting: String,
    /// Nothing where somebody else decides who answers.
    pub profiles: Option<Profiles>,
}

/// Who may answer.
pub struct Profiles {
    /// By their names, with what they are.
    pub offered: Vec<(String, String)>,
    /// Lets one answer from now on, or says why it cannot.
    pub choose: Choose,
}

type Choose = Box<dyn Fn(&str) -> Result<(), String> + Send>;

impl std::fmt::Debug for Profiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Profiles").field(&self.offered).finish()
    }
}

/// How the chat is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    Drawn(Features),
    /// Line by line and never changed: for screen readers and terminals that cannot be drawn on.
    Lines,
}

/// How the person left.
#[derive(Debug)]
pub struct Left {
    /// The conversation that was open.
    pub session: Option<Session>,
    /// What has broken, and nobody has been told of.
    pub broken: Vec<String>,
}

#[allow(clippy::struct_excessive_bools, reason = "each says one thing of the moment")]
struct App {
    setup: Setup,
    chat: Chat,
    front: Front,
    told: Option<mpsc::Receiver<Told>>,
    work: Work,
    album: Album,
    /// Sessions as they were last printed, by their numbers, and as they were last offered.
    listed: Vec<Session>,
    offered: Vec<Session>,
    /// Whether the page that comes next has been seen in another view.
    seen: bool,
    focused: bool,
    dirty: bool,
    /// Nothing is drawn while the window changes its size.
    still_until: Option<Moment>,
    drawn: Moment,
    /// A key has come since: it is shown before the next frame is due, once between two.
    typed: bool,
    echoed: Moment,
    over: bool,
}

enum Next {
    Happened(Option<Happened>),
    Told(Option<Told>),
    Done(Option<Done>),
    Frame,
    Tick,
    /// Something of the program that is not the chat.
    Broke,
    Stop,
}

/// Runs until the person leaves, or the process is asked to end.
pub async fn run(setup: Setup) -> std::io::Result<Left> {
    let front = match setup.manner {
        Manner::Drawn(features) => {
            restore_on_panic();
            Front::screen(features)?
        }
        Manner::Lines => Front::lines()?,
    };
    let look = Look { size: front.size(), links: setup.links };
    let history = History::new(&setup.history);
    let mut chat = Chat::new(setup.view, look, history, setup.folder.clone());
    if setup.manner == Manner::Lines {
        chat.go_by_lines();
    }
    chat.say(&setup.greeting);
    if let Some(profiles) = &setup.profiles {
        chat.set_profiles(profiles.offered.clone());
    }
    let work = Work::new(setup.link.clone());
    let mut app = App {
        chat,
        front,
        told: None,
        work,
        album: Album::default(),
        listed: Vec::new(),
        offered: Vec::new(),
        seen: false,
        focused: true,
        dirty: true,
        still_until: None,
        drawn: Moment::now(),
        typed: false,
        echoed: Moment::now(),
        over: false,
        setup,
    };
    app.follow();
    app.begin()?;
    let ended = app.turn().await;
    // What waits for its pictures is settled all the same.
    let left = if app.chat.wait_no_longer() { app.draw() } else { Ok(()) };
    let App { front, setup, .. } = app;
    front.leave()?;
    ended.and(left)?;
    Ok(Left { session: setup.session, broken: take_broken() })
}

impl App {
    fn begin(&mut self) -> std::io::Result<()> {
        if !self.setup.chooses {
            return Ok(());
        }
        if !self.front.is_screen() {
            self.obey(Order::Sessions(String::new()));
            return Ok(());
        }
        let wishes = self.chat.offer_places();
        self.grant_all(wishes)
    }

    async fn turn(&mut self) -> std::io::Result<()> {
        let mut stop = outside::Stop::new()?;
        while !self.over {
            let next = self.next(&mut stop).await;
            match next {
                Next::Happened(None) | Next::Stop => return Ok(()),
                Next::Happened(Some(happened)) => self.happened(happened)?,
                Next::Told(told) => self.told(told),
                Next::Done(Some(done)) => self.done(done),
                Next::Done(None) | Next::Tick | Next::Broke => self.dirty = true,
                Next::Frame => self.draw()?,
            }
        }
        Ok(())
    }

    async fn next(&mut self, stop: &mut outside::Stop) -> Next {
        let due = self.due();
        let told = async {
            match &mut self.told {
                Some(told) => told.recv().await,
                None => std::future::pending().await,
            }
        };
        let frame = sleep_until(self.still_until.map_or(due, |until| until.max(due)));
        let tick = tokio::time::sleep(TICK_EVERY);
        // Behind lines nothing counts seconds.
        let counts = self.front.is_screen() && self.chat.page().is_going();
        let dirty = self.dirty;
        tokio::select! {
            biased;
            () = stop.wanted() => Next::Stop,
            happened = self.front.next() => Next::Happened(happened),
            () = frame, if dirty => Next::Frame,
            told = told => Next::Told(told),
            done = self.work.next() => Next::Done(done),
            () = tick, if counts => Next::Tick,
            () = broke() => Next::Broke,
        }
    }

    /// When the next frame may be drawn.
    fn due(&self) -> Moment {
        let due = self.drawn + FRAME_EVERY;
        if self.typed { due.min(self.echoed + FRAME_EVERY) } else { due }
    }

    fn draw(&mut self) -> std::io::Result<()> {
        if self.still_until.is_none() && self.front.has_changed_size() {
            self.still_until = Some(Moment::now() + STILL_MAX);
            return Ok(());
        }
        self.still_until = None;
        self.dirty = false;
        self.drawn = Moment::now();
        if std::mem::take(&mut self.typed) {
            self.echoed = self.drawn;
        }
        for words in take_broken() {
            self.chat.say(&format!("a part of the program broke: {words}"));
        }
        let settled = self.chat.take_settled();
        let idle = !self.chat.page().is_going() || self.chat.is_asked();
        self.front.draw(&settled, || self.chat.live(Instant::now()), idle)
    }

    fn follow(&mut self) {
        let Some(session) = &self.setup.session else { return };
        let wanted = Wanted {
            session: session.id.clone(),
            view: self.setup.view,
            thinking: Thinking::AsUsual,
        };
        self.told = Some(follow(self.setup.link.clone(), wanted));
        self.work.queue(&session.id);
    }

    fn happened(&mut self, happened: Happened) -> std::io::Result<()> {
        self.dirty = true;
        match happened {
            Happened::Key(key) => {
                self.typed = true;
                if let Some(key) = meaning(&key) {
                    let wishes = self.chat.key(key, Instant::now());
                    return self.grant_all(wishes);
                }
            }
            Happened::Paste(text) => self.chat.paste(&text),
            Happened::Line(line) => {
                let wishes = self.chat.line(&line, Instant::now());
                return self.grant_all(wishes);
            }
            Happened::Interrupt => {
                let wishes = self.chat.key(Key::Interrupt, Instant::now());
                return self.grant_all(wishes);
            }
            Happened::Focus(focused) => self.focused = focused,
            Happened::Resizing => self.still_until = Some(Moment::now() + STILL_MAX),
            Happened::Resized { size, row } => {
                self.still_until = None;
                self.resize(size, row);
            }
        }
        Ok(())
    }

    fn resize(&mut self, size: Size, row: u16) {
        let scrolled_away = self.front.resize(size, row);
        self.chat.resize(Look { size, links: self.setup.links }, scrolled_away);
    }

    fn grant_all(&mut self, wishes: Vec<Wish>) -> std::io::Result<()> {
        for wish in wishes {
            self.grant(wish)?;
        }
        Ok(())
    }

    fn grant(&mut self, wish: Wish) -> std::io::Result<()> {
        match wish {
            Wish::Send { text, join } => self.work.send(self.setup.session.as_ref(), text, join),
            Wish::Remember(text) => outside::remember(self.setup.history_file.as_deref(), &text),
            Wish::Answer(answer) => self.work.answer(answer),
            Wish::Cancel => self.cancel(),
            Wish::Order(order) => self.obey(order),
            Wish::Places => self.work.places(),
            Wish::Editor(text) => self.edit(&text)?,
            Wish::Suspend => self.suspend()?,
            Wish::Leave => self.over = true,
        }
        Ok(())
    }

    fn cancel(&mut self) {
        if let Some(session) = &self.setup.session {
            self.work.cancel(&session.id);
        }
    }

    /// Hands what is written to the person's editor, and takes it back.
    fn edit(&mut self, text: &str) -> std::io::Result<()> {
        self.aside(
            || outside::edited(text),
            |chat, edited| match edited {
                Ok(text) => chat.write(&text),
                Err(words) => chat.say(&words),
            },
        )
    }

    fn suspend(&mut self) -> std::io::Result<()> {
        self.aside(outside::stop_here, |_, ()| {})
    }

    /// Gives the terminal back while something else has it.
    fn aside<T>(
        &mut self,
        work: impl FnOnce() -> T,
        then: impl FnOnce(&mut Chat, T),
    ) -> std::io::Result<()> {
        let settled = self.chat.take_settled();
        let done = self.front.aside(&settled, work)?;
        self.chat.resize(Look { size: self.front.size(), links: self.setup.links }, 0);
        then(&mut self.chat, done);
        self.dirty = true;
        Ok(())
    }
}

fn title_of(session: &Session) -> String {
    let title = crate::text::one_line(&session.title);
    if title.is_empty() { "(without a title)".to_owned() } else { title }
}

/// What is going on in a conversation.
fn state_of(session: &Session) -> &'static str {
    match (session.asks, session.run.is_some()) {
        (1.., _) => "asks something",
        (0, true) => "going",
        (0, false) => "",
    }
}
