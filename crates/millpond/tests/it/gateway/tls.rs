//! The gateway under TLS, with a certificate made for the test: the same answers in HTTP/1 and in
//! HTTP/2, and none for whoever does not speak it.

use std::path::Path;

use reqwest::{Certificate, Client, ClientBuilder, Method, Version};

use super::client::{Caller, PATCHES, delta, ends, page_of};
use super::process::{Process, home};

pub(super) struct Made {
    certificate: Certificate,
    /// The flags that give it to a gateway.
    pub(super) flags: [String; 4],
}

pub(super) fn make(folder: &Path) -> Made {
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
    let made = rcgen::generate_simple_self_signed(names).unwrap();
    let (certificate, key) = (folder.join("certificate.pem"), folder.join("key.pem"));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let word = |path: &Path| path.to_str().unwrap().to_owned();
    Made {
        certificate: Certificate::from_pem(made.cert.pem().as_bytes()).unwrap(),
        flags: ["--certificate".to_owned(), word(&certificate), "--key".to_owned(), word(&key)],
    }
}

fn client(made: &Made, change: impl FnOnce(ClientBuilder) -> ClientBuilder) -> Client {
    let builder = Client::builder().tls_certs_only([made.certificate.clone()]);
    change(builder).build().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn both_versions_of_http_carry_the_same_stream() {
    let home = home();
    let made = make(home.path());
    let process = Process::start_with(home.path(), &made.flags);
    let caller = |http| Caller {
        http,
        base: format!("https://{}", process.address),
        token: process.token.clone(),
    };
    let first = caller(client(&made, ClientBuilder::http1_only));
    let second = caller(client(&made, |builder| builder));
    for (caller, version) in [(&first, Version::HTTP_11), (&second, Version::HTTP_2)] {
        let answer = caller.request(Method::GET, "/healthz").send().await.unwrap();
        assert_eq!((answer.status().as_u16(), answer.version()), (200, version));
    }
    let session = first.new_session().await;
    let mut live =
        [first.follow(&session, PATCHES, "").await, second.follow(&session, PATCHES, "").await];
    let sending = second.send(&session);
    for word in ["Hello", " under", " TLS"] {
        assert!(sending.piece(delta(word)).await);
    }
    sending.done().await;
    let whole = page_of(&first.follow(&session, PATCHES, "").await.until(ends).await);
    for events in &mut live {
        assert_eq!(page_of(&events.until(ends).await), whole);
    }
    assert!(whole.to_string().contains("Hello under TLS"), "{whole}");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_does_not_speak_tls_gets_nothing() {
    let home = home();
    let made = make(home.path());
    let process = Process::start_with(home.path(), &made.flags);
    let plain = Client::new().get(format!("http://{}/healthz", process.address)).send().await;
    assert!(plain.is_err(), "{plain:?}");
    let (status, said) = process.terminate();
    assert!(status.success(), "{said}");
}
