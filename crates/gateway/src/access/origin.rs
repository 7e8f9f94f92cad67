//! Which hosts a request may name, and which pages it may come from.
//!
//! A page of another site can make a browser send requests here, and a name that suddenly means
//! this machine can make such a page look like ours. Both are refused by what the browser itself
//! says: `Host`, `Origin` and `Sec-Fetch-Site`.

use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri, header};

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stranger {
    Host,
    Origin,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// `host:port` and `host`, lower case.
    hosts: Vec<String>,
    /// `scheme://host:port`, lower case.
    origins: Vec<String>,
}

impl Allowed {
    /// What this machine is called from itself, at `port`, and what else was allowed by name, or by
    /// name and port.
    pub fn new(port: u16, tls: bool, more_hosts: &[String], more_origins: &[String]) -> Allowed {
        let scheme = if tls { "https" } else { "http" };
        let default_port = if tls { 443 } else { 80 };
        let (with_port, names): (Vec<_>, Vec<_>) =
            more_hosts.iter().partition(|host| has_port(host));
        // A proxy at a scheme's own port is called by its name alone.
        let mut hosts: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
        let mut origins: Vec<String> = Vec::new();
        for host in with_port {
            let host = host.to_lowercase();
            origins.push(format!("{scheme}://{host}"));
            hosts.push(host);
        }
        let own = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned);
        for name in own.iter().chain(names) {
            let name = name.to_lowercase();
            origins.push(format!("{scheme}://{name}:{port}"));
            hosts.push(format!("{name}:{port}"));
            if port == default_port {
                origins.push(format!("{scheme}://{name}"));
                hosts.push(name);
            }
        }
        let mut allowed = Allowed { hosts, origins };
        for origin in more_origins {
            allowed.allow_origin(origin);
        }
        allowed
    }

    /// Pages from there may use the gateway too.
    pub fn allow_origin(&mut self, origin: &str) {
        self.origins.push(origin.to_lowercase());
    }

    /// Where pages are that may use the gateway.
    pub fn origins(&self) -> impl Iterator<Item = &str> {
        self.origins.iter().map(String::as_str)
    }

    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Stranger> {
        let mut said = headers.get_all(header::HOST).iter();
        let host = said.next().map(|host| host.to_str().unwrap_or_default());
        // HTTP/2 has the host there, and so has a request to a proxy.
        let authority = uri.authority().map(Authority::as_str);
        let known = |host: &str| self.hosts.iter().any(|known| known.eq_ignore_ascii_case(host));
        let mut named = host.into_iter().chain(authority).peekable();
        if named.peek().is_none() || !named.all(known) || said.next().is_some() {
            return Err(Stranger::Host);
        }
        for origin in headers.get_all(header::ORIGIN) {
            let known = origin.to_str().is_ok_and(|origin| {
                self.origins.iter().any(|known| known.eq_ignore_ascii_case(origin))
            });
            if !known {
                return Err(Stranger::Origin);
            }
        }
        // Sent by browsers only. A link that a person follows from elsewhere is a navigation, and
        // carries no cookie of ours, because that is strictly for our own site.
        let navigates = headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate");
        if is_foreign(headers) && !navigates && headers.get(header::ORIGIN).is_none() {
            return Err(Stranger::Origin);
        }
        Ok(())
    }
}

/// Whether a browser says that another site's page, or another port's, asks.
pub fn is_foreign(headers: &HeaderMap) -> bool {
    headers.get("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none")
}

fn has_port(host: &str) -> bool {
    host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderName;

    use super::*;

    fn check(headers: &[(&str, &str)]) -> Result<(), Stranger> {
        check_at("/v1/sessions", headers)
    }

    fn check_at(uri: &'static str, headers: &[(&str, &str)]) -> Result<(), Stranger> {
        let more = ["millpond.lan".into(), "127.0.0.1:8080".into()];
        let allowed = Allowed::new(8181, false, &more, &[]);
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name: HeaderName = name.parse().unwrap_or_else(|_| panic!("{name}"));
            map.append(name, value.parse().unwrap_or_else(|_| panic!("{value}")));
        }
        allowed.check(&Uri::from_static(uri), &map)
    }

    #[test]
    fn only_our_own_names_at_our_port_are_hosts() {
        for host in ["127.0.0.1:8181", "localhost:8181", "LOCALHOST:8181", "[::1]:8181"] {
            assert_eq!(check(&[("host", host)]), Ok(()), "{host}");
        }
        for host in ["millpond.lan:8181", "millpond.lan", "Millpond.lan", "127.0.0.1:8080"] {
            assert_eq!(check(&[("host", host)]), Ok(()), "{host}");
        }
        for host in [
            "evil.com",
            "evil.com:8181",
            "127.0.0.1",
            "127.0.0.1:80",
            "127.0.0.1:8080:8181",
            "millpond.lan:8080",
            "127.0.0.1.nip.io:8181",
            "0.0.0.0:8181",
            "localhost.:8181",
            "localhost:8181.evil.com",
            "user@localhost:8181",
            "",
        ] {
            assert_eq!(check(&[("host", host)]), Err(Stranger::Host), "{host}");
        }
        assert_eq!(check(&[]), Err(Stranger::Host));
        let twice = [("host", "localhost:8181"), ("host", "localhost:8181")];
        assert_eq!(check(&twice), Err(Stranger::Host));
    }

    #[test]
    fn the_host_may_stand_in_the_uri_and_is_looked_at_there() {
        assert_eq!(check_at("https://localhost:8181/healthz", &[]), Ok(()));
        assert_eq!(check_at("https://evil.com:8181/healthz", &[]), Err(Stranger::Host));
        let ours = [("host", "localhost:8181")];
        assert_eq!(check_at("https://127.0.0.1:8181/healthz", &ours), Ok(()));
        assert_eq!(check_at("https://evil.com:8181/healthz", &ours), Err(Stranger::Host));
        assert_eq!(
            check_at("https://localhost:8181/healthz", &[("host", "evil.com")]),
            Err(Stranger::Host)
        );
    }

    #[test]
    fn only_our_own_pages_may_ask() {
        let from = |origin| check(&[("host", "localhost:8181"), ("origin", origin)]);
        assert_eq!(from("http://localhost:8181"), Ok(()));
        assert_eq!(from("http://127.0.0.1:8181"), Ok(()));
        assert_eq!(from("http://127.0.0.1:8080"), Ok(()));
        assert_eq!(from("http://millpond.lan"), Err(Stranger::Origin), "`origins` says which");
        for origin in [
            "null",
            "http://localhost",
            "http://localhost:9999",
            "https://localhost:8181",
            "http://localhost.evil.com:8181",
            "http://evil.localhost:8181",
            "file://",
            "chrome-extension://abc",
            "",
        ] {
            assert_eq!(from(origin), Err(Stranger::Origin), "{origin}");
        }
    }

    #[test]
    fn what_a_browser_calls_cross_site_is_refused_without_an_origin_too() {
        let with = |site, mode| {
            check(&[("host", "localhost:8181"), ("sec-fetch-site", site), ("sec-fetch-mode", mode)])
        };
        assert_eq!(with("cross-site", "no-cors"), Err(Stranger::Origin));
        assert_eq!(with("same-site", "no-cors"), Err(Stranger::Origin));
        assert_eq!(with("same-origin", "cors"), Ok(()));
        assert_eq!(with("none", "navigate"), Ok(()));
        assert_eq!(with("cross-site", "navigate"), Ok(()), "a link to us");
    }
}
