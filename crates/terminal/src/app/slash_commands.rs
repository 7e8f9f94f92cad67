//! Execution of slash commands and display of their results.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use millpond_client::agent::{AgentDescription, Tool};
use millpond_client::sessions::Session;

use crate::chat::SessionChoice;
use crate::chat::commands::SlashCommand;
use crate::text::neutralise_to_one_line;
use crate::tty::query_size_and_cursor_row;

use super::background_calls::GatewayResult;
use super::{App, LoopState, NextPage, os, osc, session_state_label, session_title};

impl App {
    pub(super) fn run_slash_command(&mut self, order: SlashCommand) {
        match order {
            SlashCommand::View(view) => {
                self.setup.view = view;
                self.chat.start_empty_page(view);
                self.chat.add_notice(&format!("view: {}", view.as_str()));
                self.next_page = NextPage::TakeAsSeen;
                self.follow_session_and_fetch_queue();
            }
            SlashCommand::Model => self.calls.fetch_agent_description(GatewayResult::Model),
            SlashCommand::SwitchProfile(name) => self.switch_profile(&name),
            SlashCommand::Tools => self.calls.fetch_agent_description(GatewayResult::Tools),
            SlashCommand::New => {
                self.setup.session = None;
                self.calls.advance_conversation_id();
                self.stream_updates = None;
                self.chat.start_empty_page(self.setup.view);
                self.chat.add_notice("new conversation: send a message to start it");
            }
            SlashCommand::Sessions(words) => self.calls.fetch_sessions(words),
            SlashCommand::Resume(word) => self.resume_session(&word),
            SlashCommand::Queue => self.show_queue(),
            SlashCommand::RemoveQueued(number) => self.remove_queued_message(number),
            SlashCommand::Cancel => self.cancel_active_run(),
            SlashCommand::Retry => self.retry_last_run(),
            SlashCommand::Copy => self.copy_last_reply(),
            SlashCommand::Export(file) => {
                let text = os::page_messages_as_markdown(self.chat.renderer().page());
                self.calls.write_new_file_in_background(self.setup.folder.join(file), text);
            }
            SlashCommand::Web => {
                self.chat.add_notice(&self.setup.client.web_url(self.setup.session.as_ref()));
            }
            SlashCommand::Redraw => {
                if self.frontend.is_screen()
                    && let Ok((size, row)) = query_size_and_cursor_row()
                {
                    self.apply_resize(size, row);
                }
            }
            SlashCommand::PrintAll => {
                self.chat.start_empty_page(self.setup.view);
                self.chat.lift_items_limit_of_first_page();
                self.follow_session_and_fetch_queue();
            }
            SlashCommand::Quit => self.state = LoopState::Quitting,
            SlashCommand::Help | SlashCommand::Answer(_) | SlashCommand::PrintRawCall(_) => {}
        }
    }

    fn copy_last_reply(&mut self) {
        let notice = match self.chat.newest_reply_text() {
            None => "no reply yet",
            Some(_) if !self.frontend.is_screen() => {
                "cannot copy: line mode has no access to the clipboard"
            }
            Some(text) => {
                let (sequence, all) = osc::clipboard_sequence_and_completeness(&text);
                self.frontend.write_osc_if_screen(&sequence);
                if all {
                    "copied"
                } else {
                    "copied only the beginning: the reply is too long for the clipboard"
                }
            }
        };
        self.chat.add_notice(notice);
    }

    pub(super) fn show_model(&mut self, agent: &AgentDescription) {
        let AgentDescription { agent, model, .. } = agent;
        self.chat.add_notice(&match (agent.as_deref(), model) {
            (None, _) => "no agent configured".to_owned(),
            (Some(_), Some(model)) => {
                format!("model: {model} (switch with /model PROFILE, see `millpond config`)")
            }
            (Some("millpond"), None) => "no model configured: using the built-in demo".to_owned(),
            (Some(agent), None) => format!("agent: {agent} (it chooses its own model)"),
        });
    }

    fn switch_profile(&mut self, name: &str) {
        let words = match &self.setup.profiles {
            None => "cannot switch profiles: this gateway is not run by the chat".to_owned(),
            Some(profiles) => match (profiles.select)(name) {
                Ok(()) => format!("switched to profile {}", neutralise_to_one_line(name)),
                Err(problem) => problem,
            },
        };
        self.chat.add_notice(&words);
    }

