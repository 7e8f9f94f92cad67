//! `millpond chat`: runs the terminal chat against a running gateway, or against one started in
//! this process.

use std::io::{ErrorKind, IsTerminal, Read};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use millpond_agent::agent_loop::ApprovalMode;
use millpond_agent::switchable_agent::SwitchableAgent;
use millpond_client::GatewayClient;
use millpond_client::sessions::Session;
use millpond_engine::event::Outcome;
use millpond_engine::view::ViewName;
use millpond_log::store::StoreError;
use millpond_log::store::sqlite::SqliteStore;
use millpond_terminal::app::one_shot::{OneShotError, PrintFormat, RunEnd, send_and_print_run};
use millpond_terminal::app::{
    ChatStart, DisplayMode, ExitReport, Profiles, Setup, run_chat as run_app,
};
use millpond_terminal::graphics::GraphicsProtocol;
use millpond_terminal::input::history::decode_entries;
use millpond_terminal::markdown::HyperlinkMode;
use millpond_terminal::screen::TerminalFeatures;
use millpond_terminal::tty::can_draw_on_stdout;
use tokio::sync::oneshot;

use crate::args::{ChatArgs, ImagesArg, PipeOutput};
use crate::command::{build_multi_thread_runtime, print_error_and_return_failure};
use crate::local_gateway::{GatewayTarget, read_token_file};
use crate::serve;
use crate::settings::{ListenAddress, SettingSource, Settings};
use crate::show::print_to_stderr;
use crate::stream_debug::DebugTarget;

/// Largest message read from standard input.
const MESSAGE_BYTES_MAX: u64 = 1_000_000;

/// Runs `millpond chat`.
pub(crate) fn run(args: &ChatArgs) -> ExitCode {
    let runtime = match build_multi_thread_runtime() {
        Ok(runtime) => runtime,
        Err(problem) => return print_error_and_return_failure(&problem),
    };
    let ended = runtime
        .block_on(run_chat(args))
        .unwrap_or_else(|problem| print_error_and_return_failure(&problem));
    // A thread may still block on reading standard input.
    runtime.shutdown_background();
    ended
}

/// Connects to or starts a gateway, then sends standard input or runs the interactive chat.
async fn run_chat(args: &ChatArgs) -> Result<ExitCode, String> {
    let message = match (args.output, std::io::stdin().is_terminal()) {
        (None, true) => None,
        _ => Some(read_message_from_stdin()?),
    };
    let settings = args.config.load_settings()?;
    let folder = settings.data_folder()?;
    let debug = choose_debug_target(args, message.as_deref());
    let gateway = GatewayHandle::connect_or_start(args, &settings, &folder, debug).await?;
    let status = match message {
        Some(message) => send_and_print_reply(args, &gateway, &folder, message).await,
        None => run_interactive_chat(args, &gateway, &folder).await,
    };
    gateway.stop_embedded_and_wait().await?;
    status
}

/// Place for debug lines: a file for the full-screen chat, which standard error would destroy.
fn choose_debug_target(args: &ChatArgs, message: Option<&str>) -> DebugTarget {
    let is_drawn = message.is_none()
        && !args.screen_reader
        && can_draw_on_stdout(|name: &str| std::env::var(name).ok());
    match DebugTarget::standard_error_if_on(&args.stream_debug) {
        DebugTarget::StandardError if is_drawn => DebugTarget::File,
        target => target,
    }
}

/// Reads standard input to its end as one message.
fn read_message_from_stdin() -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(MESSAGE_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("cannot read standard input: {error}"))?;
    if MESSAGE_BYTES_MAX < bytes.len() as u64 {
        return Err(format!("message too long: the limit is {MESSAGE_BYTES_MAX} bytes"));
    }
    let text = String::from_utf8_lossy(&bytes).trim_end().to_owned();
    if text.is_empty() {
        return Err("no message: standard input is empty".to_owned());
    }
    Ok(text)
}

