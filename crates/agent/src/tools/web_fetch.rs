//! Fetches a web page as text, from public addresses only.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use futures_util::StreamExt;
use reqwest::header::{CONTENT_TYPE, LOCATION};
use reqwest::{Client, Url};
use serde::Deserialize;

use super::ToolCallError;
use crate::limits::FETCHED_BYTES_MAX;

/// A prepared fetch.
#[derive(Clone, Debug)]
pub struct WebFetch {
    /// URL to fetch.
    pub url: Url,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FetchArguments {
    url: String,
}

const REDIRECTS_MAX: usize = 5;
const FETCH_TIMEOUT: Duration = Duration::from_secs(30);
/// Characters in a line of text.
const LINE_WIDTH: usize = 100;

impl WebFetch {
    pub(super) fn prepare(arguments: &FetchArguments) -> Result<WebFetch, ToolCallError> {
        let url: Url = arguments
            .url
            .parse()
            .map_err(|error| ToolCallError(format!("Invalid URL `{}`: {error}.", arguments.url)))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(ToolCallError::new("Only http and https URLs can be fetched."));
        }
        Ok(WebFetch { url })
    }

    /// Fetches the page within the timeout.
    pub(super) async fn run(self) -> Result<String, ToolCallError> {
        tokio::time::timeout(FETCH_TIMEOUT, self.fetch_following_redirects()).await.unwrap_or_else(
            |_| Err(ToolCallError(format!("Timed out after {} s.", FETCH_TIMEOUT.as_secs()))),
        )
    }

    /// Fetches the page and follows redirects.
    async fn fetch_following_redirects(self) -> Result<String, ToolCallError> {
        let mut url = self.url;
        for _ in 0..REDIRECTS_MAX {
            let answer = get_from_public_address(&url).await?;
            let location = answer.headers().get(LOCATION).and_then(|value| value.to_str().ok());
            match location.filter(|_| answer.status().is_redirection()) {
                None => return read_body_as_text(answer).await,
                Some(location) => {
                    url = url
                        .join(location)
                        .map_err(|_| ToolCallError::new("It redirects to an invalid URL."))?;
                }
            }
        }
        Err(ToolCallError::new("Too many redirects."))
    }
}

/// Sends one request, only to resolved addresses that are public.
async fn get_from_public_address(url: &Url) -> Result<reqwest::Response, ToolCallError> {
    let to_error = |error: &dyn std::fmt::Display| ToolCallError(format!("{url}: {error}."));
    let host = url.host_str().ok_or_else(|| ToolCallError::new("The URL has no host."))?;
    let port = url.port_or_known_default().unwrap_or(443);
    let bare_host = host.trim_start_matches('[').trim_end_matches(']');
    let resolved =
        tokio::net::lookup_host((bare_host, port)).await.map_err(|error| to_error(&error))?;
    let public: Vec<SocketAddr> =
        resolved.filter(|address| is_public_address(address.ip())).collect();
    if public.is_empty() {
        return Err(ToolCallError(format!("{host} is not a public address.")));
    }
    let client = Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .resolve_to_addrs(host, &public)
        .build()
        .map_err(|error| to_error(&error))?;
    client.get(url.clone()).send().await.map_err(|error| to_error(&error.without_url()))
}

/// True if an address is public, not of this machine or its network.
fn is_public_address(address: IpAddr) -> bool {
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
                // Azure's metadata address.
                || v4.octets() == [168, 63, 129, 16])
        }
        // Public unicast is 2000::/3, without 6to4 and Teredo, which embed IPv4 addresses.
        IpAddr::V6(v6) => {
            let [a, b, ..] = v6.segments();
            match v6.to_ipv4_mapped() {
                Some(v4) => is_public_address(IpAddr::V4(v4)),
                None => a & 0xe000 == 0x2000 && a != 0x2002 && !(a == 0x2001 && b < 0x200),
            }
        }
    }
}

/// Reads the body; converts HTML to text.
async fn read_body_as_text(answer: reqwest::Response) -> Result<String, ToolCallError> {
    let status = answer.status();
    if !status.is_success() {
        return Err(ToolCallError(format!("The server answered {status}.")));
    }
    let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_html = kind.is_some_and(|kind| kind.contains("html"));
    let mut bytes = Vec::new();
    let mut chunks = answer.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| ToolCallError(format!("{}.", error.without_url())))?;
        bytes.extend_from_slice(&chunk);
        if FETCHED_BYTES_MAX < bytes.len() {
            return Err(ToolCallError(format!(
                "The page is longer than {FETCHED_BYTES_MAX} bytes."
            )));
        }
    }
    if !is_html {
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    if HTML_BYTES_MAX < bytes.len() || OPEN_FORMAT_TAGS_MAX < max_open_format_tags(&bytes) {
        return Err(ToolCallError::new("The page is too large or too complex."));
    }
    let reading = tokio::task::spawn_blocking(move || html2text::from_read(&*bytes, LINE_WIDTH));
    match reading.await {
        Ok(Ok(text)) => Ok(text),
        Ok(Err(error)) => Err(ToolCallError(format!("Cannot read the page: {error}."))),
        Err(_) => Err(ToolCallError::new("Cannot read the page.")),
    }
}

/// Bytes of HTML that are converted to text.
const HTML_BYTES_MAX: usize = 2 << 20;
/// Format elements like `<b>` open at once: the parser reopens all of them in each paragraph.
const OPEN_FORMAT_TAGS_MAX: usize = 200;

/// Largest number of format elements open at once.
fn max_open_format_tags(html: &[u8]) -> usize {
    const NAMES: [&str; 14] = [
        "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt",
        "u",
    ];
    let (mut open_count, mut max_open) = (0_usize, 0);
    for tag in html.split(|byte| *byte == b'<').skip(1) {
        let (is_closing, tag) = match tag.strip_prefix(b"/") {
            Some(rest) => (true, rest),
            None => (false, tag),
        };
        let name = tag.split(|byte| !byte.is_ascii_alphanumeric()).next().unwrap_or(b"");
        if NAMES.iter().any(|format_name| name.eq_ignore_ascii_case(format_name.as_bytes())) {
            open_count = if is_closing { open_count.saturating_sub(1) } else { open_count + 1 };
            max_open = max_open.max(open_count);
        }
    }
    max_open
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_would_be_slow_to_read_is_known() {
        let opened =
            (0..1000).fold(String::new(), |page, n| page + "<i id=" + &n.to_string() + ">");
        assert_eq!(max_open_format_tags(opened.as_bytes()), 1000);
        assert_eq!(max_open_format_tags(b"<p><b>x</b><A href=x>y</A> <img><br></p>"), 1);
    }

    #[test]
    fn only_the_open_net_is_open() {
        for (address, is_public) in [
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
                is_public_address(address.parse().unwrap_or_else(|_| panic!("{address}"))),
                is_public,
                "{address}"
            );
        }
    }
}