    pub(super) fn show_tools(&mut self, agent: &AgentDescription) {
        if agent.tools.is_empty() {
            self.chat.add_notice("the agent has no Millpond tools");
        }
        for Tool { name, about, policy } in &agent.tools {
            let policy = match policy.as_str() {
                "allow" => "allow",
                "deny" => "deny",
                _ => "ask",
            };
            let about = about.lines().next().unwrap_or_default();
            self.chat.add_notice(&format!(
                "{policy:<5} {}: {}",
                neutralise_to_one_line(name),
                neutralise_to_one_line(about)
            ));
        }
        for words in &agent.missing {
            self.chat.add_notice(words);
        }
    }

    pub(super) fn show_and_remember_sessions(&mut self, sessions: Vec<Session>) {
        for (at, session) in sessions.iter().enumerate() {
            let state = session_state_label(session);
            let comma = if state.is_empty() { "" } else { ", " };
            self.chat.add_notice(&format!(
                "{:>3} {}{comma}{state}",
                at + 1,
                session_title(session)
            ));
        }
        let none = sessions.is_empty();
        self.chat.add_notice(if none {
            "no conversations found"
        } else {
            "open one with /resume NUMBER"
        });
        self.listed_sessions = sessions;
    }

    /// Fills the `/resume` menu.
    pub(super) fn fill_resume_menu(&mut self, sessions: Vec<Session>) {
        if sessions.is_empty() {
            self.chat.add_notice("no conversations yet");
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let places = sessions.iter().map(|session| {
            let ago = format_ago(now.saturating_sub(Duration::from_millis(session.changed_ms)));
            let state = session_state_label(session);
            let comma = if state.is_empty() { "" } else { ", " };
            let (id, title) = (session.id.clone(), session_title(session));
            SessionChoice { id, title, about: format!("{ago}{comma}{state}") }
        });
        self.chat.set_resume_choices_and_update_menu(places.collect());
        self.resume_choices = sessions;
    }

    fn resume_session(&mut self, word: &str) {
        let found = match word.parse::<usize>() {
            Ok(number) => number.checked_sub(1).and_then(|at| self.listed_sessions.get(at)),
            Err(_) => self.resume_choices.iter().find(|session| session.id == word),
        };
        let Some(session) = found.cloned() else {
            self.chat.add_notice("no such conversation; list them with /sessions");
            return;
        };
        self.chat.start_empty_page(self.setup.view);
        self.chat.add_notice(&format!("— {} —", session_title(&session)));
        self.calls.advance_conversation_id();
        self.setup.session = Some(session);
        self.follow_session_and_fetch_queue();
    }

    fn show_queue(&mut self) {
        let waiting: Vec<String> =
            self.chat.queue().iter().map(|message| message.text.clone()).collect();
        if waiting.is_empty() {
            self.chat.add_notice("queue is empty");
        }
        for (at, text) in waiting.iter().enumerate() {
            self.chat.add_notice(&format!("{} {}", at + 1, neutralise_to_one_line(text)));
        }
    }

    fn remove_queued_message(&mut self, number: usize) {
        let id = number
            .checked_sub(1)
            .and_then(|at| self.chat.queue().get(at))
            .map(|message| message.id.clone());
        match (id, &self.setup.session) {
            (Some(id), Some(session)) => self.calls.remove_from_queue(&session.id, id),
            _ => self.chat.add_notice("no queued message with that number; list them with /queue"),
        }
    }

    fn retry_last_run(&mut self) {
        let run = self.chat.renderer().page().ended.as_ref().map(|ended| ended.run.to_string());
        match run {
            Some(run) => self.calls.retry_run(run),
            None => self.chat.add_notice("no finished run to retry"),
        }
    }
}

/// Formats an age, for example "5 min ago".
fn format_ago(time: Duration) -> String {
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
        let said = |seconds| format_ago(Duration::from_secs(seconds));
        assert_eq!(said(59), "just now");
        assert_eq!(said(60), "1 min ago");
        assert_eq!(said(3_599), "59 min ago");
        assert_eq!(said(7_300), "2 h ago");
        assert_eq!(said(86_400), "yesterday");
        assert_eq!(said(86_400 * 9), "9 days ago");
    }
}
