//! What a person orders with a slash.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::chat::Place;
use crate::chat::commands::Order;
use crate::link::{Agent, Session, Tool};
use crate::place::place;
use crate::text::one_line;

use super::work::Done;
use super::{App, beside, outside, state_of, title_of};

impl App {
    pub(super) fn obey(&mut self, order: Order) {
        match order {
            Order::View(view) => {
                self.setup.view = view;
                self.chat.turn_to(view);
                self.chat.say(&format!("{} from here on", view.as_str()));
                self.seen = true;
                self.follow();
            }
            Order::Model => self.work.agent(Done::Model),
            Order::Profile(name) => self.choose_profile(&name),
            Order::Tools => self.work.agent(Done::Tools),
            Order::New => {
                self.setup.session = None;
                self.work.turn_away();
                self.told = None;
                self.chat.turn_to(self.setup.view);
                self.chat.say("a new conversation begins with your next message");
            }
            Order::Sessions(words) => self.work.sessions(words),
            Order::Resume(word) => self.resume(&word),
            Order::Queue => self.say_queue(),
            Order::Drop(number) => self.drop_waiting(number),
            Order::Cancel => self.cancel(),
            Order::Retry => self.retry(),
            Order::Copy => match self.chat.reply() {
                Some(_) if !self.front.is_screen() => {
                    self.chat.say("this terminal has no clipboard that could be reached");
                }
                Some(text) => {
                    let (sequence, all) = beside::copy(&text);
                    self.front.beside(&sequence);
                    self.chat.say(if all {
                        "copied"
                    } else {
                        "only the beginning fits the clipboard"
                    });
                }
                None => self.chat.say("there is no reply yet"),
            },
            Order::Export(file) => {
                let words = outside::export(&self.setup.folder, &file, self.chat.page().picture());
                self.chat.say(&words);
            }
            Order::Web => self.chat.say(&self.setup.link.page_of(self.setup.session.as_ref())),
            Order::Redraw => {
                if self.front.is_screen()
                    && let Ok((size, row)) = place()
                {
                    self.resize(size, row);
                }
            }
            Order::All => {
                self.chat.turn_to(self.setup.view);
                self.chat.print_all();
                self.follow();
            }
            Order::Quit => self.over = true,
            Order::Help | Order::Answer(_) => {}
        }
    }

    pub(super) fn say_model(&mut self, agent: &Agent) {
        let Agent { agent, model, .. } = agent;
        self.chat.say(&match (agent.as_deref(), model) {
            (None, _) => "nobody answers messages here".to_owned(),
            (Some(_), Some(model)) => {
                format!("{model} answers; profiles name models, see `millpond config`")
            }
            (Some("millpond"), None) => "the demo answers, which is no model".to_owned(),
            (Some(agent), None) => format!("{agent} answers, with whatever model it chooses"),
        });
    }

    fn choose_profile(&mut self, name: &str) {
        let words = match &self.setup.profiles {
            None => "the gateway decides who answers there".to_owned(),
            Some(profiles) => match (profiles.choose)(name) {
                Ok(()) => format!("{} answers from now on", one_line(name)),
                Err(problem) => problem,
            },
        };
        self.chat.say(&words);
    }

    pub(super) fn say_tools(&mut self, agent: &Agent) {
        if agent.tools.is_empty() {
            self.chat.say("the agent has no tools of ours");
        }
        for Tool { name, about, policy } in &agent.tools {
            let policy = match policy.as_str() {
                "allow" => "runs",
                "deny" => "never",
                _ => "asks",
            };
            let about = about.lines().next().unwrap_or_default();
            self.chat.say(&format!("{policy:<5} {}: {}", one_line(name), one_line(about)));
        }
        for words in &agent.missing {
            self.chat.say(words);
        }
    }

    pub(super) fn say_sessions(&mut self, sessions: Vec<Session>) {
        for (at, session) in sessions.iter().enumerate() {
            let state = state_of(session);
            let comma = if state.is_empty() { "" } else { ", " };
            self.chat.say(&format!("{:>3} {}{comma}{state}", at + 1, title_of(session)));
        }
        let none = sessions.is_empty();
        self.chat.say(if none { "there is none" } else { "/resume NUMBER opens one" });
        self.listed = sessions;
    }

    /// Lets the person choose among them.
    pub(super) fn offer_sessions(&mut self, sessions: Vec<Session>) {
        if sessions.is_empty() {
            self.chat.say("there is no conversation yet");
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let places = sessions.iter().map(|session| {
            let ago = ago(now.saturating_sub(Duration::from_millis(session.changed_ms)));
            let state = state_of(session);
            let comma = if state.is_empty() { "" } else { ", " };
            let (id, title) = (session.id.clone(), title_of(session));
            Place { id, title, about: format!("{ago}{comma}{state}") }
        });
        self.chat.set_places(places.collect());
        self.offered = sessions;
    }

    fn resume(&mut self, word: &str) {
        let found = match word.parse::<usize>() {
            Ok(number) => number.checked_sub(1).and_then(|at| self.listed.get(at)),
            Err(_) => self.offered.iter().find(|session| session.id == word),
        };
        let Some(session) = found.cloned() else {
            self.chat.say("there is no such conversation: /sessions lists them by number");
            return;
        };
        self.chat.turn_to(self.setup.view);
        self.chat.say(&format!("— {} —", title_of(&session)));
        self.work.turn_away();
        self.setup.session = Some(session);
        self.follow();
    }

    fn say_queue(&mut self) {
        let waiting: Vec<String> =
            self.chat.queue().iter().map(|message| message.text.clone()).collect();
        if waiting.is_empty() {
            self.chat.say("nothing waits");
        }
        for (at, text) in waiting.iter().enumerate() {
            self.chat.say(&format!("{} {}", at + 1, one_line(text)));
        }
    }

    fn drop_waiting(&mut self, number: usize) {
        let id = number
            .checked_sub(1)
            .and_then(|at| self.chat.queue().get(at))
            .map(|message| message.id.clone());
        match (id, &self.setup.session) {
            (Some(id), Some(session)) => self.work.unqueue(&session.id, id),
            _ => self.chat.say("no message with that number waits"),
        }
    }

    fn retry(&mut self) {
        let run = self.chat.page().picture().ended.as_ref().map(|ended| ended.run.to_string());
        match run {
            Some(run) => self.work.retry(run),
            None => self.chat.say("there is no run that has ended"),
        }
    }
}

/// How long ago something was, as one would say it.
fn ago(time: Duration) -> String {
    let minutes = time.as_secs() / 60;
    match (minutes / (60 * 24), minutes / 60, minutes) {
        (0, 0, 0) => "just now".to_owned(),
        (0, 0, minutes) => format!("{minutes} min ago"),
        (0, hours, _) => format!("{hours} h ago"),
        (1, ..) => "yesterday".to_owned(),
        (days, ..) => format!("{days} days ago"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_as_one_says_them() {
        let said = |seconds| ago(Duration::from_secs(seconds));
        assert_eq!(said(59), "just now");
        assert_eq!(said(60), "1 min ago");
        assert_eq!(said(3_599), "59 min ago");
        assert_eq!(said(7_300), "2 h ago");
        assert_eq!(said(86_400), "yesterday");
        assert_eq!(said(86_400 * 9), "9 days ago");
    }
}
