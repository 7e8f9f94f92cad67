//! One run of an agent: its lines in, answers out, until it says that it is done or is stopped.

mod asks;
mod end;

use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::event::{AnsweredBy, Event, FailureReason, Level};
use engine::ingest::Options;
use engine::run::{Cut, RunOptions};
use gateway::agent::Job;
use gateway::clock::{now_ms, random};
use gateway::digest::Digest;
use gateway::runs::Answer;
use tokio::sync::mpsc;

use crate::conversation::Conversation;
use crate::memory::own_name;
use crate::model::Rates;
use crate::pen::{Pen, Unkept};
use crate::pictures::{load, without};
use crate::rounds::{Caution, YOLO_WORDS};
use crate::stop::Stopping;

use super::Driving;
use super::connection::Connection;
use super::hook::{Asked, Hooks};
use super::kind::{Talk, is_plain, is_unknown_conversation, session_in};
use super::protocol::{Decision, End, Protocol, Reaction, Said, Turn};

/// Why no more is heard of the agent.
enum Close {
    Unkept,
    /// It has said that the turn is over.
    Over,
    /// Its stream has ended.
    EndOfStream,
    Stopped(Cut),
    Broken(String),
    /// It does not know the conversation that it was to go on with.
    Lost,
}

impl From<Unkept> for Close {
    fn from(_: Unkept) -> Close {
        Close::Unkept
    }
}

const BLIND_WORDS: &str = "This agent cannot be shown pictures. It was told that some were sent.";

struct Drive {
    setup: Arc<Driving>,
    turn: Turn,
    pen: Pen,
    stopping: Stopping,
    answers: mpsc::Receiver<Answer>,
    /// Nothing for an agent that only prints.
    protocol: Option<Protocol>,
    /// Where such an agent asks, if it can be made to.
    hooks: Option<Hooks>,
    connection: Connection,
    /// As the log knows it.
    named: Option<String>,
    /// As the agent has called it, and the log does not know.
    heard_name: Option<String>,
    began: Instant,
    /// Time in which only people were waited for.
    waited: Duration,
}

pub(super) async fn work(setup: Arc<Driving>, job: Job) {
    let Some(wish) = job.wish() else { return };
    let Some((log, session, _)) = job.place() else { return };
    let named = match own_name(&log, session, setup.kind.agent_name()).await {
        Ok(named) => named.filter(|name| is_plain(name)),
        Err(error) => {
            tracing::error!(%error, "the conversation cannot be read");
            return;
        }
    };
    let mut images = job.prompt.images.clone();
    load(&log, session, &mut images).await;
    let is_blind = setup.kind.talk() == Talk::Printed && !images.is_empty();
    let prompt = without(&job.prompt.text, if is_blind { images.len() } else { 0 });
    let turn = Turn {
        prompt,
        images,
        folder: setup.folder.to_string_lossy().into_owned(),
        session: named.clone(),
        model: setup.model.clone(),
        request: setup.request.clone(),
    };
    let run = RunOptions { control_words: setup.control_words.clone(), ..RunOptions::default() };
    let options = Options { from: setup.kind.dialect().or(setup.dialect), run };
    let mut pen =
        Pen::new(job, &options, Rates::default(), setup.answer_within, Conversation::default());
    pen.expect_echo(&turn.prompt);
    if is_blind && pen.say(|out| out.notice(Level::Warning, BLIND_WORDS)).await.is_err() {
        return;
    }
    let Ok(answers) = pen.take_answers() else { return };
    let mut stopping = Stopping::new(wish);
    let (connection, hooks) = match stopping.or(connect(&setup, &turn)).await {
        Ok(Ok(connected)) => connected,
        Ok(Err(words)) => {
            if pen.say(|out| out.fail(FailureReason::Error, &words)).await.is_ok() {
                pen.finish(Cut::EndOfInput).await;
            }
            return;
        }
        Err(cut) => {
            pen.finish(cut).await;
            return;
        }
    };
    let protocol = setup.kind.protocol(turn.clone(), setup.sign_in.clone());
    let (began, waited) = (Instant::now(), Duration::ZERO);
    let drive = Drive {
        setup,
        turn,
        pen,
        stopping,
        answers,
        protocol,
        hooks,
        connection,
        named,
        heard_name: None,
        began,
        waited,
    };
    Box::pin(drive.run()).await;
}

