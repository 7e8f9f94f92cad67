//! The gateway, wired to this machine: its files, its signals, its clock.

pub(crate) mod key;
mod tls;

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use agent::chooser::Chooser;
use agent::heartbeat::keep_beating;
use agent::profile::Profile;
use agent::rounds::Caution;
use gateway::access::Allowed;
use gateway::agent::Agent;
use gateway::clock::now_ms;
use gateway::gateway::Gateway;
use gateway::limits::CONNECTIONS_MAX;
use gateway::site::Site;
use gateway::store::sqlite::{Durability, Retention, SqliteStore};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::args::{LoginArgs, ServeArgs};
use crate::config::Config;
use crate::show::say;

pub(crate) fn run(args: &ServeArgs) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&format!("cannot start: {error}")),
    };
    match runtime.block_on(serve(args)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => fail(&problem),
    }
}

fn fail(problem: &str) -> ExitCode {
    say(problem);
    ExitCode::FAILURE
}

/// The folder of the log: as configured, else where the platform keeps such things.
pub(crate) fn data_folder(config: &Config) -> Result<PathBuf, String> {
    match config.text("data") {
        "" => directories::ProjectDirs::from("", "", "millpond")
            .map(|folders| folders.data_dir().to_owned())
            .ok_or_else(|| "this user has no home folder: say where with --data".to_owned()),
        folder => Ok(PathBuf::from(folder)),
    }
}

pub(crate) fn open_store(config: &Config, folder: &Path) -> Result<SqliteStore, String> {
    let durability = match config.text("durability") {
        "full" => Durability::Full,
        _ => Durability::Window,
    };
    SqliteStore::open(folder, durability).map_err(|error| error.to_string())
}

async fn serve(args: &ServeArgs) -> Result<(), String> {
    let config = args.config.load()?;
    begin_log(&config);
    let folder = data_folder(&config)?;
    let store = open_store(&config, &folder)?;
    let caution = if args.yolo { Caution::Yolo } else { Caution::Ask };
    let opened = open(&config, &folder, store, caution, config.text("listen")).await?;
    opened.words.iter().for_each(|words| say(words));
    let address = opened.address();
    // Before it says that it listens: whoever hears that may ask it to stop.
    let stop = stopped()?;
    say(&format!("listening on {address}"));
    if std::io::stderr().is_terminal() {
        say(&format!("open {address}{}", opened.link));
    } else {
        // Standard error is kept somewhere, then: nothing that lets anybody in may get there.
        say("a browser comes in by the link that `millpond login` prints");
    }
    if !opened.socket.ip().is_loopback() && opened.tls.is_none() {
        say("warning: anybody on the network can listen in; give a certificate, or use 127.0.0.1");
    }
    allow_many_files();
    opened.serve(stop).await
}

/// A gateway that listens, and is not served yet.
pub(crate) struct Opened {
    gateway: Arc<Gateway>,
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    socket: SocketAddr,
    /// A path that lets a browser in, once.
    pub(crate) link: String,
    /// What a person is to know of it.
    pub(crate) words: Vec<String>,
    /// Lets another profile answer.
    pub(crate) chooser: Arc<Chooser>,
}

pub(crate) async fn open(
    config: &Config,
    folder: &Path,
    store: SqliteStore,
    caution: Caution,
    listen: &str,
) -> Result<Opened, String> {
    let store = Arc::new(store);
    let listener = TcpListener::bind(listen)
        .await
        .map_err(|error| format!("cannot listen on {listen}: {error}"))?;
    let socket = listener.local_addr().map_err(|error| error.to_string())?;
    let tls = match config.text("certificate") {
        "" => None,
        certificate => Some(tls::acceptor(Path::new(certificate), Path::new(config.text("key")))?),
    };
    let (port, secure) = (socket.port(), tls.is_some());
    keep_address(folder, socket, secure);
    let allowed = Allowed::new(port, secure, &config.texts("hosts"), &config.texts("origins"));
    let Worker { chooser, profile, words } = agent(config, folder, caution)?;
    let agent: Arc<dyn Agent> = Arc::clone(&chooser) as Arc<dyn Agent>;
    let mut gateway = Gateway::open(Arc::clone(&store), allowed, secure, Some(agent))
        .await
        .map_err(|error| error.to_string())?;
    gateway.view = profile.view().map_err(|error| error.to_string())?;
    gateway.site = site();
    let gateway = Arc::new(gateway);
    tokio::spawn(sweep_now_and_then(store, Arc::clone(&gateway), retention(config)));
    let (owner, link) = key::first_link(&gateway, folder).await?;
    for heartbeat in profile.heartbeats().map_err(|error| error.to_string())? {
        tokio::spawn(keep_beating(Arc::clone(&gateway), owner, heartbeat));
    }
    Ok(Opened { gateway, listener, tls, socket, link, words, chooser })
}

/// Where other processes of this user find the gateway that has the folder.
pub(crate) fn address_file(folder: &Path) -> PathBuf {
    folder.join("address")
}

fn keep_address(folder: &Path, socket: SocketAddr, secure: bool) {
    let scheme = if secure { "https" } else { "http" };
    if let Err(error) = std::fs::write(address_file(folder), format!("{scheme}://{socket}\n")) {
        tracing::warn!(%error, "other processes must be told where this gateway is");
    }
}

