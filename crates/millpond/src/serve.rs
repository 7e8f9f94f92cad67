//! `millpond serve`: opens the gateway with this machine's files, listener,
//! signals and clock, and serves it until a stop signal.

pub(crate) mod owner_token;
mod retention;
mod tls;

use std::io::IsTerminal;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use millpond_agent::agent_loop::ApprovalMode;
use millpond_agent::heartbeat::run_schedule_until_stopped;
use millpond_agent::profile::Profile;
use millpond_agent::switchable_agent::SwitchableAgent;
use millpond_gateway::access::{OriginPolicy, Scheme};
use millpond_gateway::gateway::Gateway;
use millpond_gateway::limits::CONNECTIONS_MAX;
use millpond_gateway::site::Site;
use millpond_log::agent::Agent;
use millpond_log::store::sqlite::SqliteStore;
use millpond_log::stream_debug::StreamDebug;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_rustls::TlsAcceptor;

use crate::args::ServeArgs;
use crate::command::{build_multi_thread_runtime, print_error_and_return_failure};
use crate::local_gateway::address_file_path;
use crate::settings::{ListenAddress, LogFormat, Settings};
use crate::show::print_to_stderr;
use crate::stream_debug::DebugTarget;

/// Runs `millpond serve`.
pub(crate) fn run(args: &ServeArgs) -> ExitCode {
    let served = build_multi_thread_runtime()
        .and_then(|runtime| runtime.block_on(serve_until_stopped(args)));
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => print_error_and_return_failure(&problem),
    }
}

/// Opens the gateway, prints how to reach it, and serves until SIGINT or SIGTERM.
async fn serve_until_stopped(args: &ServeArgs) -> Result<(), String> {
    let settings = args.config.load_settings()?;
    init_logging(&settings);
    let folder = settings.data_folder()?;
    let store =
        SqliteStore::open(&folder, settings.durability.value).map_err(|error| error.to_string())?;
    let caution = if args.yolo { ApprovalMode::Yolo } else { ApprovalMode::Ask };
    let opened =
        bind_and_open_gateway(&settings, &folder, store, caution, &settings.listen.value).await?;
    let debug = DebugTarget::standard_error_if_on(&args.stream_debug)
        .turn_on(opened.stream_debug(), &folder)?;
    opened.notices.iter().chain(&debug).for_each(|words| print_to_stderr(words));
    let address = opened.bound_url();
    // Before "listening" is printed: a parent process may send a stop signal right after it.
    let stop = listen_for_signals(&STOP_SIGNALS)?;
    print_to_stderr(&format!("listening on {address}"));
    if opened.gateway.site.is_empty() {
        print_to_stderr("this build has no web chat: to add it, install Node and build again");
    } else if std::io::stderr().is_terminal() {
        print_to_stderr(&format!("open {address}{}", opened.login_path));
    } else {
        // Standard error may go to a log file, which must not contain credentials.
        print_to_stderr("to open the web chat, run `millpond login`");
    }
    if !opened.local_address.ip().is_loopback() && opened.tls.is_none() {
        print_to_stderr(
            "warning: connections are not encrypted; use --certificate, or listen on 127.0.0.1",
        );
    }
    try_raise_open_file_limit();
    opened.serve_until(stop).await
}

/// Gateway with an open listener, not yet served.
pub(crate) struct ListeningGateway {
    gateway: Arc<Gateway>,
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    scheme: Scheme,
    /// URL for clients on this machine.
    pub(crate) client_url: String,
    local_address: SocketAddr,
    /// Path that signs a browser in, valid once.
    pub(crate) login_path: String,
    /// Messages to print at the start: the agent in use, warnings.
    pub(crate) notices: Vec<String>,
    /// Switches to another profile.
    pub(crate) chooser: Arc<SwitchableAgent>,
}

/// Says why the gateway cannot listen, and what to do.
fn listen_error_text(listen: &ListenAddress, error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::AddrInUse => format!(
            "cannot listen on {listen}: another program uses this port; choose another one with \
             --listen"
        ),
        _ => format!("cannot listen on {listen}: {error}"),
    }
}

