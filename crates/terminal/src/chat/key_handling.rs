//! Key handling of the chat: history search, the approval box, the completion menu, the editor.

use std::time::{Duration, Instant};

use millpond_client::messages::Delivery;

use super::commands::{COMMANDS, SlashCommand, parse_slash_command_if_known};
use super::completion::{CompletionMenu, InputLine, SessionChoice, list_completions_if_any};
use super::{Chat, Effect, HistorySearch};
use crate::input::editor::Motion;
use crate::input::key_bindings::KeyAction;

/// Longest time between two presses of Ctrl-C that quit.
const DOUBLE_PRESS_MAX: Duration = Duration::from_secs(2);

impl Chat {
    /// Handles one key and returns the effects to perform.
    pub fn handle_key(&mut self, key: KeyAction, now: Instant) -> Vec<Effect> {
        if key != KeyAction::Interrupt {
            self.last_interrupt = None;
        }
        if self.search.is_some() {
            return self.handle_search_key(key);
        }
        if let Some(effects) =
            self.try_handle_ask_key(key, now).or_else(|| self.handle_menu_key_or_pass_on(key))
        {
            return effects;
        }
        let mut effects = self.handle_input_key(key, now);
        effects.append(&mut self.await_resume_choices_if_typed());
        self.update_completion_menu();
        effects
    }

    /// Handles keys of the approval box: only non-printing keys, and only while the input is empty.
    fn try_handle_ask_key(&mut self, key: KeyAction, now: Instant) -> Option<Vec<Effect>> {
        let ask = self.ask.as_mut()?;
        let ignores = ask.extend_grace_period_if_active(now);
        if ignores || !self.editor.is_empty() {
            return None;
        }
        if ask.is_waiting_for_reason() {
            if key == KeyAction::Escape {
                ask.stop_waiting_for_reason();
            }
            return (key == KeyAction::Escape).then(Vec::new);
        }
        match key {
            KeyAction::Up => ask.cycle_selection(-1),
            KeyAction::Down | KeyAction::Complete => ask.cycle_selection(1),
            KeyAction::PageUp => ask.scroll(-5),
            KeyAction::PageDown => ask.scroll(5),
            KeyAction::Enter => {
                let answer = ask.selected_answer_or_await_reason();
                return Some(answer.map(Effect::AnswerAsk).into_iter().collect());
            }
            // Named one by one: a new key must be thought about for the ask and for the menu.
            KeyAction::Character(_)
            | KeyAction::NewLine
            | KeyAction::SendNow
            | KeyAction::Move(_)
            | KeyAction::Delete(_)
            | KeyAction::Kill(_)
            | KeyAction::Yank
            | KeyAction::Undo
            | KeyAction::Redo
            | KeyAction::CompleteBack
            | KeyAction::SearchHistory
            | KeyAction::OpenEditor
            | KeyAction::PrintRawCall
            | KeyAction::Escape
            | KeyAction::Interrupt
            | KeyAction::EndOfInput
            | KeyAction::Suspend
            | KeyAction::Redraw => return None,
        }
        Some(Vec::new())
    }

    fn handle_menu_key_or_pass_on(&mut self, key: KeyAction) -> Option<Vec<Effect>> {
        let menu = self.menu.as_mut()?;
        match key {
            KeyAction::Up | KeyAction::CompleteBack => menu.cycle_selection(-1),
            KeyAction::Down => menu.cycle_selection(1),
            KeyAction::Escape => {
                self.menu = None;
                self.awaits_resume_choices = false;
            }
            KeyAction::Enter
                if menu.selected_completion().is_some_and(|offer| offer.sends_on_enter) =>
            {
                self.accept_completion();
                return None;
            }
            KeyAction::Enter | KeyAction::Complete => {
                self.accept_completion();
                self.update_completion_menu();
                return Some(self.await_resume_choices_if_typed());
            }
            KeyAction::Character(_)
            | KeyAction::NewLine
            | KeyAction::SendNow
            | KeyAction::Move(_)
            | KeyAction::Delete(_)
            | KeyAction::Kill(_)
            | KeyAction::Yank
            | KeyAction::Undo
            | KeyAction::Redo
            | KeyAction::PageUp
            | KeyAction::PageDown
            | KeyAction::SearchHistory
            | KeyAction::OpenEditor
            | KeyAction::PrintRawCall
            | KeyAction::Interrupt
            | KeyAction::EndOfInput
            | KeyAction::Suspend
            | KeyAction::Redraw => return None,
        }
        Some(Vec::new())
    }

    fn accept_completion(&mut self) {
        let Some(menu) = self.menu.take() else { return };
        let Some(offer) = menu.selected_completion() else { return };
        let blank = if offer.omits_space { "" } else { " " };
        let text = format!("{}{blank}", offer.text);
        self.editor.replace_before_cursor(menu.replaced_bytes, &text);
    }