/// Sends one message and prints the reply.
async fn send_and_print_reply(
    args: &ChatArgs,
    gateway: &GatewayHandle,
    folder: &Path,
    message: String,
) -> Result<ExitCode, String> {
    if args.resume.as_deref() == Some("") {
        return Err("no conversation ID: use `millpond -r ID`".to_owned());
    }
    let print = match args.output {
        Some(PipeOutput::Frames) => PrintFormat::Frames,
        Some(PipeOutput::Text) | None => PrintFormat::Text,
    };
    let setup = fetch_session_and_build_setup(args, gateway, folder, ViewName::Latest).await?;
    let answered = send_and_print_run(setup, message, print, print_to_stderr).await;
    let RunEnd { outcome, message: words } = match answered {
        // The reader of standard output has closed it.
        Err(OneShotError::Output(error)) if error.kind() == ErrorKind::BrokenPipe => {
            return Ok(ExitCode::SUCCESS);
        }
        answered => answered.map_err(|trouble| trouble.to_string())?,
    };
    let Some(words) = words else { return Ok(ExitCode::SUCCESS) };
    print_to_stderr(&words);
    Ok(ExitCode::from(if outcome == Outcome::Failed { 1 } else { 3 }))
}

/// Runs the interactive chat, then prints how to resume it.
async fn run_interactive_chat(
    args: &ChatArgs,
    gateway: &GatewayHandle,
    folder: &Path,
) -> Result<ExitCode, String> {
    let setup = fetch_session_and_build_setup(args, gateway, folder, ViewName::Transcript).await?;
    let left = run_app(setup).await;
    let ExitReport { session, panics: broken } =
        left.map_err(|error| format!("cannot use the terminal: {error}"))?;
    if let Some(session) = session {
        print_to_stderr(&format!("to resume this conversation, run `millpond -r {}`", session.id));
    }
    for words in &broken {
        print_to_stderr(words);
    }
    Ok(if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Collects what the terminal chat needs: session, view, terminal features, history, profiles.
async fn fetch_session_and_build_setup(
    args: &ChatArgs,
    gateway: &GatewayHandle,
    folder: &Path,
    default_view: ViewName,
) -> Result<Setup, String> {
    let session = fetch_requested_session(args, &gateway.client).await?;
    let history_file = folder.join("history.jsonl");
    let history = std::fs::read_to_string(&history_file).unwrap_or_default();
    let variable = |name: &str| std::env::var(name).ok();
    let is_drawn = !args.screen_reader && can_draw_on_stdout(variable);
    Ok(Setup {
        client: gateway.client.clone(),
        session,
        start: match args.resume.as_deref() {
            Some("") => ChatStart::SessionMenu,
            Some(_) | None => ChatStart::Conversation,
        },
        view: args.explicit_view().unwrap_or(default_view),
        display: if is_drawn {
            DisplayMode::Screen(detect_terminal_features(args, variable))
        } else {
            DisplayMode::Lines
        },
        hyperlinks: if is_drawn {
            HyperlinkMode::detect(variable)
        } else {
            HyperlinkMode::SpelledOut
        },
        folder: std::env::current_dir().map_err(|error| error.to_string())?,
        history: decode_entries(&history),
        history_file: Some(history_file),
        greeting: gateway.notices.join("; "),
        profiles: gateway.profile_switcher(),
    })
}

/// Detected features of the terminal; `--pictures` overrides the image protocol.
fn detect_terminal_features(
    args: &ChatArgs,
    variable: impl Fn(&str) -> Option<String>,
) -> TerminalFeatures {
    let detected = TerminalFeatures::detect(variable);
    let graphics = match args.pictures {
        ImagesArg::Auto => detected.graphics,
        ImagesArg::Kitty => Some(GraphicsProtocol::Kitty),
        ImagesArg::Iterm2 => Some(GraphicsProtocol::Iterm2),
        ImagesArg::Sixel => Some(GraphicsProtocol::Sixel),
        ImagesArg::None => None,
    };
    TerminalFeatures { graphics, ..detected }
}

/// Client of the gateway that the chat uses: a running one, or one embedded in this process.
struct GatewayHandle {
    client: GatewayClient,
    notices: Vec<String>,
    embedded: Option<EmbeddedGateway>,
    profile_titles: Vec<(String, String)>,
}

/// Gateway served by this process until the chat ends.
struct EmbeddedGateway {
    chooser: Arc<SwitchableAgent>,
    stop: oneshot::Sender<()>,
    serve_task: tokio::task::JoinHandle<Result<(), String>>,
}

impl GatewayHandle {
    /// Connects to `--url` or to the gateway that holds the data folder; else starts one here.
    async fn connect_or_start(
        args: &ChatArgs,
        settings: &Settings,
        folder: &Path,
        debug: DebugTarget,
    ) -> Result<GatewayHandle, String> {
        let (url, token) = (args.url.as_deref(), args.token.as_deref());
        let running = GatewayTarget { folder, url, token };
        if url.is_some() {
            return GatewayHandle::for_running_gateway(args, running, debug);
        }
        match SqliteStore::open(folder, settings.durability.value) {
            Ok(store) => GatewayHandle::start_embedded(args, settings, folder, store, debug).await,
            // Another process of this user holds the log: connect to its gateway.
            Err(StoreError::InUse { .. }) => {
                GatewayHandle::for_running_gateway(args, running, debug)
            }
            Err(error) => Err(error.to_string()),
        }
    }

    /// Uses a running gateway.
    fn for_running_gateway(
        args: &ChatArgs,
        target: GatewayTarget<'_>,
        debug: DebugTarget,
    ) -> Result<GatewayHandle, String> {
        let client = target.resolve_and_build_client()?;
        if args.yolo {
            return Err(format!(
                "--yolo has no effect: the gateway at {} runs already and asks for approvals; \
                 stop it, or leave --yolo out",
                client.base_url()
            ));
        }
        let mut notices = vec![format!("connected to {}", client.base_url())];
        if debug != DebugTarget::Off {
            notices.push("stream debug: on the gateway, if it runs with --stream-debug".to_owned());
        }
        Ok(GatewayHandle { client, notices, embedded: None, profile_titles: Vec::new() })
    }

    /// Starts a gateway in this process and connects to it.
    async fn start_embedded(
        args: &ChatArgs,
        settings: &Settings,
        folder: &Path,
        store: SqliteStore,
        debug: DebugTarget,
    ) -> Result<GatewayHandle, String> {
        let caution = if args.yolo { ApprovalMode::Yolo } else { ApprovalMode::Ask };
        // Any free port, unless one is configured.
        let listen = match settings.listen.source {
            SettingSource::Default => ListenAddress { port: 0, ..settings.listen.value.clone() },
            SettingSource::File(_) | SettingSource::Environment(_) | SettingSource::Flag => {
                settings.listen.value.clone()
            }
        };
        let opened =
            serve::bind_and_open_gateway(settings, folder, store, caution, &listen).await?;
        let (url, mut words) = (opened.client_url.clone(), opened.notices.clone());
        words.extend(debug.turn_on(opened.stream_debug(), folder)?);
        let chooser = Arc::clone(&opened.chooser);
        let token = read_token_file(folder)?;
        let (stop, stopped) = oneshot::channel();
        let served = tokio::spawn(opened.serve_until(async move {
            let _closed = stopped.await;
        }));
        let client = GatewayClient::new(&url, &token).map_err(|error| error.to_string())?;
        let profiles = settings.profile_titles();
        Ok(GatewayHandle {
            client,
            notices: words,
            embedded: Some(EmbeddedGateway { chooser, stop, serve_task: served }),
            profile_titles: profiles,
        })
    }

    /// Profiles to switch between; `None` if the gateway runs in another process.
    fn profile_switcher(&self) -> Option<Profiles> {
        let chooser = Arc::clone(&self.embedded.as_ref()?.chooser);
        let choose = Box::new(move |name: &str| chooser.switch_to_profile(name));
        Some(Profiles { choices: self.profile_titles.clone(), select: choose })
    }

    /// Stops the embedded gateway, if there is one, and waits for it.
    async fn stop_embedded_and_wait(self) -> Result<(), String> {
        let Some(EmbeddedGateway { stop, serve_task: served, .. }) = self.embedded else {
            return Ok(());
        };
        let _closed = stop.send(());
        served.await.map_err(|error| error.to_string())?
    }
}

/// Fetches the session selected with `-c` or `-r ID`; `None` for a new one.
async fn fetch_requested_session(
    args: &ChatArgs,
    client: &GatewayClient,
) -> Result<Option<Session>, String> {
    if args.continue_latest {
        let newest = client.list_sessions("", 1).await.map_err(|error| error.to_string())?;
        return Ok(newest.into_iter().next());
    }
    match args.resume.as_deref() {
        // Without an ID, the chat shows a list to choose from.
        None | Some("") => Ok(None),
        Some(id) => match client.fetch_session(id).await {
            Ok(session) => Ok(Some(session)),
            Err(error) => Err(format!("cannot open conversation {id}: {error}")),
        },
    }
}
