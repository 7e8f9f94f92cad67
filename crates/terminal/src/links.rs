//! Where links lead, and how they are shown, which depends on the terminal.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

/// Schemes that a terminal may be sent to. Others are spelled out.
const SCHEMES: [&str; 3] = ["http://", "https://", "mailto:"];

/// Where a link leads: an address with one of our schemes, in printable ASCII.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link(Arc<str>);

impl Link {
    pub fn parse(url: &str) -> Option<Link> {
        let begins = |scheme: &&str| url.len() > scheme.len() && Link::may_be(url, scheme);
        if !SCHEMES.iter().any(begins) || url.contains([' ', '\t', '\n']) {
            return None;
        }
        let mut out = String::with_capacity(url.len());
        for byte in url.bytes() {
            match byte {
                b'!'..=b'~' => out.push(char::from(byte)),
                // Writing to a string cannot fail.
                _ => drop(write!(out, "%{byte:02X}")),
            }
        }
        Some(Link(out.into()))
    }

    /// A file of our own, which no text could name.
    pub(crate) fn to_file(path: &Path) -> Link {
        let mut out = "file://".to_owned();
        for byte in path.as_os_str().as_encoded_bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                    out.push(char::from(*byte));
                }
                // Writing to a string cannot fail.
                _ => drop(write!(out, "%{byte:02X}")),
            }
        }
        Link(out.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is, or may grow into, an address of a link.
    pub(crate) fn is_begun(url: &str) -> bool {
        SCHEMES.iter().any(|scheme| Link::may_be(url, scheme))
    }

    fn may_be(url: &str, scheme: &str) -> bool {
        let len = scheme.len().min(url.len());
        url.as_bytes()[..len].eq_ignore_ascii_case(&scheme.as_bytes()[..len])
    }
}

/// How a link says where it leads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// Behind its text, for terminals that know OSC 8.
    #[default]
    Behind,
    /// After its text, in parentheses.
    Spelled,
}

/// The first tmux that hands links on.
const TMUX: (u32, u32) = (3, 4);
/// The first VTE that shows links without harm, as it counts its versions.
const VTE: u32 = 5_000;

impl Links {
    /// As the environment tells, which is asked for one variable at a time. A terminal that nobody
    /// knows might swallow the address: it is spelled out.
    pub fn detect(variable: impl Fn(&str) -> Option<String>) -> Links {
        let value = |name: &str| variable(name).unwrap_or_default();
        let program = value("TERM_PROGRAM");
        let known = if program == "tmux" {
            version(&value("TERM_PROGRAM_VERSION")) >= TMUX
        } else if !value("TMUX").is_empty() || !value("STY").is_empty() {
            false
        } else {
            knows_links(&program, &value("TERM"))
                || value("VTE_VERSION").parse().is_ok_and(|version: u32| version >= VTE)
                || ["KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION", "DOMTERM"]
                    .iter()
                    .any(|name| !value(name).is_empty())
        };
        if known { Links::Behind } else { Links::Spelled }
    }
}

fn knows_links(program: &str, term: &str) -> bool {
    const PROGRAMS: [&str; 7] =
        ["iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "rio", "Tabby"];
    const TERMS: [&str; 6] =
        ["xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm", "contour"];
    let is_one_of = |names: &[&str], found: &str| names.iter().any(|name| found.starts_with(name));
    PROGRAMS.contains(&program) || is_one_of(&TERMS, term)
}

/// `3.3a` is 3 and 3; `next-3.5` is 3 and 5.
fn version(text: &str) -> (u32, u32) {
    let mut numbers = text
        .split(|char: char| !char.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .map(|part| part.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(environment: &[(&str, &str)], expected: Links) {
        let find = |name: &str| {
            environment.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        assert_eq!(Links::detect(find), expected, "{environment:?}");
    }

    #[test]
    fn links_are_spelled_out_unless_the_terminal_is_known() {
        check(&[("TERM", "xterm-256color")], Links::Spelled);
        check(&[("TERM", "alacritty")], Links::Behind);
        check(&[("TERM", "xterm-256color"), ("VTE_VERSION", "7600")], Links::Behind);
        check(&[("VTE_VERSION", "4999")], Links::Spelled);
        check(&[("TERM_PROGRAM", "iTerm.app")], Links::Behind);
    }

    #[test]
    fn a_multiplexer_counts_more_than_what_it_runs_in() {
        let tmux =
            |version| [("TERM_PROGRAM", "tmux"), ("TERM_PROGRAM_VERSION", version), ("TMUX", "x")];
        check(&tmux("3.3a"), Links::Spelled);
        check(&tmux("3.4"), Links::Behind);
        check(&tmux("next-3.6"), Links::Behind);
        check(&[("STY", "1"), ("TERM", "alacritty")], Links::Spelled);
    }
}