    fn update_completion_menu(&mut self) {
        let line = if self.editor.expanded_text().contains('\n') {
            InputLine::Later
        } else {
            InputLine::First
        };
        self.menu = list_completions_if_any(
            self.editor.line_before_cursor(),
            line,
            &self.folder,
            &self.completion_sources,
        );
    }

    /// Sets the sessions of the `/resume` menu; keeps the selection of an open menu.
    pub fn set_resume_choices_and_update_menu(&mut self, places: Vec<SessionChoice>) {
        let chosen = self
            .menu
            .as_ref()
            .and_then(CompletionMenu::selected_completion)
            .map(|offer| offer.text.clone());
        let text = self.editor.expanded_text();
        if places.is_empty() && text == RESUME_COMMAND {
            self.editor.set_text("");
        }
        self.completion_sources.sessions = places;
        if !std::mem::take(&mut self.awaits_resume_choices) || !text.starts_with(RESUME_COMMAND) {
            return;
        }
        self.update_completion_menu();
        if let (Some(menu), Some(chosen)) = (&mut self.menu, chosen) {
            let at = menu.completions.iter().position(|offer| offer.text == chosen);
            menu.selected = at.unwrap_or_default();
        }
    }

    /// Sets the profiles of the `/model` menu: pairs of name and description.
    pub fn set_profiles(&mut self, profiles: Vec<(String, String)>) {
        self.completion_sources.profiles = profiles;
    }

    /// Opens the `/resume` menu.
    pub fn type_resume_and_await_choices(&mut self) -> Vec<Effect> {
        self.set_input_text(RESUME_COMMAND);
        self.await_resume_choices_if_typed()
    }

    /// Requests fresh choices each time `/resume ` has been typed.
    fn await_resume_choices_if_typed(&mut self) -> Vec<Effect> {
        let wanted = self.editor.expanded_text() == RESUME_COMMAND && !self.line_mode;
        self.awaits_resume_choices |= wanted;
        wanted.then_some(Effect::FetchResumeChoices).into_iter().collect()
    }

    fn handle_input_key(&mut self, key: KeyAction, now: Instant) -> Vec<Effect> {
        let cols = self.options.size.width().saturating_sub(2).max(1);
        match key {
            KeyAction::Character(character) => {
                self.paste_burst.record_character(now);
                self.editor.insert(character.encode_utf8(&mut [0; 4]));
            }
            KeyAction::Enter if self.paste_burst.record_enter_if_pasted(now) => {
                self.editor.insert("\n");
            }
            KeyAction::Enter => return self.submit_input(Delivery::Queue),
            KeyAction::SendNow => return self.submit_input(Delivery::JoinRun),
            KeyAction::NewLine => self.editor.insert("\n"),
            KeyAction::Move(motion) => self.editor.move_cursor(motion),
            KeyAction::Delete(motion) => self.editor.delete(motion),
            KeyAction::Kill(motion) => self.editor.kill(motion),
            KeyAction::Yank => self.editor.yank(),
            KeyAction::Undo => self.editor.undo(),
            KeyAction::Redo => self.editor.redo(),
            KeyAction::Up => self.move_up_or_recall_older(cols),
            KeyAction::Down => self.move_down_or_recall_newer(cols),
            KeyAction::SearchHistory => self.search = Some(HistorySearch::default()),
            KeyAction::OpenEditor => return vec![Effect::OpenEditor(self.editor.expanded_text())],
            KeyAction::Suspend => return vec![Effect::Suspend],
            KeyAction::Redraw => return vec![Effect::RunCommand(SlashCommand::Redraw)],
            KeyAction::PrintRawCall => self.add_raw_call_notice(1),
            KeyAction::Interrupt => return self.handle_interrupt(now),
            KeyAction::EndOfInput if self.editor.is_empty() => return vec![Effect::Quit],
            KeyAction::EndOfInput => self.editor.delete(Motion::Right),
            KeyAction::Escape
            | KeyAction::Complete
            | KeyAction::CompleteBack
            | KeyAction::PageUp
            | KeyAction::PageDown => {}
        }
        Vec::new()
    }

    fn move_up_or_recall_older(&mut self, cols: usize) {
        if !self.editor.move_up(cols)
            && let Some(text) = self.history.recall_older(&self.editor.expanded_text())
        {
            self.editor.set_text(text);
        }
    }

    fn move_down_or_recall_newer(&mut self, cols: usize) {
        if !self.editor.move_down(cols)
            && let Some(text) = self.history.recall_newer()
        {
            self.editor.set_text(&text);
        }
    }

    /// Clears the input or stops the run; a second press quits.
    fn handle_interrupt(&mut self, now: Instant) -> Vec<Effect> {
        let again = self
            .last_interrupt
            .is_some_and(|at| now.saturating_duration_since(at) < DOUBLE_PRESS_MAX);
        self.last_interrupt = Some(now);
        if again {
            return vec![Effect::Quit];
        }
        if !self.editor.is_empty() {
            self.editor.set_text("");
            self.menu = None;
            return Vec::new();
        }
        if self.renderer.is_run_active() {
            return vec![Effect::CancelRun];
        }
        self.add_notice("Press Ctrl-C again to quit");
        Vec::new()
    }