/// Binds the listener, writes the address file, opens the gateway with its agent, and starts its
/// sweep and heartbeat tasks.
pub(crate) async fn bind_and_open_gateway(
    settings: &Settings,
    folder: &Path,
    store: SqliteStore,
    caution: ApprovalMode,
    listen: &ListenAddress,
) -> Result<ListeningGateway, String> {
    let store = Arc::new(store);
    let listener = TcpListener::bind(listen.to_string())
        .await
        .map_err(|error| listen_error_text(listen, &error))?;
    let socket = listener.local_addr().map_err(|error| error.to_string())?;
    let tls = settings
        .tls_files()
        .map(|files| tls::load_tls_acceptor(files.certificate, files.key))
        .transpose()?;
    let scheme = if tls.is_some() { Scheme::Https } else { Scheme::Http };
    let client_url = build_client_url(scheme, listen, socket);
    try_write_address_file(folder, &client_url);
    let (hosts, origins) = (&settings.hosts.value, &settings.origins.value);
    let allowed = OriginPolicy::new(socket.port(), scheme, hosts, origins);
    let ConfiguredAgent { chooser, profile, notices: words } =
        build_configured_agent(settings, folder, caution)?;
    let agent: Arc<dyn Agent> = Arc::clone(&chooser) as Arc<dyn Agent>;
    let mut gateway =
        Gateway::open_and_recover_runs(Arc::clone(&store), allowed, scheme, Some(agent))
            .await
            .map_err(|error| error.to_string())?;
    gateway.default_view = profile.parse_default_view().map_err(|error| error.to_string())?;
    gateway.site = embedded_site();
    let gateway = Arc::new(gateway);
    tokio::spawn(retention::erase_expired_sessions_periodically(
        store,
        Arc::clone(&gateway),
        settings.retention(),
    ));
    let (owner, link) = owner_token::ensure_owner_token_and_issue_login(&gateway, folder).await?;
    for heartbeat in profile.parse_heartbeats().map_err(|error| error.to_string())? {
        tokio::spawn(run_schedule_until_stopped(Arc::clone(&gateway.scheduler), owner, heartbeat));
    }
    Ok(ListeningGateway {
        gateway,
        listener,
        tls,
        scheme,
        client_url,
        local_address: socket,
        login_path: link,
        notices: words,
        chooser,
    })
}

/// URL at which processes of this machine reach the gateway. A host name stays, because a
/// certificate may be for it; an unspecified address becomes the loopback address.
fn build_client_url(scheme: Scheme, listen: &ListenAddress, socket: SocketAddr) -> String {
    let port = socket.port();
    let bare_host = listen.host.trim_start_matches('[').trim_end_matches(']');
    let host = match (bare_host.parse::<IpAddr>(), socket.ip()) {
        (Err(_), _) => listen.host.clone(),
        (Ok(_), IpAddr::V4(ip)) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.to_string(),
        (Ok(_), IpAddr::V6(ip)) if ip.is_unspecified() => format!("[{}]", Ipv6Addr::LOCALHOST),
        (Ok(_), IpAddr::V4(ip)) => ip.to_string(),
        (Ok(_), IpAddr::V6(ip)) => format!("[{ip}]"),
    };
    format!("{}://{host}:{port}", scheme.as_str())
}

/// Writes the gateway's URL to the address file.
fn try_write_address_file(folder: &Path, url: &str) {
    if let Err(error) = std::fs::write(address_file_path(folder), format!("{url}\n")) {
        tracing::warn!(%error, "cannot write the address file; other processes need --url");
    }
}

impl ListeningGateway {
    /// URL of the address that the listener is bound to.
    pub(crate) fn bound_url(&self) -> String {
        format!("{}://{}", self.scheme.as_str(), self.local_address)
    }

    /// Debug log of the gateway's streams.
    pub(crate) fn stream_debug(&self) -> &StreamDebug {
        self.gateway.log.stream_debug()
    }

    /// Serves until `stop` resolves, then waits briefly for the agents' processes to end.
    pub(crate) async fn serve_until(self, stop: impl Future<Output = ()>) -> Result<(), String> {
        let served = millpond_gateway::serve::serve_and_shut_down(
            self.gateway,
            self.listener,
            self.tls,
            stop,
        )
        .await;
        // Agents end their child processes; give them time to.
        let _late = tokio::time::timeout(
            Duration::from_secs(2),
            millpond_agent::process::wait_for_dropped_groups(),
        )
        .await;
        served.map_err(|error| error.to_string())
    }
}

/// Files of the web chat; empty if this binary was built without it.
fn embedded_site() -> Site {
    #[allow(unused_mut, reason = "empty without the web chat")]
    let mut site = Site::default();
    #[cfg(feature = "web")]
    for millpond_web::File { path, bytes, gzip, brotli } in millpond_web::FILES {
        site.add_file(path, *bytes, *gzip, *brotli);
    }
    site
}

