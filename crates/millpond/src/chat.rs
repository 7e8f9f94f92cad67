//! `millpond chat`: the terminal, and the gateway that it talks to.

use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

use agent::rounds::Caution;
use engine::view::ViewName;
use terminal::app::{Left, Setup, run as run_app};
use terminal::input::history::from_lines;
use terminal::link::{Link, Session, Trouble};
use terminal::markdown::Links;
use terminal::screen::Features;
use tokio::sync::oneshot;

use crate::args::ChatArgs;
use crate::config::Config;
use crate::serve::{self, key};
use crate::show::say;

/// Sessions to choose from.
const LISTED_MAX: usize = 20;

pub(crate) fn run(args: &ChatArgs) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&format!("cannot start: {error}")),
    };
    match runtime.block_on(chat(args)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => fail(&problem),
    }
}

fn fail(problem: &str) -> ExitCode {
    say(problem);
    ExitCode::FAILURE
}

async fn chat(args: &ChatArgs) -> Result<(), String> {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Err("a chat needs a terminal; `millpond serve` has one for browsers".to_owned());
    }
    let config = args.config.load()?;
    let folder = serve::data_folder(&config)?;
    let house = House::find(args, &config, &folder).await?;
    let talked = talk(args, &house, &folder).await;
    house.close().await?;
    let Left { session } = talked?;
    if let Some(session) = session {
        say(&format!("`millpond -r {}` goes on with this conversation", session.id));
    }
    Ok(())
}

async fn talk(args: &ChatArgs, house: &House, folder: &Path) -> Result<Left, String> {
    let session = choose(args, &house.link).await?;
    let history_file = folder.join("history.jsonl");
    let history = std::fs::read_to_string(&history_file).unwrap_or_default();
    let variable = |name: &str| std::env::var(name).ok();
    let setup = Setup {
        link: house.link.clone(),
        session,
        view: args.view().unwrap_or(ViewName::Transcript),
        features: Features::detect(variable),
        links: Links::detect(variable),
        folder: std::env::current_dir().map_err(|error| error.to_string())?,
        history: from_lines(&history),
        history_file: Some(history_file),
        greeting: house.words.join("; "),
    };
    run_app(setup).await.map_err(|error| format!("the terminal cannot be used: {error}"))
}

/// The gateway: one that is running, or one of our own for as long as the chat lasts.
struct House {
    link: Link,
    words: Vec<String>,
    own: Option<Own>,
}

struct Own {
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
        Ok(House { link, words: vec![format!("connected to {url}")], own: None })
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
        let token = own_token(folder)?;
        let (stop, stopped) = oneshot::channel();
        let served = tokio::spawn(opened.serve(async move {
            let _gone = stopped.await;
        }));
        let link = Link::new(&address, &token).map_err(|trouble| trouble.to_string())?;
        Ok(House { link, words, own: Some(Own { stop, served }) })
    }

    async fn close(self) -> Result<(), String> {
        let Some(Own { stop, served }) = self.own else { return Ok(()) };
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
        None => Ok(None),
        Some("") => pick(link.sessions("", LISTED_MAX).await.map_err(words)?),
        Some(id) => match link.session(id).await {
            Ok(session) => Ok(Some(session)),
            Err(trouble) => Err(format!("no conversation {id}: {trouble}")),
        },
    }
}

/// Asks which of these; an empty line begins a new one.
fn pick(sessions: Vec<Session>) -> Result<Option<Session>, String> {
    if sessions.is_empty() {
        return Ok(None);
    }
    for (at, session) in sessions.iter().enumerate() {
        let title = if session.title.is_empty() { "(without a title)" } else { &session.title };
        let going = if session.run.is_some() { " (going)" } else { "" };
        say(&format!("{:>3} {title}{going}", at + 1));
    }
    say("which number? Enter alone begins a new conversation");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).map_err(|error| error.to_string())?;
    let line = line.trim();
    if line.is_empty() {
        return Ok(None);
    }
    let number = line.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    number
        .and_then(|at| sessions.into_iter().nth(at))
        .map(Some)
        .ok_or_else(|| format!("`{line}` is none of these numbers"))
}
