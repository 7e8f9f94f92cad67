//! What the gateway tells: the page and its changes, and what came of what was asked of it.

use std::time::Instant;

use crate::link::Trouble;
use crate::link::follow::Told;
use crate::page::Change;

use super::easel::Easel;
use super::work::Done;
use super::{App, Manner, beside};

impl App {
    pub(super) fn told(&mut self, told: Option<Told>) {
        let now = Instant::now();
        self.dirty = true;
        match told {
            Some(Told::Page(picture)) if std::mem::take(&mut self.seen) => {
                self.chat.put_seen(*picture, now);
            }
            Some(Told::Page(picture)) => self.chat.put(*picture, now),
            Some(Told::Patch(data)) => self.patch(&data, now),
            Some(Told::Away(words)) => self.chat.set_away(Some(format!("{words}; trying again"))),
            Some(Told::Back) => self.chat.set_away(None),
            Some(Told::Over(trouble)) => self.chat.say(&trouble.to_string()),
            None => self.told = None,
        }
        self.fetch_pictures();
    }

    fn fetch_pictures(&mut self) {
        let wanted = self.chat.take_wanted_pictures();
        let Some(session) = &self.setup.session else { return };
        let graphics = match self.setup.manner {
            Manner::Drawn(features) => features.graphics,
            Manner::Lines => None,
        };
        for name in wanted {
            let easel = Easel { album: self.album.clone(), graphics, size: self.front.size() };
            self.work.picture(&session.id, name, easel);
        }
    }

    fn patch(&mut self, data: &str, now: Instant) {
        let change = self.chat.patch(data, now);
        let moves = data.contains("\"kind\":\"user\"") || change == Ok(Change::Ended);
        match change {
            Ok(Change::Ended) => self.notify("The agent is done"),
            Ok(Change::Asked) => self.notify("The agent asks something"),
            Ok(Change::Items) => {}
            Err(problem) => {
                self.chat
                    .say(&format!("a change could not be read, the page is taken anew: {problem}"));
                self.follow();
            }
        }
        let has_moved = moves && !self.chat.queue().is_empty();
        if let Some(session) = self.setup.session.as_ref().filter(|_| has_moved) {
            self.work.queue(&session.id);
        }
    }

    /// Tells whoever looks elsewhere.
    fn notify(&mut self, words: &str) {
        if !self.focused {
            self.front.beside(&beside::notification(words));
        }
    }

    pub(super) fn done(&mut self, done: Done) {
        self.dirty = true;
        match done {
            Done::Began { conversation, .. } if conversation != self.work.conversation() => {}
            Done::Began { session, .. } => {
                self.setup.session = Some(session);
                self.follow();
            }
            Done::Queue(queue) => self.chat.set_queue(queue),
            Done::Picture { name, fetched } => {
                self.chat.picture_came(&name, fetched);
                self.fetch_pictures();
            }
            Done::Model(agent) => self.say_model(&agent),
            Done::Tools(agent) => self.say_tools(&agent),
            Done::Sessions(sessions) => self.say_sessions(sessions),
            Done::Places(sessions) => self.offer_sessions(sessions),
            Done::Unsent { text, trouble } => {
                self.chat.say(&format!("not sent: {trouble}"));
                self.chat.give_back(&text);
            }
            Done::Trouble(Trouble::Refused { code, .. }) if code == "answered_already" => {
                self.chat.say("that was answered already, elsewhere");
            }
            Done::Trouble(trouble) => self.chat.say(&trouble.to_string()),
            Done::Nothing => {}
        }
    }
}