impl Opened {
    pub(crate) fn address(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.socket)
    }

    /// Serves until it is to stop.
    pub(crate) async fn serve(self, stop: impl Future<Output = ()>) -> Result<(), String> {
        let served = gateway::serve::serve(self.gateway, self.listener, self.tls, stop).await;
        // What the agents have started goes with them.
        let _late = tokio::time::timeout(Duration::from_secs(2), agent::process::all_ended()).await;
        served.map_err(|error| error.to_string())
    }
}

/// The web chat, where this binary has it.
fn site() -> Site {
    #[allow(unused_mut, reason = "empty without the web chat")]
    let mut site = Site::default();
    #[cfg(feature = "web")]
    for web::File { path, bytes, gzip, brotli } in web::FILES {
        site.add(path, bytes, *gzip, *brotli);
    }
    site
}

/// Whoever works on messages, and what a person is to know of them.
struct Worker {
    chooser: Arc<Chooser>,
    profile: Profile,
    words: Vec<String>,
}

/// Whoever works on messages here, as the profile says.
fn agent(config: &Config, data: &Path, caution: Caution) -> Result<Worker, String> {
    let (name, profile) = match config.profile().map_err(|error| error.to_string())? {
        Some((name, profile)) => (format!("profile {name}"), profile),
        None => ("no profile".to_owned(), Profile::default()),
    };
    let (beside, data) = (config.beside().to_owned(), data.to_owned());
    let hire = move |profile: &Profile| {
        let agent = profile.agent(&beside, &data, caution, |name: &str| std::env::var(name).ok());
        agent.map_err(|error| error.to_string())
    };
    let agent = hire(&profile).map_err(|error| format!("{name}: {error}"))?;
    let profiles = config.clone();
    let chooser = Chooser::new(agent, move |name| {
        hire(&profiles.profile_named(name).map_err(|error| error.to_string())?)
    });
    let comma = if profile.is_demo() { "," } else { "" };
    let mut words = vec![format!("{name}: {}{comma} answers", profile.title())];
    if caution == Caution::Yolo {
        words.push("warning: --yolo: tools run, and nobody is asked".to_owned());
    }
    Ok(Worker { chooser: Arc::new(chooser), profile, words })
}

/// Each connection is an open file, and most shells allow a thousand. As many as the gateway takes
/// are asked for, and some for its own; the system gives what this user may have.
fn allow_many_files() {
    let wanted = u64::try_from(CONNECTIONS_MAX + 1024).unwrap_or(u64::MAX);
    if let Err(error) = rlimit::increase_nofile_limit(wanted) {
        tracing::warn!(%error, "the limit of open files stays as it is");
    }
}

/// Lines on standard error. Nothing that lets anybody in, and nothing anybody wrote, is in them.
fn begin_log(config: &Config) {
    let level = config.text("log").parse().unwrap_or(tracing::Level::INFO);
    let log = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_max_level(level);
    if config.text("log_format") == "json" {
        log.json().flatten_event(true).init();
    } else {
        log.init();
    }
}

fn retention(config: &Config) -> Retention {
    let some = |number: u64| (0 < number).then_some(number);
    Retention {
        max_age: some(config.number("keep_days")).map(|days| Duration::from_secs(days * 86_400)),
        max_bytes: some(config.number("keep_megabytes")).map(|size| size << 20),
    }
}

const SWEEP_EVERY: Duration = Duration::from_secs(10);

/// Removes what was deleted and what is too old.
async fn sweep_now_and_then(store: Arc<SqliteStore>, gateway: Arc<Gateway>, retention: Retention) {
    loop {
        tokio::time::sleep(SWEEP_EVERY).await;
        let (store, gateway) = (Arc::clone(&store), Arc::clone(&gateway));
        let sweep = move || store.sweep(now_ms(), retention, |session| gateway.erased(session));
        if let Ok(Err(error)) = tokio::task::spawn_blocking(sweep).await {
            // What could not be removed now is removed another time.
            tracing::warn!(%error, "not all could be removed that should be");
        }
    }
}

/// Asks the gateway that is running here for a link, and prints it.
pub(crate) fn login(args: &LoginArgs) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&format!("cannot start: {error}")),
    };
    match runtime.block_on(ask_for_link(args)) {
        Ok(link) => crate::print(format!("{link}\n").as_bytes()),
        Err(problem) => fail(&problem),
    }
}

#[derive(serde::Deserialize)]
struct Link {
    path: String,
}

async fn ask_for_link(args: &LoginArgs) -> Result<String, String> {
    let config = args.config.load()?;
    let folder = data_folder(&config)?;
    let token = key::read_token(&folder)
        .ok_or_else(|| format!("no token in {}: start `millpond serve` once", folder.display()))?;
    let scheme = if config.text("certificate").is_empty() { "http" } else { "https" };
    let base = format!("{scheme}://{}", config.text("listen"));
    let away = |error| format!("no gateway answers at {base}: {error}");
    let answer = reqwest::Client::new()
        .post(format!("{base}/v1/login-link"))
        .bearer_auth(token.reveal())
        .send()
        .await
        .and_then(reqwest::Response::error_for_status)
        .map_err(away)?;
    let link: Link = answer.json().await.map_err(|error| error.to_string())?;
    Ok(format!("{base}{}", link.path))
}

/// Done when the process is asked to end. It listens for that from now on.
fn stopped() -> Result<impl Future<Output = ()>, String> {
    use tokio::signal::unix::{SignalKind, signal};
    let listen = |kind| signal(kind).map_err(|error| format!("cannot hear signals: {error}"));
    let mut interrupted = listen(SignalKind::interrupt())?;
    let mut terminated = listen(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! { _ = interrupted.recv() => {}, _ = terminated.recv() => {} }
    })
}