async fn connect(setup: &Driving, turn: &Turn) -> Result<(Connection, Option<Hooks>), String> {
    let mut command = setup.command(turn);
    let hooks = setup.hook_into(&mut command).map_err(|error| {
        format!("`{}` cannot be made to ask before it uses a tool: {error}", setup.title())
    })?;
    let connected = match setup.kind.talk() {
        Talk::Printed | Talk::Lines => Connection::piped(command),
        Talk::Server => {
            let password = Digest(random().map_err(|error| error.to_string())?).to_string();
            command.env("OPENCODE_SERVER_PASSWORD", &password);
            Connection::server(command, "/event", password).await
        }
    };
    let title = setup.title();
    let connected = connected.map(|connection| (connection, hooks));
    connected.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => format!(
            "`{title}` was not found: install it, or say in the profile where it is, with `command`"
        ),
        std::io::ErrorKind::ArgumentListTooLong => {
            format!("the message is too long for the command line of `{title}`")
        }
        _ => format!("`{title}` cannot be started: {error}"),
    })
}

enum Happened {
    Stop(Cut),
    Line(std::io::Result<Option<Vec<u8>>>),
    Answer(Answer),
    Hook(Asked),
    Late,
}

/// The next hook that asks; never, where there are none.
async fn next_hook(hooks: &mut Option<Hooks>) -> Asked {
    if let Some(hooks) = hooks
        && let Some(asked) = hooks.next().await
    {
        return asked;
    }
    std::future::pending().await
}

impl Drive {
    async fn run(mut self) {
        let mut close = self.talk().await;
        if let Close::Lost = close {
            close = match self.begin_anew().await {
                Ok(()) => self.talk().await,
                Err(close) => close,
            };
        }
        match close {
            Close::Unkept => self.connection.group.stop().await,
            Close::Over => {
                self.leave().await;
                self.pen.finish(Cut::EndOfInput).await;
            }
            // Lost even as a new one: what it says of that has been heard.
            Close::EndOfStream | Close::Lost => Box::pin(self.end_of_stream()).await,
            Close::Stopped(cut) => {
                self.stop().await;
                self.pen.finish(cut).await;
            }
            Close::Broken(words) => {
                self.connection.group.stop().await;
                self.fail(&words).await;
            }
        }
    }

    async fn talk(&mut self) -> Close {
        match self.try_to_talk().await {
            Ok(never) => match never {},
            Err(Close::EndOfStream) if self.goes_on_unheard() => {
                let said = self.connection.last_errors().await;
                if is_unknown_conversation(&said) { Close::Lost } else { Close::EndOfStream }
            }
            Err(close) => close,
        }
    }

    /// Whether it was to go on with a conversation, and has not said a word.
    fn goes_on_unheard(&self) -> bool {
        self.turn.session.is_some() && self.pen.said() == 0
    }

    /// Another process of the agent, in a conversation of its own.
    async fn begin_anew(&mut self) -> Result<(), Close> {
        self.connection.group.stop().await;
        let words = "the agent no longer knows this conversation, and begins another";
        self.pen.say(|out| out.notice(Level::Warning, words)).await?;
        self.turn.session = None;
        let setup = Arc::clone(&self.setup);
        let connected = self.stopping.or(connect(&setup, &self.turn)).await;
        let connected = connected.map_err(Close::Stopped)?;
        (self.connection, self.hooks) = connected.map_err(Close::Broken)?;
        self.protocol = setup.kind.protocol(self.turn.clone(), setup.sign_in.clone());
        Ok(())
    }

    async fn try_to_talk(&mut self) -> Result<std::convert::Infallible, Close> {
        if self.setup.caution == Caution::Yolo {
            self.pen.say(|out| out.notice(Level::Warning, YOLO_WORDS)).await?;
        }
        let said = self.protocol.as_mut().map(Protocol::begin).unwrap_or_default();
        self.say(said).await?;
        loop {
            match self.next().await {
                Happened::Stop(cut) => return Err(Close::Stopped(cut)),
                Happened::Line(Ok(Some(line))) => self.hear(&line).await?,
                Happened::Line(Ok(None)) => return Err(Close::EndOfStream),
                Happened::Line(Err(error)) => {
                    let words =
                        format!("the stream of `{}` broke off: {error}", self.setup.title());
                    return Err(Close::Broken(words));
                }
                Happened::Answer(answer) => self.answered(answer).await?,
                Happened::Hook(asked) => self.hooked(asked).await?,
                Happened::Late => self.late().await?,
            }
        }
    }

