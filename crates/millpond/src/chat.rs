//! `millpond chat`: the terminal, and the gateway that it talks to.

use std::io::{ErrorKind, IsTerminal, Read};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use agent::chooser::Chooser;
use agent::rounds::Caution;
use engine::event::Outcome;
use engine::view::ViewName;
use terminal::app::once::{Answered, Print, Unanswered, once};
use terminal::app::{Left, Manner, Profiles, Setup, run as run_app};
use terminal::graphics::Graphics;
use terminal::input::history::from_lines;
use terminal::link::{Link, Session, Trouble};
use terminal::markdown::Links;
use terminal::place::can_draw;
use terminal::screen::Features;
use tokio::sync::oneshot;

use crate::args::{ChatArgs, PicturesArg, Printed};
use crate::config::Config;
use crate::serve::{self, key};
use crate::show::say;

/// Bytes of a message from a pipe.
const MESSAGE_BYTES_MAX: u64 = 1_000_000;

pub(crate) fn run(args: &ChatArgs) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&format!("cannot start: {error}")),
    };
    let ended = runtime.block_on(chat(args)).unwrap_or_else(|problem| fail(&problem));
    // A thread may still wait for a line that nobody writes.
    runtime.shutdown_background();
    ended
}

fn fail(problem: &str) -> ExitCode {
    say(problem);
    ExitCode::FAILURE
}

async fn chat(args: &ChatArgs) -> Result<ExitCode, String> {
    let message = match (args.output, std::io::stdin().is_terminal()) {
        (None, true) => None,
        _ => Some(message_from_stdin()?),
    };
    let config = args.config.load()?;
    let folder = serve::data_folder(&config)?;
    let house = House::find(args, &config, &folder).await?;
    let talked = match message {
        Some(message) => send(args, &house, &folder, message).await,
        None => talk(args, &house, &folder).await,
    };
    house.close().await?;
    talked
}

/// All of standard input.
fn message_from_stdin() -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(MESSAGE_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("cannot read standard input: {error}"))?;
    if MESSAGE_BYTES_MAX < bytes.len() as u64 {
        return Err(format!("a message has at most {MESSAGE_BYTES_MAX} bytes"));
    }
    let text = String::from_utf8_lossy(&bytes).trim_end().to_owned();
    if text.is_empty() {
        return Err("standard input is empty: it is the message, as it is no terminal".to_owned());
    }
    Ok(text)
}

/// Sends one message and prints what answers it.
async fn send(
    args: &ChatArgs,
    house: &House,
    folder: &Path,
    message: String,
) -> Result<ExitCode, String> {
    if args.resume.as_deref() == Some("") {
        return Err("say which conversation: `millpond -r ID`".to_owned());
    }
    let print = match args.output {
        Some(Printed::Frames) => Print::Frames,
        Some(Printed::Text) | None => Print::Text,
    };
    let setup = setup(args, house, folder, ViewName::Latest).await?;
    let answered = once(setup, message, print, say).await;
    let Answered { outcome, words } = match answered {
        // Whoever reads has gone.
        Err(Unanswered::Output(error)) if error.kind() == ErrorKind::BrokenPipe => {
            return Ok(ExitCode::SUCCESS);
        }
        answered => answered.map_err(|trouble| trouble.to_string())?,
    };
    let Some(words) = words else { return Ok(ExitCode::SUCCESS) };
    say(&words);
    Ok(ExitCode::from(if outcome == Outcome::Failed { 1 } else { 3 }))
}

