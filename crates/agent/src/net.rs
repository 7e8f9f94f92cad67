//! Clients for models and MCP servers: proxies as the environment says (`HTTPS_PROXY` and its like),
//! certificates of the system and, where a profile names more, those.

use reqwest::redirect::{Attempt, Policy};
use reqwest::{Certificate, ClientBuilder};

pub fn client(authorities: &[Certificate]) -> ClientBuilder {
    let builder = reqwest::Client::builder().redirect(Policy::custom(within_the_host));
    authorities
        .iter()
        .fold(builder, |builder, authority| builder.add_root_certificate(authority.clone()))
}

/// Keys and texts go where they were meant to go, and nowhere else.
fn within_the_host(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    const REDIRECTS_MAX: usize = 5;
    let place = |url: &reqwest::Url| {
        (url.scheme().to_owned(), url.host_str().map(str::to_owned), url.port_or_known_default())
    };
    let first = attempt.previous().first().map(place);
    let is_within = first == Some(place(attempt.url()));
    if is_within && attempt.previous().len() <= REDIRECTS_MAX {
        attempt.follow()
    } else {
        attempt.stop()
    }
}