    async fn next(&mut self) -> Happened {
        let waits = self.pen.next_expiry();
        let patience = if let Some(at) = waits {
            Duration::from_millis(at.saturating_sub(now_ms()))
        } else {
            let worked = self.began.elapsed().saturating_sub(self.waited);
            self.setup.idle.min(self.setup.time.saturating_sub(worked))
        };
        let since = Instant::now();
        let happened = tokio::select! {
            biased;
            cut = self.stopping.asked() => Happened::Stop(cut),
            line = self.connection.lines.next() => Happened::Line(line),
            Some(answer) = self.answers.recv() => Happened::Answer(answer),
            asked = next_hook(&mut self.hooks) => Happened::Hook(asked),
            () = tokio::time::sleep(patience) => Happened::Late,
        };
        if waits.is_some() {
            self.waited += since.elapsed();
        }
        happened
    }

    async fn hear(&mut self, line: &[u8]) -> Result<(), Close> {
        let text = String::from_utf8_lossy(line);
        if self.hooks.as_ref().is_some_and(|hooks| !hooks.are_run()) {
            // Before it can have done anything.
            self.connection.group.kill();
            let words = "it does not run its hooks, and would ask nobody";
            return Err(Close::Broken(format!("`{}` was stopped: {words}", self.setup.title())));
        }
        let reaction = match &mut self.protocol {
            Some(protocol) => protocol.hear(text.trim_end()),
            None => Reaction::news(),
        };
        if reaction.end == End::Failed && self.goes_on_unheard() && is_unknown_conversation(&text) {
            return Err(Close::Lost);
        }
        if reaction.is_news {
            self.take_in('<', line).await?;
        }
        if reaction.is_lost {
            let words = "the agent no longer knows this conversation, and begins another";
            self.pen.say(|out| out.notice(Level::Warning, words)).await?;
        }
        if reaction.is_blind {
            self.pen.say(|out| out.notice(Level::Warning, BLIND_WORDS)).await?;
        }
        self.name_conversation(&text).await?;
        self.say(reaction.say).await?;
        if self.setup.caution == Caution::Yolo {
            for ask in self.pen.open_asks() {
                self.decide(&ask, Decision::Allow, AnsweredBy::Policy).await?;
            }
        }
        if reaction.end == End::Over {
            self.write_name().await?;
        }
        if reaction.end == End::No { Ok(()) } else { Err(Close::Over) }
    }

    /// Gives a line to the engine, marked with who said it where both sides do.
    async fn take_in(&mut self, who: char, line: &[u8]) -> Result<(), Unkept> {
        let is_marked = self.setup.kind.talk() == Talk::Lines;
        if is_marked && !line.starts_with(b"{") {
            // No line of the protocol; and one that begins with a mark is not the other side's.
            return Ok(());
        }
        let mut marked = Vec::with_capacity(line.len() + 2);
        if is_marked {
            marked.extend([who as u8, b' ']);
        }
        marked.extend_from_slice(line);
        self.pen.push(&marked).await
    }

    /// Writes down what the agent calls the conversation, for the next run to go on with.
    async fn name_conversation(&mut self, line: &str) -> Result<(), Unkept> {
        let name = match &self.protocol {
            Some(protocol) => protocol.session().map(str::to_owned),
            None => session_in(line),
        };
        if let Some(name) = name.filter(|name| is_plain(name)) {
            self.heard_name = Some(name);
        }
        // One in which nothing was said is no conversation to go on with.
        if 0 < self.pen.said() { self.write_name().await } else { Ok(()) }
    }

    async fn write_name(&mut self) -> Result<(), Unkept> {
        let Some(name) = self.heard_name.take() else { return Ok(()) };
        if self.named.as_ref() != Some(&name) {
            let event = Event::SessionNamed { name: name.clone().into() };
            self.pen.say(|out| out.note(event)).await?;
            self.named = Some(name);
        }
        Ok(())
    }

    /// What is said is kept first: an answer that was given is never given again.
    async fn say(&mut self, said: Vec<Said>) -> Result<(), Close> {
        for said in said {
            if let Said::Line(line) = &said {
                self.take_in('>', format!("{line}\n").as_bytes()).await?;
            }
            let spoken = self.stopping.or(self.connection.say(&said)).await;
            match spoken {
                Err(cut) => return Err(Close::Stopped(cut)),
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    // Why it does not listen is in what it has said.
                    tracing::debug!(%error, "the agent does not listen");
                    if let Said::Post { .. } = said {
                        let is_lost = self.goes_on_unheard() && error.to_string().contains("404");
                        let broken = Close::Broken(error.to_string());
                        return Err(if is_lost { Close::Lost } else { broken });
                    }
                }
            }
        }
        Ok(())
    }
}