    fn submit_input(&mut self, delivery: Delivery) -> Vec<Effect> {
        let text = self.editor.expanded_text();
        if text.trim().is_empty() {
            return Vec::new();
        }
        self.menu = None;
        match parse_slash_command_if_known(text.trim()) {
            Some(Ok(SlashCommand::Help)) => self.add_help_notices(),
            Some(Ok(SlashCommand::PrintRawCall(number))) => self.add_raw_call_notice(number),
            Some(Ok(SlashCommand::Answer(words))) => return self.submit_typed_answer(&words),
            Some(Err(words)) => {
                self.add_notice(&words);
                return Vec::new();
            }
            Some(Ok(order)) => {
                self.editor.take_text_and_reset_undo();
                return vec![Effect::RunCommand(order)];
            }
            None => {
                self.editor.take_text_and_reset_undo();
                let mut effects = Vec::new();
                if self.history.add_unless_blank_or_repeated(&text) {
                    effects.push(Effect::SaveToHistory(text.clone()));
                }
                effects.push(self.answer_or_message_effect(text, delivery));
                return effects;
            }
        }
        self.editor.take_text_and_reset_undo();
        Vec::new()
    }

    /// Returns the text as an answer if the ask takes typed text, else as a message. In line mode
    /// it is always a message: the ask may have appeared while the line was typed.
    fn answer_or_message_effect(&self, text: String, delivery: Delivery) -> Effect {
        let typed =
            self.ask.as_ref().filter(|ask| ask.is_answerable_by_free_text() && !self.line_mode);
        match typed.map(|ask| ask.parse_typed_answer(text.trim())) {
            Some(Ok(answer)) => Effect::AnswerAsk(answer),
            Some(Err(_)) | None if self.renderer.is_run_active() => Effect::Send { text, delivery },
            Some(Err(_)) | None => Effect::Send { text, delivery: Delivery::Queue },
        }
    }

    fn submit_typed_answer(&mut self, words: &str) -> Vec<Effect> {
        let answer = match &self.ask {
            Some(ask) => ask.parse_typed_answer(words),
            None => Err("nothing to answer".to_owned()),
        };
        match answer {
            Ok(answer) => {
                self.editor.take_text_and_reset_undo();
                vec![Effect::AnswerAsk(answer)]
            }
            Err(problem) => {
                self.add_notice(&problem);
                Vec::new()
            }
        }
    }

    /// Submits a whole line, in line mode.
    pub fn submit_line(&mut self, line: &str, now: Instant) -> Vec<Effect> {
        if line.trim().is_empty() {
            return Vec::new();
        }
        self.editor.set_text(line);
        let effects = self.handle_key(KeyAction::Enter, now);
        self.editor.set_text("");
        effects
    }

    fn add_help_notices(&mut self) {
        self.add_notice(HELP_TEXT);
        for command in COMMANDS {
            let name = format!("/{} {}", command.name, command.arguments);
            self.add_notice(&format!("{name:<24} {}", command.about));
        }
    }

    fn handle_search_key(&mut self, key: KeyAction) -> Vec<Effect> {
        let Some(search) = &mut self.search else { return Vec::new() };
        let before = match key {
            KeyAction::Character(character) => {
                search.query.push(character);
                None
            }
            KeyAction::Delete(_) => {
                search.query.pop();
                None
            }
            KeyAction::SearchHistory | KeyAction::Up => search.match_index,
            KeyAction::Enter
            | KeyAction::NewLine
            | KeyAction::SendNow
            | KeyAction::Move(_)
            | KeyAction::Kill(_)
            | KeyAction::Yank
            | KeyAction::Undo
            | KeyAction::Redo
            | KeyAction::Down
            | KeyAction::PageUp
            | KeyAction::PageDown
            | KeyAction::Complete
            | KeyAction::CompleteBack
            | KeyAction::OpenEditor
            | KeyAction::PrintRawCall
            | KeyAction::Escape
            | KeyAction::Interrupt
            | KeyAction::EndOfInput
            | KeyAction::Suspend
            | KeyAction::Redraw => {
                self.search = None;
                return Vec::new();
            }
        };
        if let Some((at, text)) = self.history.search(&search.query, before) {
            search.match_index = Some(at);
            let text = text.to_owned();
            self.editor.set_text(&text);
        }
        Vec::new()
    }
}

/// Command that opens the session menu.
const RESUME_COMMAND: &str = "/resume ";

const HELP_TEXT: &str = "Enter: send, or queue while a run is active. Ctrl-Enter: send into the run. \
    Shift-Enter, Alt-Enter, Ctrl-J: new line. Ctrl-C: stop the run; press twice to quit. \
    Ctrl-R: search history. Ctrl-G: open your editor. Ctrl-O: print the newest \
    tool call in full. @: insert a file name.";
