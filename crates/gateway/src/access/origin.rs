//! Allowed hosts and origins.
//!
//! A page of another site can make a browser send requests here, and DNS rebinding can make such a
//! page look like ours. Both are refused by the headers that the browser sets itself: `Host`,
//! `Origin` and `Sec-Fetch-Site`.

use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri, header};

/// Header for which a request is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RejectedHeader {
    Host,
    Origin,
}

/// Scheme of the gateway's URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    Http,
    /// HTTP over TLS.
    Https,
}

impl Scheme {
    /// Name of the scheme, as in URLs.
    pub fn as_str(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }

    /// Port that URLs of this scheme omit.
    pub fn default_port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }
}

/// Hosts and origins that may use the gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginPolicy {
    /// `host:port` and `host`, lower case.
    hosts: Vec<String>,
    /// `scheme://host:port`, lower case.
    origins: Vec<String>,
}

impl OriginPolicy {
    /// Allows the loopback names at `port`, and `more_hosts`, each a name or `name:port`.
    pub fn new(
        port: u16,
        scheme: Scheme,
        more_hosts: &[String],
        more_origins: &[String],
    ) -> OriginPolicy {
        let default_port = scheme.default_port();
        let scheme = scheme.as_str();
        let (with_port, names): (Vec<_>, Vec<_>) =
            more_hosts.iter().partition(|host| has_port(host));
        // A proxy on the scheme's default port is addressed without a port.
        let mut hosts: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
        let mut origins: Vec<String> = Vec::new();
        for host in with_port {
            let host = host.to_lowercase();
            origins.push(format!("{scheme}://{host}"));
            hosts.push(host);
        }
        let loopback = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned);
        for name in loopback.iter().chain(names) {
            let name = name.to_lowercase();
            origins.push(format!("{scheme}://{name}:{port}"));
            hosts.push(format!("{name}:{port}"));
            if port == default_port {
                origins.push(format!("{scheme}://{name}"));
                hosts.push(name);
            }
        }
        let mut allowed = OriginPolicy { hosts, origins };
        for origin in more_origins {
            allowed.allow_origin(origin);
        }
        allowed
    }

    /// Allows pages of another origin.
    pub fn allow_origin(&mut self, origin: &str) {
        self.origins.push(origin.to_lowercase());
    }

    /// All allowed origins.
    pub fn origins(&self) -> impl Iterator<Item = &str> {
        self.origins.iter().map(String::as_str)
    }

    /// Checks `Host`, `Origin` and `Sec-Fetch-Site` of a request.
    pub fn check_request(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), RejectedHeader> {
        let mut host_headers = headers.get_all(header::HOST).iter();
        let host = host_headers.next().map(|host| host.to_str().unwrap_or_default());
        // HTTP/2 and proxy requests carry the host in the URI.
        let authority = uri.authority().map(Authority::as_str);
        let is_allowed =
            |host: &str| self.hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(host));
        let mut requested_hosts = host.into_iter().chain(authority).peekable();
        if requested_hosts.peek().is_none()
            || !requested_hosts.all(is_allowed)
            || host_headers.next().is_some()
        {
            return Err(RejectedHeader::Host);
        }
        for origin in headers.get_all(header::ORIGIN) {
            let is_allowed = origin.to_str().is_ok_and(|origin| {
                self.origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin))
            });
            if !is_allowed {
                return Err(RejectedHeader::Origin);
            }
        }
        // Sent by browsers only. A link from another site is a navigation; it carries no cookie,
        // because ours is `SameSite=Strict`.
        let is_navigation = headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate");
        if has_cross_origin_fetch_site(headers)
            && !is_navigation
            && headers.get(header::ORIGIN).is_none()
        {
            return Err(RejectedHeader::Origin);
        }
        Ok(())
    }
}

/// True if the browser says that the request comes from another origin.
pub fn has_cross_origin_fetch_site(headers: &HeaderMap) -> bool {
    headers.get("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none")
}

fn has_port(host: &str) -> bool {
    host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderName;

    use super::*;

    fn check(headers: &[(&str, &str)]) -> Result<(), RejectedHeader> {
        check_at("/v1/sessions", headers)
    }

    fn check_at(uri: &'static str, headers: &[(&str, &str)]) -> Result<(), RejectedHeader> {
        let more = ["millpond.lan".into(), "127.0.0.1:8080".into()];
        let allowed = OriginPolicy::new(8181, Scheme::Http, &more, &[]);
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name: HeaderName = name.parse().unwrap_or_else(|_| panic!("{name}"));
            map.append(name, value.parse().unwrap_or_else(|_| panic!("{value}")));
        }
        allowed.check_request(&Uri::from_static(uri), &map)
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
            assert_eq!(check(&[("host", host)]), Err(RejectedHeader::Host), "{host}");
        }
        assert_eq!(check(&[]), Err(RejectedHeader::Host));
        let duplicate_hosts = [("host", "localhost:8181"), ("host", "localhost:8181")];
        assert_eq!(check(&duplicate_hosts), Err(RejectedHeader::Host));
    }

    #[test]
    fn the_host_may_stand_in_the_uri_and_is_looked_at_there() {
        assert_eq!(check_at("https://localhost:8181/healthz", &[]), Ok(()));
        assert_eq!(check_at("https://evil.com:8181/healthz", &[]), Err(RejectedHeader::Host));
        let own_host = [("host", "localhost:8181")];
        assert_eq!(check_at("https://127.0.0.1:8181/healthz", &own_host), Ok(()));
        assert_eq!(check_at("https://evil.com:8181/healthz", &own_host), Err(RejectedHeader::Host));
        assert_eq!(
            check_at("https://localhost:8181/healthz", &[("host", "evil.com")]),
            Err(RejectedHeader::Host)
        );
    }

    #[test]
    fn only_our_own_pages_may_ask() {
        let from = |origin| check(&[("host", "localhost:8181"), ("origin", origin)]);
        assert_eq!(from("http://localhost:8181"), Ok(()));
        assert_eq!(from("http://127.0.0.1:8181"), Ok(()));
        assert_eq!(from("http://127.0.0.1:8080"), Ok(()));
        assert_eq!(
            from("http://millpond.lan"),
            Err(RejectedHeader::Origin),
            "`origins` says which"
        );
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
            assert_eq!(from(origin), Err(RejectedHeader::Origin), "{origin}");
        }
    }

    #[test]
    fn what_a_browser_calls_cross_site_is_refused_without_an_origin_too() {
        let check_with = |site, mode| {
            check(&[("host", "localhost:8181"), ("sec-fetch-site", site), ("sec-fetch-mode", mode)])
        };
        assert_eq!(check_with("cross-site", "no-cors"), Err(RejectedHeader::Origin));
        assert_eq!(check_with("same-site", "no-cors"), Err(RejectedHeader::Origin));
        assert_eq!(check_with("same-origin", "cors"), Ok(()));
        assert_eq!(check_with("none", "navigate"), Ok(()));
        assert_eq!(check_with("cross-site", "navigate"), Ok(()), "a link to us");
    }
}
