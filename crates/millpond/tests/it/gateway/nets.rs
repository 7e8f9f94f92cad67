//! The way to a model: through a proxy of the environment, and under a certificate that only the
//! profile trusts.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;

use super::client::{Caller, ends};
use super::process::{Process, home};
use super::tls::make;

/// The text that a message is answered with.
async fn answered(process: &Process, text: &str) -> String {
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let caller = Caller::of(process, &http);
    let session = caller.new_session().await;
    super::agents::message(&caller, &session, text).await;
    let mut events = caller.follow(&session, "view=latest&format=patch&from=start", "").await;
    events.until(ends).await;
    caller.page(&session).await["items"].to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_called_through_the_proxy_of_the_environment() {
    let home = home();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = format!("http://{}", listener.local_addr().unwrap());
    let heard = std::thread::spawn(move || {
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
    let process = Process::start_after(&first, home.path());
    let shown = answered(&process, "hello").await;
    assert!(shown.contains("By proxy."), "{shown}");
    let first = heard.join().unwrap();
    assert!(first.starts_with("POST http://model.test/v1/chat/completions "), "{first}");
}

/// The model is another gateway, whose demo answers chat completions under TLS.
#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_that_the_profile_trusts_is_trusted() {
    let (far, near) = (home(), home());
    let made = make(far.path());
    let model = Process::start_with(far.path(), &made.flags);
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
    let mut process = Process::start(near.path());
    let shown = answered(&process, "/help").await;
    assert!(shown.contains("demo"), "{shown}");
    process.kill();
    profile("");
    let process = Process::start(near.path());
    let shown = answered(&process, "/help").await;
    assert!(!shown.contains("demo"), "without it nobody is believed: {shown}");
}
