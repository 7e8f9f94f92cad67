//! The gateway with TLS and a self-signed certificate: same responses over HTTP/1 and HTTP/2, and
//! no plain HTTP.

use std::path::Path;

use reqwest::{Certificate, Client, ClientBuilder, Method, Version};

use super::client::{GatewayClient, PATCHES, apply_patches, is_run_end, text_delta};
use super::process::{GatewayProcess, temp_home};

pub(super) struct TestCertificate {
    certificate: Certificate,
    /// Flags of `millpond serve` that use it.
    pub(super) flags: [String; 4],
}

pub(super) fn make_certificate(folder: &Path) -> TestCertificate {
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
    let made = rcgen::generate_simple_self_signed(names).unwrap();
    let (certificate, key) = (folder.join("certificate.pem"), folder.join("key.pem"));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let word = |path: &Path| path.to_str().unwrap().to_owned();
    TestCertificate {
        certificate: Certificate::from_pem(made.cert.pem().as_bytes()).unwrap(),
        flags: ["--certificate".to_owned(), word(&certificate), "--key".to_owned(), word(&key)],
    }
}

fn tls_client(
    made: &TestCertificate,
    change: impl FnOnce(ClientBuilder) -> ClientBuilder,
) -> Client {
    let builder = Client::builder().tls_certs_only([made.certificate.clone()]);
    change(builder).build().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn both_versions_of_http_carry_the_same_stream() {
    let home = temp_home();
    let made = make_certificate(home.path());
    let process = GatewayProcess::start_with_flags(home.path(), &made.flags);
    let caller = |http| GatewayClient {
        http,
        base: format!("https://{}", process.address),
        token: process.token.clone(),
    };
    let first = caller(tls_client(&made, ClientBuilder::http1_only));
    let second = caller(tls_client(&made, |builder| builder));
    for (caller, version) in [(&first, Version::HTTP_11), (&second, Version::HTTP_2)] {
        let answer = caller.request(Method::GET, "/healthz").send().await.unwrap();
        assert_eq!((answer.status().as_u16(), answer.version()), (200, version));
    }
    let session = first.create_session().await;
    let mut live = [
        first.open_stream(&session, PATCHES, "").await,
        second.open_stream(&session, PATCHES, "").await,
    ];
    let sending = second.start_ingest(&session);
    for word in ["Hello", " under", " TLS"] {
        assert!(sending.send_chunk(text_delta(word)).await);
    }
    sending.finish().await;
    let whole =
        apply_patches(&first.open_stream(&session, PATCHES, "").await.read_until(is_run_end).await);
    for events in &mut live {
        assert_eq!(apply_patches(&events.read_until(is_run_end).await), whole);
    }
    assert!(whole.to_string().contains("Hello under TLS"), "{whole}");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_does_not_speak_tls_gets_nothing() {
    let home = temp_home();
    let made = make_certificate(home.path());
    let process = GatewayProcess::start_with_flags(home.path(), &made.flags);
    let plain = Client::new().get(format!("http://{}/healthz", process.address)).send().await;
    assert!(plain.is_err(), "{plain:?}");
    let (status, log) = process.terminate();
    assert!(status.success(), "{log}");
}