/// Printed at the start if there is no profile.
const NO_MODEL: &str =
    "No model configured: using the built-in demo. Run `millpond init` to set one up";

/// Agent of the active profile, and messages to print about it.
struct ConfiguredAgent {
    chooser: Arc<SwitchableAgent>,
    profile: Profile,
    notices: Vec<String>,
}

/// Builds the agent of the active profile, or the demo, and a chooser that can switch profiles.
fn build_configured_agent(
    settings: &Settings,
    data: &Path,
    caution: ApprovalMode,
) -> Result<ConfiguredAgent, String> {
    let (name, profile, notice) = match settings
        .active_profile()
        .map_err(|error| error.to_string())?
    {
        Some((name, profile)) => {
            let title =
                if profile.is_demo() { "built-in demo".to_owned() } else { profile.display_name() };
            (format!("profile {name}"), profile, format!("using profile {name} ({title})"))
        }
        None => ("no profile".to_owned(), Profile::default(), NO_MODEL.to_owned()),
    };
    let (beside, data) = (settings.settings_file_folder().to_owned(), data.to_owned());
    let build_agent = move |profile: &Profile| {
        let agent = profile.read_files_and_build_agent(&beside, &data, caution, |name: &str| {
            std::env::var(name).ok()
        });
        agent.map_err(|error| error.to_string())
    };
    let agent = build_agent(&profile).map_err(|error| format!("{name}: {error}"))?;
    let profiles = settings.clone();
    let chooser = SwitchableAgent::new(agent, move |name| {
        build_agent(&profiles.parse_profile_named(name).map_err(|error| error.to_string())?)
    });
    let mut words = vec![notice];
    if caution == ApprovalMode::Yolo {
        words.push("warning: --yolo skips all approvals".to_owned());
    }
    Ok(ConfiguredAgent { chooser: Arc::new(chooser), profile, notices: words })
}

/// Raises the limit on open files as far as this user may, up to what the gateway needs. Each
/// connection is an open file, and most shells allow about a thousand.
fn try_raise_open_file_limit() {
    let wanted = u64::try_from(CONNECTIONS_MAX + 1024).unwrap_or(u64::MAX);
    if let Err(error) = rlimit::increase_nofile_limit(wanted) {
        tracing::warn!(%error, "cannot raise the open file limit");
    }
}

/// Starts logging to standard error. Log lines contain no credentials and no message text.
fn init_logging(settings: &Settings) {
    let log = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_max_level(settings.log.value);
    match settings.log_format.value {
        LogFormat::Json => log.json().flatten_event(true).init(),
        LogFormat::Text => log.init(),
    }
}

/// Signals that stop a gateway. SIGHUP is not one of them: `nohup` ignores it.
const STOP_SIGNALS: [SignalKind; 2] = [SignalKind::interrupt(), SignalKind::terminate()];

/// Registers handlers for the signals at once; the future resolves at the first signal.
pub(crate) fn listen_for_signals(kinds: &[SignalKind]) -> Result<impl Future<Output = ()>, String> {
    let listeners: Result<Vec<_>, _> = kinds.iter().map(|&kind| signal(kind)).collect();
    let mut listeners = listeners.map_err(|error| format!("cannot listen for signals: {error}"))?;
    Ok(std::future::poll_fn(move |context| {
        let is_received = listeners.iter_mut().any(|signals| signals.poll_recv(context).is_ready());
        if is_received { Poll::Ready(()) } else { Poll::Pending }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_told_a_host_they_can_connect_to() {
        for (host, socket, expected) in [
            ("127.0.0.1", "127.0.0.1:81", "https://127.0.0.1:81"),
            ("0.0.0.0", "0.0.0.0:81", "https://127.0.0.1:81"),
            ("[::]", "[::]:81", "https://[::1]:81"),
            ("[::1]", "[::1]:81", "https://[::1]:81"),
            ("chat.example", "192.0.2.7:81", "https://chat.example:81"),
        ] {
            let listen = ListenAddress { host: host.to_owned(), port: 0 };
            let socket = socket.parse().unwrap_or_else(|error| panic!("{socket}: {error}"));
            assert_eq!(build_client_url(Scheme::Https, &listen, socket), expected);
        }
    }
}
