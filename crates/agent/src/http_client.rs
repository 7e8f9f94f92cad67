//! HTTP client for models and MCP servers: proxies from the environment (`HTTPS_PROXY` and others),
//! the system's certificates and the profile's.

use reqwest::redirect::{Attempt, Policy};
use reqwest::{Certificate, ClientBuilder};

/// Client builder that trusts `authorities` too and follows redirects only within an origin.
pub fn same_origin_client_builder(authorities: &[Certificate]) -> ClientBuilder {
    let builder = reqwest::Client::builder().redirect(Policy::custom(follow_same_origin_only));
    authorities
        .iter()
        .fold(builder, |builder, authority| builder.add_root_certificate(authority.clone()))
}

/// Follows a redirect only within the same origin, so that keys and prompts are not sent elsewhere.
fn follow_same_origin_only(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    const REDIRECTS_MAX: usize = 5;
    let origin = |url: &reqwest::Url| {
        (url.scheme().to_owned(), url.host_str().map(str::to_owned), url.port_or_known_default())
    };
    let first = attempt.previous().first().map(origin);
    let is_same_origin = first == Some(origin(attempt.url()));
    if is_same_origin && attempt.previous().len() <= REDIRECTS_MAX {
        attempt.follow()
    } else {
        attempt.stop()
    }
}
