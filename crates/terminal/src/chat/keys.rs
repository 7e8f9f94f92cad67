//! What keys do: to what is asked, to a menu, to what was written before, and to what is written.

use std::time::{Duration, Instant};

use super::commands::{COMMANDS, Order, order};
use super::complete::{Menu, Place, menu};
use super::{Chat, Search, Wish};
use crate::input::editor::Motion;
use crate::input::keys::Key;

/// Two presses within so long are meant together.
const TWICE_WITHIN: Duration = Duration::from_secs(2);

impl Chat {
    pub fn key(&mut self, key: Key, now: Instant) -> Vec<Wish> {
        if key != Key::Interrupt {
            self.interrupted = None;
        }
        if self.search.is_some() {
            return self.search_key(key);
        }
        if let Some(wishes) = self.ask_key(key, now).or_else(|| self.menu_key(key)) {
            return wishes;
        }
        let mut wishes = self.edit_key(key, now);
        wishes.append(&mut self.wants_places());
        self.offer();
        wishes
    }

    /// Keys for what is asked: only those that write nothing, and only while nothing is written.
    fn ask_key(&mut self, key: Key, now: Instant) -> Option<Vec<Wish>> {
        let ask = self.ask.as_mut()?;
        let deaf = ask.is_deaf(now);
        if deaf || !self.editor.is_empty() {
            return None;
        }
        if ask.wants_reason() {
            if key == Key::Escape {
                ask.drop_reason();
            }
            return (key == Key::Escape).then(Vec::new);
        }
        match key {
            Key::Up => ask.choose(-1),
            Key::Down | Key::Complete => ask.choose(1),
            Key::PageUp => ask.scroll(-5),
            Key::PageDown => ask.scroll(5),
            Key::Enter => {
                let answer = ask.answer();
                return Some(answer.map(Wish::Answer).into_iter().collect());
            }
            _ => return None,
        }
        Some(Vec::new())
    }

    fn menu_key(&mut self, key: Key) -> Option<Vec<Wish>> {
        let menu = self.menu.as_mut()?;
        match key {
            Key::Up | Key::CompleteBack => menu.choose(-1),
            Key::Down => menu.choose(1),
            Key::Escape => {
                self.menu = None;
                self.awaits_places = false;
            }
            Key::Enter if menu.chosen().is_some_and(|offer| offer.whole) => {
                self.take_offer();
                return None;
            }
            Key::Enter | Key::Complete => {
                self.take_offer();
                self.offer();
                return Some(self.wants_places());
            }
            _ => return None,
        }
        Some(Vec::new())
    }

    fn take_offer(&mut self) {
        let Some(menu) = self.menu.take() else { return };
        let Some(offer) = menu.chosen() else { return };
        let blank = if offer.closed { "" } else { " " };
        let text = format!("{}{blank}", offer.text);
        self.editor.replace_before(menu.replaces, &text);
    }

    fn offer(&mut self) {
        let first = !self.editor.text().contains('\n');
        self.menu = menu(self.editor.before_cursor(), first, &self.folder, &self.known);
    }

    /// Conversations that `/resume` offers. Whoever has chosen meanwhile goes on where they are.
    pub fn set_places(&mut self, places: Vec<Place>) {
        let chosen = self.menu.as_ref().and_then(Menu::chosen).map(|offer| offer.text.clone());
        let text = self.editor.text();
        if places.is_empty() && text == RESUME {
            self.editor.set("");
        }
        self.known.places = places;
        if !std::mem::take(&mut self.awaits_places) || !text.starts_with(RESUME) {
            return;
        }
        self.offer();
        if let (Some(menu), Some(chosen)) = (&mut self.menu, chosen) {
            let at = menu.offered.iter().position(|offer| offer.text == chosen);
            menu.chosen = at.unwrap_or_default();
        }
    }

    /// Names that `/model` offers, with what they are.
    pub fn set_profiles(&mut self, profiles: Vec<(String, String)>) {
        self.known.profiles = profiles;
    }

    /// Lets the person choose where to go on.
    pub fn offer_places(&mut self) -> Vec<Wish> {
        self.write(RESUME);
        self.wants_places()
    }

    /// What `/resume` could offer is asked for when it is written, each time anew.
    fn wants_places(&mut self) -> Vec<Wish> {
        let wanted = self.editor.text() == RESUME && !self.by_lines;
        self.awaits_places |= wanted;
        wanted.then_some(Wish::Places).into_iter().collect()
    }

