//! Handling of gateway updates: pages, patches, and results of calls.

use std::time::Instant;

use millpond_client::session_stream::StreamUpdate;
use millpond_engine::view::Patch;

use crate::page::PageChange;

use super::background_calls::GatewayResult;
use super::image_loader::ImageLoader;
use super::terminal_events::Focus;
use super::{App, DisplayMode, NextPage, osc};

impl App {
    pub(super) fn handle_stream_update(&mut self, update: Option<StreamUpdate>) {
        let now = Instant::now();
        self.frames.request();
        match update {
            Some(StreamUpdate::Page(page)) => match std::mem::take(&mut self.next_page) {
                NextPage::Print => self.chat.replace_page(*page, now),
                NextPage::TakeAsSeen => self.chat.replace_page_and_drop_settled(*page, now),
            },
            Some(StreamUpdate::Patch(patch)) => self.apply_patch_and_notify(&patch, now),
            Some(StreamUpdate::Disconnected(loss)) => {
                self.chat.set_connection_problem(Some(format!("{loss}; retrying")));
            }
            Some(StreamUpdate::Connected) => self.chat.set_connection_problem(None),
            Some(StreamUpdate::Closed(end)) => self.chat.add_notice(&end.to_string()),
            None => self.stream_updates = None,
        }
        self.fetch_and_save_wanted_images();
    }

    fn fetch_and_save_wanted_images(&mut self) {
        let wanted = self.chat.take_wanted_images();
        let Some(session) = &self.setup.session else { return };
        let graphics = match self.setup.display {
            DisplayMode::Screen(features) => features.graphics,
            DisplayMode::Lines => None,
        };
        for name in wanted {
            let loader = ImageLoader {
                files: self.image_files.clone(),
                protocol: graphics,
                screen_size: self.frontend.size(),
            };
            self.calls.fetch_and_save_image(&session.id, name, loader);
        }
    }

    fn apply_patch_and_notify(&mut self, patch: &Patch<'_>, now: Instant) {
        let change = self.chat.apply_patch(patch, now);
        match change {
            PageChange::RunEnded => self.notify_if_unfocused("The agent has finished"),
            PageChange::AskOpened => {
                self.notify_if_unfocused("The agent is waiting for your answer");
            }
            PageChange::PromptAdded | PageChange::Other => {}
        }
        let may_shorten_queue = matches!(change, PageChange::PromptAdded | PageChange::RunEnded);
        let queue_may_change = may_shorten_queue && !self.chat.queue().is_empty();
        if let Some(session) = self.setup.session.as_ref().filter(|_| queue_may_change) {
            self.calls.fetch_queue(&session.id);
        }
    }

    /// Sends a desktop notification unless the terminal has the focus.
    fn notify_if_unfocused(&mut self, words: &str) {
        if self.focus == Focus::Unfocused {
            self.frontend.write_osc_if_screen(&osc::notification_sequence(words));
        }
    }

    pub(super) fn handle_gateway_result(&mut self, result: GatewayResult) {
        self.frames.request();
        match result {
            GatewayResult::SessionCreated { conversation, .. }
                if conversation != self.calls.conversation_id() => {}
            GatewayResult::SessionCreated { session, .. } => {
                self.setup.session = Some(session);
                self.follow_session_and_fetch_queue();
            }
            GatewayResult::Queue(queue) => self.chat.set_queue_except_shown_messages(queue),
            GatewayResult::Image { name, fetched } => {
                self.chat.set_image_result_and_settle(&name, fetched);
                self.fetch_and_save_wanted_images();
            }
            GatewayResult::Model(agent) => self.show_model(&agent),
            GatewayResult::Tools(agent) => self.show_tools(&agent),
            GatewayResult::Sessions(sessions) => self.show_and_remember_sessions(sessions),
            GatewayResult::ResumeChoices(sessions) => self.fill_resume_menu(sessions),
            GatewayResult::SendFailed { text, error } => {
                self.chat.add_notice(&format!("not sent: {error}"));
                self.chat.prepend_unsent_text_to_input(&text);
            }
            GatewayResult::Failed(error) => self.chat.add_notice(&error.to_string()),
            GatewayResult::AnswerFailed(error) => self.chat.add_notice(&error.to_string()),
            GatewayResult::Notice(words) => self.chat.add_notice(&words),
            GatewayResult::Nothing => {}
        }
    }
}
