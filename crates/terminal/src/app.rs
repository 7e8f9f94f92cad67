//! The interactive chat: one event loop over terminal input, gateway updates and frames.

mod background_calls;
mod frame_schedule;
mod frontend;
mod gateway_updates;
mod history_file;
mod image_loader;
mod line_input;
pub mod one_shot;
mod os;
mod osc;
mod setup;
mod slash_commands;
mod terminal_events;

use std::time::Instant;

use millpond_client::session_stream::{StreamRequest, StreamUpdate, spawn_session_stream};
use millpond_client::sessions::Session;
use millpond_engine::view::Thinking;
use tokio::sync::mpsc;
use tokio::time::{Instant as Moment, sleep_until};

use crate::chat::commands::SlashCommand;
use crate::chat::{Chat, Effect};
use crate::image_files::ImageFiles;
use crate::input::history::History;
use crate::input::key_bindings::{KeyAction, map_key};
use crate::limits::TICK_INTERVAL;
use crate::page::RenderOptions;
use crate::size::Size;
use crate::terminal_modes::{install_panic_hook, take_recorded_panics, wait_until_panic_recorded};

use background_calls::{BackgroundCalls, GatewayResult, OutboxFull};
use frame_schedule::FrameSchedule;
use frontend::{Frontend, LinePrompt};
use history_file::HistoryFile;
use terminal_events::{Focus, TerminalEvent};

pub use setup::{ChatStart, DisplayMode, ExitReport, Profiles, Setup};

struct App {
    setup: Setup,
    chat: Chat,
    frontend: Frontend,
    stream_updates: Option<mpsc::Receiver<StreamUpdate>>,
    calls: BackgroundCalls,
    image_files: ImageFiles,
    /// Last output of `/sessions`, numbered from 1.
    listed_sessions: Vec<Session>,
    /// Sessions in the `/resume` menu.
    resume_choices: Vec<Session>,
    history_file: HistoryFile,
    next_page: NextPage,
    focus: Focus,
    frames: FrameSchedule,
    state: LoopState,
}

/// Treatment of the next page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum NextPage {
    #[default]
    Print,
    /// It only changes the view: its settled part is not printed again.
    TakeAsSeen,
}

/// State of the event loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LoopState {
    Running,
    Quitting,
}

enum LoopEvent {
    Input(Option<TerminalEvent>),
    StreamUpdate(Option<StreamUpdate>),
    GatewayResult(Option<GatewayResult>),
    Frame,
    Tick,
    /// Another thread panicked.
    Panic,
    Stop,
}

/// Runs the chat until the user quits or the process receives a stop signal.
pub async fn run_chat(setup: Setup) -> std::io::Result<ExitReport> {
    let front = match setup.display {
        DisplayMode::Screen(features) => {
            install_panic_hook();
            Frontend::open_screen(features)?
        }
        DisplayMode::Lines => Frontend::open_lines()?,
    };
    let options = RenderOptions { size: front.size(), hyperlinks: setup.hyperlinks };
    let history = History::new(&setup.history);
    let mut chat = Chat::new(setup.view, options, history, setup.folder.clone());
    if setup.display == DisplayMode::Lines {
        chat.enable_line_mode();
    }
    chat.add_notice(&setup.greeting);
    if let Some(profiles) = &setup.profiles {
        chat.set_profiles(profiles.choices.clone());
    }
    let work = BackgroundCalls::start(setup.client.clone());
    let mut app = App {
        chat,
        frontend: front,
        stream_updates: None,
        calls: work,
        image_files: ImageFiles::default(),
        listed_sessions: Vec::new(),
        resume_choices: Vec::new(),
        history_file: HistoryFile::start_writer(setup.history_file.clone()),
        next_page: NextPage::Print,
        focus: Focus::Focused,
        frames: FrameSchedule::with_first_frame_pending(Moment::now()),
        state: LoopState::Running,
        setup,
    };
    app.follow_session_and_fetch_queue();
    app.offer_sessions_if_requested()?;
    let ended = app.run_event_loop().await;
    // Items that wait for images settle without them.
    let left = if app.chat.settle_without_images() {
        app.draw_frame_or_begin_resize_hold()
    } else {
        Ok(())
    };
    let App { frontend: front, setup, history_file, .. } = app;
    history_file.close().await;
    front.close()?;
    ended.and(left)?;
    Ok(ExitReport { session: setup.session, panics: take_recorded_panics() })
}

