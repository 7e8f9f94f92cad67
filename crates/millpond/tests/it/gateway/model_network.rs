//! Connections to a model: through the proxy of the environment, and with a certificate authority
//! of the profile.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;

use super::client::{GatewayClient, is_run_end};
use super::process::{GatewayProcess, temp_home};
use super::tls::make_certificate;

/// Sends a message, waits for the run to end, and returns the page's items as JSON.
async fn send_message_and_fetch_items(process: &GatewayProcess, text: &str) -> String {
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let caller = GatewayClient::for_process(process, &http);
    let session = caller.create_session().await;
    super::agents::post_message(&caller, &session, text).await;
    let mut events = caller.open_stream(&session, "view=latest&format=patch&from=start", "").await;
    events.read_until(is_run_end).await;
    caller.fetch_page(&session).await["items"].to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_called_through_the_proxy_of_the_environment() {
    let home = temp_home();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = format!("http://{}", listener.local_addr().unwrap());
    let proxied = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream);
        let (mut first, mut length) = (String::new(), 0);
        reader.read_line(&mut first).unwrap();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        reader.read_exact(&mut vec![0; length]).unwrap();
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        let body = "data: {\"choices\":[{\"delta\":{\"content\":\"By proxy.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
        reader.get_mut().write_all((head.to_owned() + body).as_bytes()).unwrap();
        first
    });
    let profile =
        "[profiles.far]\nwire = \"chat\"\nmodel = \"m\"\nbase = \"http://model.test/v1\"\n";
    std::fs::write(home.path().join("millpond.toml"), profile).unwrap();
    let first = format!("export HTTP_PROXY={proxy} http_proxy={proxy} NO_PROXY= no_proxy=");
    let process = GatewayProcess::start_after_shell_command(&first, home.path());
    let shown = send_message_and_fetch_items(&process, "hello").await;
    assert!(shown.contains("By proxy."), "{shown}");
    let first = proxied.join().unwrap();
    assert!(first.starts_with("POST http://model.test/v1/chat/completions "), "{first}");
}

/// The model is another gateway, whose demo answers chat completions under TLS.
#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_that_the_profile_trusts_is_trusted() {
    let (far, near) = (temp_home(), temp_home());
    let made = make_certificate(far.path());
    let model = GatewayProcess::start_with_flags(far.path(), &made.flags);
    let port = model.address.rsplit_once(':').unwrap().1;
    let profile = |authorities: &str| {
        let text = format!(
            "[profiles.far]\nwire = \"chat\"\nmodel = \"millpond\"\n{authorities}\n\
             base = \"https://localhost:{port}/v1\"\nkey_file = \"key\"\ntools = []\n"
        );
        std::fs::write(near.path().join("millpond.toml"), text).unwrap();
    };
    let key = near.path().join("key");
    std::fs::write(&key, &model.token).unwrap();
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    profile(&format!("authorities = {:?}", far.path().join("certificate.pem")));
    let mut process = GatewayProcess::start(near.path());
    let shown = send_message_and_fetch_items(&process, "/help").await;
    assert!(shown.contains("demo"), "{shown}");
    process.kill();
    profile("");
    let process = GatewayProcess::start(near.path());
    let shown = send_message_and_fetch_items(&process, "/help").await;
    assert!(!shown.contains("demo"), "without it the connection must fail: {shown}");
}
