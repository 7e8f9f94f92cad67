//! Fetching a page, from the open net only, as text.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use futures_util::StreamExt;
use reqwest::header::{CONTENT_TYPE, LOCATION};
use reqwest::{Client, Url};
use serde::Deserialize;

use super::BadCall;
use crate::limits::PAGE_BYTES_MAX;

#[derive(Clone, Debug)]
pub struct Fetch {
    pub url: Url,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FetchArguments {
    url: String,
}

const HOPS_MAX: usize = 5;
const FETCH_TIME: Duration = Duration::from_secs(30);
/// Characters in a line of text.
const LINE_WIDTH: usize = 100;

impl Fetch {
    pub(super) fn prepare(given: &FetchArguments) -> Result<Fetch, BadCall> {
        let url: Url = given
            .url
            .parse()
            .map_err(|error| BadCall(format!("`{}` is no address: {error}.", given.url)))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(BadCall::new("Only http and https can be fetched."));
        }
        Ok(Fetch { url })
    }

    pub(super) async fn run(self) -> Result<String, BadCall> {
        tokio::time::timeout(FETCH_TIME, self.follow()).await.unwrap_or_else(|_| {
            Err(BadCall(format!("Nothing came within {} s.", FETCH_TIME.as_secs())))
        })
    }

    async fn follow(self) -> Result<String, BadCall> {
        let mut url = self.url;
        for _ in 0..HOPS_MAX {
            let answer = get(&url).await?;
            let next = answer.headers().get(LOCATION).and_then(|next| next.to_str().ok());
            match next.filter(|_| answer.status().is_redirection()) {
                None => return read(answer).await,
                Some(next) => {
                    url = url
                        .join(next)
                        .map_err(|_| BadCall::new("It leads to something that is no address."))?;
                }
            }
        }
        Err(BadCall::new("It leads from page to page."))
    }
}

/// One request, to addresses that were looked at before.
async fn get(url: &Url) -> Result<reqwest::Response, BadCall> {
    let wrong = |error: &dyn std::fmt::Display| BadCall(format!("{url}: {error}."));
    let host = url.host_str().ok_or_else(|| BadCall::new("It names no host."))?;
    let port = url.port_or_known_default().unwrap_or(443);
    let plain = host.trim_start_matches('[').trim_end_matches(']');
    let found = tokio::net::lookup_host((plain, port)).await.map_err(|error| wrong(&error))?;
    let open: Vec<SocketAddr> = found.filter(|address| is_open(address.ip())).collect();
    if open.is_empty() {
        return Err(BadCall(format!("{host} is no place of the open net.")));
    }
    let client = Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .resolve_to_addrs(host, &open)
        .build()
        .map_err(|error| wrong(&error))?;
    client.get(url.clone()).send().await.map_err(|error| wrong(&error.without_url()))
}

/// Whether an address is one that everybody can reach, and not one of this machine or its network.
fn is_open(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            let [a, b, c, _] = v4.octets();
            !(v4.is_private()
                || v4.is_loopback()
                || v4.is_link_local()
                || v4.is_unspecified()
                || v4.is_broadcast()
                || v4.is_multicast()
                || a == 0
                || 240 <= a
                || (a == 100 && (64..128).contains(&b))
                || (a == 192 && b == 0 && c == 0)
                || (a == 198 && (18..20).contains(&b))
                // Where a cloud answers its own machines.
                || v4.octets() == [168, 63, 129, 16])
        }
        // All that is given out to anybody begins so; some of it leads back to addresses of the other
        // kind.
        IpAddr::V6(v6) => {
            let [a, b, ..] = v6.segments();
            match v6.to_ipv4_mapped() {
                Some(v4) => is_open(IpAddr::V4(v4)),
                None => a & 0xe000 == 0x2000 && a != 0x2002 && !(a == 0x2001 && b < 0x200),
            }
        }
    }
}

async fn read(answer: reqwest::Response) -> Result<String, BadCall> {
    let status = answer.status();
    if !status.is_success() {
        return Err(BadCall(format!("The server answered {status}.")));
    }
    let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_html = kind.is_some_and(|kind| kind.contains("html"));
    let mut bytes = Vec::new();
    let mut pieces = answer.bytes_stream();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|error| BadCall(format!("{}.", error.without_url())))?;
        bytes.extend_from_slice(&piece);
        if PAGE_BYTES_MAX < bytes.len() {
            return Err(BadCall(format!("The page is longer than {PAGE_BYTES_MAX} bytes.")));
        }
    }
    if !is_html {
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    if HTML_BYTES_MAX < bytes.len() || FORMATS_OPEN_MAX < formats_open(&bytes) {
        return Err(BadCall::new("The page is too large, or made to be slow to read."));
    }
    let reading = tokio::task::spawn_blocking(move || html2text::from_read(&*bytes, LINE_WIDTH));
    match reading.await {
        Ok(Ok(text)) => Ok(text),
        Ok(Err(error)) => Err(BadCall(format!("The page cannot be read: {error}."))),
        Err(_) => Err(BadCall::new("The page cannot be read.")),
    }
}

/// Bytes of a page that is turned into text.
const HTML_BYTES_MAX: usize = 2 << 20;
/// Elements like `<b>` that are open at once: a reader opens all of them again in each paragraph.
const FORMATS_OPEN_MAX: usize = 200;

/// The most of such elements that are open at once.
fn formats_open(html: &[u8]) -> usize {
    const NAMES: [&str; 14] = [
        "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt",
        "u",
    ];
    let (mut open, mut most) = (0_usize, 0);
    for tag in html.split(|byte| *byte == b'<').skip(1) {
        let (closes, tag) = match tag.strip_prefix(b"/") {
            Some(rest) => (true, rest),
            None => (false, tag),
        };
        let name = tag.split(|byte| !byte.is_ascii_alphanumeric()).next().unwrap_or(b"");
        if NAMES.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes())) {
            open = if closes { open.saturating_sub(1) } else { open + 1 };
            most = most.max(open);
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_would_be_slow_to_read_is_known() {
        let opened =
            (0..1000).fold(String::new(), |page, n| page + "<i id=" + &n.to_string() + ">");
        assert_eq!(formats_open(opened.as_bytes()), 1000);
        assert_eq!(formats_open(b"<p><b>x</b><A href=x>y</A> <img><br></p>"), 1);
    }

    #[test]
    fn only_the_open_net_is_open() {
        for (address, open) in [
            ("1.1.1.1", true),
            ("127.0.0.1", false),
            ("10.1.2.3", false),
            ("172.16.0.1", false),
            ("192.168.1.1", false),
            ("169.254.169.254", false),
            ("100.64.0.1", false),
            ("0.0.0.0", false),
            ("255.255.255.255", false),
            ("::1", false),
            ("fe80::1", false),
            ("fd00::1", false),
            ("::ffff:127.0.0.1", false),
            ("2606:4700::1111", true),
            ("64:ff9b::a00:1", false),
            ("2002:a00:1::1", false),
            ("::10.0.0.1", false),
            ("fec0::1", false),
            ("198.18.0.1", false),
            ("192.0.0.8", false),
            ("168.63.129.16", false),
        ] {
            assert_eq!(
                is_open(address.parse().unwrap_or_else(|_| panic!("{address}"))),
                open,
                "{address}"
            );
        }
    }
}