impl App {
    fn offer_sessions_if_requested(&mut self) -> std::io::Result<()> {
        if self.setup.start == ChatStart::Conversation {
            return Ok(());
        }
        if !self.frontend.is_screen() {
            self.run_slash_command(SlashCommand::Sessions(String::new()));
            return Ok(());
        }
        let effects = self.chat.type_resume_and_await_choices();
        self.run_effects(effects)
    }

    async fn run_event_loop(&mut self) -> std::io::Result<()> {
        let mut stop = os::StopSignals::listen()?;
        while self.state == LoopState::Running {
            let next = self.next_event(&mut stop).await;
            match next {
                LoopEvent::Input(None) | LoopEvent::Stop => return Ok(()),
                LoopEvent::Input(Some(event)) => self.handle_input(event)?,
                LoopEvent::StreamUpdate(update) => self.handle_stream_update(update),
                LoopEvent::GatewayResult(Some(result)) => self.handle_gateway_result(result),
                LoopEvent::GatewayResult(None) | LoopEvent::Tick | LoopEvent::Panic => {
                    self.frames.request();
                }
                LoopEvent::Frame => self.draw_frame_or_begin_resize_hold()?,
            }
        }
        Ok(())
    }

    async fn next_event(&mut self, stop: &mut os::StopSignals) -> LoopEvent {
        let frame_time = self.frames.next_frame_time();
        let update = async {
            match &mut self.stream_updates {
                Some(updates) => updates.recv().await,
                None => std::future::pending().await,
            }
        };
        let frame = async {
            match frame_time {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        let tick = tokio::time::sleep(TICK_INTERVAL);
        // Line mode shows no elapsed time.
        let shows_time = self.frontend.is_screen() && self.chat.renderer().is_run_active();
        tokio::select! {
            biased;
            () = stop.wait() => LoopEvent::Stop,
            event = self.frontend.next_input() => LoopEvent::Input(event),
            () = frame => LoopEvent::Frame,
            update = update => LoopEvent::StreamUpdate(update),
            result = self.calls.next_result() => LoopEvent::GatewayResult(result),
            () = tick, if shows_time => LoopEvent::Tick,
            () = wait_until_panic_recorded() => LoopEvent::Panic,
        }
    }

    fn draw_frame_or_begin_resize_hold(&mut self) -> std::io::Result<()> {
        if !self.frames.is_held_for_resize() && self.frontend.has_size_changed() {
            self.frames.hold_for_resize(Moment::now());
            return Ok(());
        }
        self.frames.mark_drawn_and_end_resize_hold(Moment::now());
        for panic in take_recorded_panics() {
            self.chat.add_notice(&format!("internal error: {panic}"));
        }
        let settled = self.chat.take_settled();
        let prompt = if self.chat.has_open_ask() || !self.chat.renderer().is_run_active() {
            LinePrompt::Wanted
        } else {
            LinePrompt::Unwanted
        };
        self.frontend.draw_frame(&settled, || self.chat.render_live_region(Instant::now()), prompt)
    }

    fn follow_session_and_fetch_queue(&mut self) {
        let Some(session) = &self.setup.session else { return };
        let request = StreamRequest {
            session: session.id.clone(),
            view: self.setup.view,
            thinking: Thinking::ViewDefault,
        };
        self.stream_updates = Some(spawn_session_stream(self.setup.client.clone(), request));
        self.calls.fetch_queue(&session.id);
    }

    fn handle_input(&mut self, event: TerminalEvent) -> std::io::Result<()> {
        self.frames.request();
        match event {
            TerminalEvent::Key(key) => {
                self.frames.request_early_frame();
                if let Some(key) = map_key(&key) {
                    let effects = self.chat.handle_key(key, Instant::now());
                    return self.run_effects(effects);
                }
            }
            TerminalEvent::Paste(text) => self.chat.insert_paste(&text),
            TerminalEvent::Line(line) => {
                let effects = self.chat.submit_line(&line, Instant::now());
                return self.run_effects(effects);
            }
            TerminalEvent::Interrupt => {
                let effects = self.chat.handle_key(KeyAction::Interrupt, Instant::now());
                return self.run_effects(effects);
            }
            TerminalEvent::Focus(focus) => self.focus = focus,
            TerminalEvent::Resizing => self.frames.hold_for_resize(Moment::now()),
            TerminalEvent::Resized { size, row } => {
                self.frames.end_resize_hold();
                self.apply_resize(size, row);
            }
        }
        Ok(())
    }

    fn apply_resize(&mut self, size: Size, row: u16) {
        let scrolled_away = self.frontend.resize_and_count_scrolled_away(size, row);
        self.chat.resize(RenderOptions { size, hyperlinks: self.setup.hyperlinks }, scrolled_away);
    }

    fn run_effects(&mut self, effects: Vec<Effect>) -> std::io::Result<()> {
        for effect in effects {
            self.run_effect(effect)?;
        }
        Ok(())
    }

    fn run_effect(&mut self, effect: Effect) -> std::io::Result<()> {
        match effect {
            Effect::Send { text, delivery } => {
                let session = self.setup.session.as_ref();
                if let Err(OutboxFull(text)) =
                    self.calls.try_push_to_outbox(session, text, delivery)
                {
                    self.chat.add_notice("not sent: too many messages wait to be sent");
                    self.chat.prepend_unsent_text_to_input(&text);
                }
            }
            Effect::SaveToHistory(text) => {
                self.history_file.append_in_background_unless_queue_full(text);
            }
            Effect::AnswerAsk(answer) => self.calls.answer_ask(answer),
            Effect::CancelRun => self.cancel_active_run(),
            Effect::RunCommand(order) => self.run_slash_command(order),
            Effect::FetchResumeChoices => self.calls.fetch_resume_choices(),
            Effect::OpenEditor(text) => self.edit_message_externally(&text)?,
            Effect::Suspend => self.suspend_process()?,
            Effect::Quit => self.state = LoopState::Quitting,
        }
        Ok(())
    }

    fn cancel_active_run(&mut self) {
        if let Some(session) = &self.setup.session {
            self.calls.find_and_cancel_active_run(&session.id);
        }
    }

    /// Opens the message in the user's editor and reads it back.
    fn edit_message_externally(&mut self, text: &str) -> std::io::Result<()> {
        self.with_terminal_released(
            || os::edit_in_external_editor(text),
            |chat, edited| match edited {
                Ok(text) => chat.set_input_text(&text),
                Err(words) => chat.add_notice(&words),
            },
        )
    }

    fn suspend_process(&mut self) -> std::io::Result<()> {
        self.with_terminal_released(os::suspend_process, |_, ()| {})
    }

    /// Runs `work` with the terminal restored, then takes the terminal again.
    fn with_terminal_released<T>(
        &mut self,
        work: impl FnOnce() -> T,
        then: impl FnOnce(&mut Chat, T),
    ) -> std::io::Result<()> {
        let settled = self.chat.take_settled();
        let done = self.frontend.with_terminal_released(&settled, work)?;
        self.chat.resize(
            RenderOptions { size: self.frontend.size(), hyperlinks: self.setup.hyperlinks },
            0,
        );
        then(&mut self.chat, done);
        self.frames.request();
        Ok(())
    }
}

fn session_title(session: &Session) -> String {
    let title = crate::text::neutralise_to_one_line(&session.title);
    if title.is_empty() { "(untitled)".to_owned() } else { title }
}

/// Returns the state of a session as a list shows it; empty when idle.
fn session_state_label(session: &Session) -> &'static str {
    match (session.asks, session.run.is_some()) {
        (1.., _) => "waiting for you",
        (0, true) => "running",
        (0, false) => "",
    }
}