    fn edit_key(&mut self, key: Key, now: Instant) -> Vec<Wish> {
        let cols = self.look.size.width().saturating_sub(2).max(1);
        match key {
            Key::Character(character) => {
                self.burst.character(now);
                self.editor.insert(character.encode_utf8(&mut [0; 4]));
            }
            Key::Enter if self.burst.takes_enter(now) => self.editor.insert("\n"),
            Key::Enter => return self.send(false),
            Key::SendNow => return self.send(true),
            Key::NewLine => self.editor.insert("\n"),
            Key::Go(motion) => self.editor.go(motion),
            Key::Delete(motion) => self.editor.delete(motion),
            Key::Kill(motion) => self.editor.kill(motion),
            Key::Yank => self.editor.yank(),
            Key::Undo => self.editor.undo(),
            Key::Redo => self.editor.redo(),
            Key::Up => self.up(cols),
            Key::Down => self.down(cols),
            Key::Search => self.search = Some(Search::default()),
            Key::Editor => return vec![Wish::Editor(self.editor.text())],
            Key::Suspend => return vec![Wish::Suspend],
            Key::Redraw => return vec![Wish::Order(Order::Redraw)],
            Key::Interrupt => return self.interrupt(now),
            Key::EndOfInput if self.editor.is_empty() => return vec![Wish::Leave],
            Key::EndOfInput => self.editor.delete(Motion::Right),
            Key::Escape | Key::Complete | Key::CompleteBack | Key::PageUp | Key::PageDown => {}
        }
        Vec::new()
    }

    fn up(&mut self, cols: usize) {
        if !self.editor.up(cols)
            && let Some(text) = self.history.back(&self.editor.text())
        {
            self.editor.set(text);
        }
    }

    fn down(&mut self, cols: usize) {
        if !self.editor.down(cols)
            && let Some(text) = self.history.forth()
        {
            self.editor.set(&text);
        }
    }

    /// Once stops the run or forgets what is written, twice leaves.
    fn interrupt(&mut self, now: Instant) -> Vec<Wish> {
        let again =
            self.interrupted.is_some_and(|at| now.saturating_duration_since(at) < TWICE_WITHIN);
        self.interrupted = Some(now);
        if again {
            return vec![Wish::Leave];
        }
        if !self.editor.is_empty() {
            self.editor.set("");
            self.menu = None;
            return Vec::new();
        }
        if self.page.is_going() {
            return vec![Wish::Cancel];
        }
        self.say("Ctrl-C once more leaves");
        Vec::new()
    }

    fn send(&mut self, join: bool) -> Vec<Wish> {
        let text = self.editor.text();
        if text.trim().is_empty() {
            return Vec::new();
        }
        self.menu = None;
        match order(text.trim()) {
            Some(Ok(Order::Help)) => self.help(),
            Some(Ok(Order::Answer(words))) => return self.answer_in_words(&words),
            Some(Err(words)) => {
                self.say(&words);
                return Vec::new();
            }
            Some(Ok(order)) => {
                self.editor.take();
                return vec![Wish::Order(order)];
            }
            None => {
                self.editor.take();
                let mut wishes = Vec::new();
                if self.history.add(&text) {
                    wishes.push(Wish::Remember(text.clone()));
                }
                wishes.push(self.answer_or_message(text, join));
                return wishes;
            }
        }
        self.editor.take();
        Vec::new()
    }

    /// What is asked without offering answers, or with a reason, is answered by what is written.
    /// Behind lines it is not: what is asked may have come while the line was written.
    fn answer_or_message(&self, text: String, join: bool) -> Wish {
        let in_words = self.ask.as_ref().filter(|ask| ask.takes_words() && !self.by_lines);
        match in_words.map(|ask| ask.answer_in_words(text.trim())) {
            Some(Ok(answer)) => Wish::Answer(answer),
            _ => Wish::Send { text, join: join && self.page.is_going() },
        }
    }

    fn answer_in_words(&mut self, words: &str) -> Vec<Wish> {
        let answer = match &self.ask {
            Some(ask) => ask.answer_in_words(words),
            None => Err("nothing is asked".to_owned()),
        };
        match answer {
            Ok(answer) => {
                self.editor.take();
                vec![Wish::Answer(answer)]
            }
            Err(problem) => {
                self.say(&problem);
                Vec::new()
            }
        }
    }

    /// A whole line of whoever sits behind lines.
    pub fn line(&mut self, line: &str, now: Instant) -> Vec<Wish> {
        if line.trim().is_empty() {
            return Vec::new();
        }
        self.editor.set(line);
        let wishes = self.key(Key::Enter, now);
        self.editor.set("");
        wishes
    }

    fn help(&mut self) {
        self.say(HELP);
        for command in COMMANDS {
            let name = format!("/{} {}", command.name, command.takes);
            self.say(&format!("{name:<24} {}", command.about));
        }
    }

    fn search_key(&mut self, key: Key) -> Vec<Wish> {
        let Some(search) = &mut self.search else { return Vec::new() };
        let before = match key {
            Key::Character(character) => {
                search.words.push(character);
                None
            }
            Key::Delete(_) => {
                search.words.pop();
                None
            }
            Key::Search | Key::Up => search.at,
            _ => {
                self.search = None;
                return Vec::new();
            }
        };
        if let Some((at, text)) = self.history.search(&search.words, before) {
            search.at = Some(at);
            let text = text.to_owned();
            self.editor.set(&text);
        }
        Vec::new()
    }
}

/// What a conversation is chosen with.
const RESUME: &str = "/resume ";

const HELP: &str = "Enter sends, or queues while a run is going; Ctrl-Enter sends into that run. \
    Shift-Enter, Alt-Enter or Ctrl-J begin a line. Ctrl-C stops the run, twice leaves. \
    Ctrl-R searches what you wrote before, Ctrl-G opens your editor, @ names files.";