async fn talk(args: &ChatArgs, house: &House, folder: &Path) -> Result<ExitCode, String> {
    let setup = setup(args, house, folder, ViewName::Transcript).await?;
    let left = run_app(setup).await;
    let Left { session, broken } =
        left.map_err(|error| format!("the terminal cannot be used: {error}"))?;
    if let Some(session) = session {
        say(&format!("`millpond -r {}` goes on with this conversation", session.id));
    }
    for words in &broken {
        say(words);
    }
    Ok(if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn setup(
    args: &ChatArgs,
    house: &House,
    folder: &Path,
    usual: ViewName,
) -> Result<Setup, String> {
    let session = choose(args, &house.link).await?;
    let history_file = folder.join("history.jsonl");
    let history = std::fs::read_to_string(&history_file).unwrap_or_default();
    let variable = |name: &str| std::env::var(name).ok();
    let is_drawn = !args.screen_reader && can_draw(variable);
    Ok(Setup {
        link: house.link.clone(),
        session,
        chooses: args.resume.as_deref() == Some(""),
        view: args.view().unwrap_or(usual),
        manner: if is_drawn { Manner::Drawn(features(args, variable)) } else { Manner::Lines },
        links: if is_drawn { Links::detect(variable) } else { Links::Spelled },
        folder: std::env::current_dir().map_err(|error| error.to_string())?,
        history: from_lines(&history),
        history_file: Some(history_file),
        greeting: house.words.join("; "),
        profiles: house.profiles(),
    })
}

/// What the terminal can do; for pictures as the person says, who may know better.
fn features(args: &ChatArgs, variable: impl Fn(&str) -> Option<String>) -> Features {
    let detected = Features::detect(variable);
    let graphics = match args.pictures {
        PicturesArg::Auto => detected.graphics,
        PicturesArg::Kitty => Some(Graphics::Kitty),
        PicturesArg::Iterm2 => Some(Graphics::Iterm2),
        PicturesArg::Sixel => Some(Graphics::Sixel),
        PicturesArg::None => None,
    };
    Features { graphics, ..detected }
}

/// The gateway: one that is running, or one of our own for as long as the chat lasts.
struct House {
    link: Link,
    words: Vec<String>,
    own: Option<Own>,
    profiles: Vec<(String, String)>,
}

struct Own {
    chooser: Arc<Chooser>,
    stop: oneshot::Sender<()>,
    served: tokio::task::JoinHandle<Result<(), String>>,
}

impl House {
    async fn find(args: &ChatArgs, config: &Config, folder: &Path) -> Result<House, String> {
        if let Some(url) = &args.url {
            let token = match &args.token {
                Some(token) => token.clone(),
                None => own_token(folder)?,
            };
            return House::away(url, &token);
        }
        match serve::open_store(config, folder) {
            Ok(store) => House::build(args, config, folder, store).await,
            // Another process of ours has it: the chat goes there.
            Err(problem) => match std::fs::read_to_string(serve::address_file(folder)) {
                Ok(address) if problem.contains("in use by another gateway") => {
                    House::away(address.trim(), &own_token(folder)?)
                }
                _ => Err(problem),
            },
        }
    }

    fn away(url: &str, token: &str) -> Result<House, String> {
        let link = Link::new(url, token).map_err(|trouble| trouble.to_string())?;
        let words = vec![format!("connected to {url}")];
        Ok(House { link, words, own: None, profiles: Vec::new() })
    }

    async fn build(
        args: &ChatArgs,
        config: &Config,
        folder: &Path,
        store: gateway::store::sqlite::SqliteStore,
    ) -> Result<House, String> {
        let caution = if args.yolo { Caution::Yolo } else { Caution::Ask };
        // Whatever port is free will do, unless one was chosen.
        let listen =
            if config.is_default("listen") { "127.0.0.1:0" } else { config.text("listen") };
        let opened = serve::open(config, folder, store, caution, listen).await?;
        let (address, words) = (opened.address(), opened.words.clone());
        let chooser = Arc::clone(&opened.chooser);
        let token = own_token(folder)?;
        let (stop, stopped) = oneshot::channel();
        let served = tokio::spawn(opened.serve(async move {
            let _gone = stopped.await;
        }));
        let link = Link::new(&address, &token).map_err(|trouble| trouble.to_string())?;
        let profiles = config.profile_titles();
        Ok(House { link, words, own: Some(Own { chooser, stop, served }), profiles })
    }

    /// Who may answer, where that is for this chat to say.
    fn profiles(&self) -> Option<Profiles> {
        let chooser = Arc::clone(&self.own.as_ref()?.chooser);
        let choose = Box::new(move |name: &str| chooser.choose(name));
        Some(Profiles { offered: self.profiles.clone(), choose })
    }

    async fn close(self) -> Result<(), String> {
        let Some(Own { stop, served, .. }) = self.own else { return Ok(()) };
        let _gone = stop.send(());
        served.await.map_err(|error| error.to_string())?
    }
}

fn own_token(folder: &Path) -> Result<String, String> {
    let token = key::read_token(folder);
    token
        .map(|token| token.reveal().to_owned())
        .ok_or_else(|| format!("no token in {}: give one with --token", folder.display()))
}

/// The conversation that was asked for; none for a new one.
async fn choose(args: &ChatArgs, link: &Link) -> Result<Option<Session>, String> {
    let words = |trouble: Trouble| trouble.to_string();
    if args.continues {
        let newest = link.sessions("", 1).await.map_err(words)?;
        return Ok(newest.into_iter().next());
    }
    match args.resume.as_deref() {
        // Whoever names none chooses in the chat.
        None | Some("") => Ok(None),
        Some(id) => match link.session(id).await {
            Ok(session) => Ok(Some(session)),
            Err(trouble) => Err(format!("no conversation {id}: {trouble}")),
        },
    }
}
