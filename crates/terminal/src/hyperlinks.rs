//! Hyperlinks in rows, and detection of OSC 8 support.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

/// Schemes that may be linked. Other addresses are shown as text.
const LINK_SCHEMES: [&str; 3] = ["http://", "https://", "mailto:"];

/// A hyperlink's address: an allowed scheme, in printable ASCII.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hyperlink(Arc<str>);

impl Hyperlink {
    /// Accepts an address with an allowed scheme; other bytes are percent-encoded.
    pub fn parse(url: &str) -> Option<Hyperlink> {
        let begins = |scheme: &&str| {
            url.len() > scheme.len() && Hyperlink::matches_scheme_so_far(url, scheme)
        };
        if !LINK_SCHEMES.iter().any(begins) || url.contains([' ', '\t', '\n']) {
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
        Some(Hyperlink(out.into()))
    }

    /// Returns a `file:` link, which `parse` never accepts: only our own files are linked.
    pub(crate) fn for_file(path: &Path) -> Hyperlink {
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
        Hyperlink(out.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true if the text is, or may grow into, a link's address.
    pub(crate) fn may_become_link(url: &str) -> bool {
        LINK_SCHEMES.iter().any(|scheme| Hyperlink::matches_scheme_so_far(url, scheme))
    }

    fn matches_scheme_so_far(url: &str, scheme: &str) -> bool {
        let len = scheme.len().min(url.len());
        url.as_bytes()[..len].eq_ignore_ascii_case(&scheme.as_bytes()[..len])
    }
}

/// How the address of a hyperlink is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HyperlinkMode {
    /// As an OSC 8 hyperlink on the text.
    #[default]
    Osc8,
    /// In parentheses after the text.
    SpelledOut,
}

/// First tmux version that passes OSC 8 on.
const TMUX_VERSION_MIN: (u32, u32) = (3, 4);
/// First VTE version with safe OSC 8 support.
const VTE_VERSION_MIN: u32 = 5_000;

impl HyperlinkMode {
    /// Detects OSC 8 support from environment variables. An unknown terminal might swallow the
    /// address, so it is spelled out there.
    pub fn detect(variable: impl Fn(&str) -> Option<String>) -> HyperlinkMode {
        let value = |name: &str| variable(name).unwrap_or_default();
        let program = value("TERM_PROGRAM");
        let known = if program == "tmux" {
            parse_version(&value("TERM_PROGRAM_VERSION")) >= TMUX_VERSION_MIN
        } else if !value("TMUX").is_empty() || !value("STY").is_empty() {
            false
        } else {
            supports_osc8(&program, &value("TERM"))
                || value("VTE_VERSION").parse().is_ok_and(|version: u32| version >= VTE_VERSION_MIN)
                || ["KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION", "DOMTERM"]
                    .iter()
                    .any(|name| !value(name).is_empty())
        };
        if known { HyperlinkMode::Osc8 } else { HyperlinkMode::SpelledOut }
    }
}

fn supports_osc8(program: &str, term: &str) -> bool {
    const PROGRAMS: [&str; 7] =
        ["iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "rio", "Tabby"];
    const TERMS: [&str; 6] =
        ["xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm", "contour"];
    let is_one_of = |names: &[&str], found: &str| names.iter().any(|name| found.starts_with(name));
    PROGRAMS.contains(&program) || is_one_of(&TERMS, term)
}

/// Parses major and minor: `3.3a` is (3, 3), `next-3.5` is (3, 5).
fn parse_version(text: &str) -> (u32, u32) {
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
    fn check(environment: &[(&str, &str)], expected: HyperlinkMode) {
        let find = |name: &str| {
            environment.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        assert_eq!(HyperlinkMode::detect(find), expected, "{environment:?}");
    }

    #[test]
    fn links_are_spelled_out_unless_the_terminal_is_known() {
        check(&[("TERM", "xterm-256color")], HyperlinkMode::SpelledOut);
        check(&[("TERM", "alacritty")], HyperlinkMode::Osc8);
        check(&[("TERM", "xterm-256color"), ("VTE_VERSION", "7600")], HyperlinkMode::Osc8);
        check(&[("VTE_VERSION", "4999")], HyperlinkMode::SpelledOut);
        check(&[("TERM_PROGRAM", "iTerm.app")], HyperlinkMode::Osc8);
    }

    #[test]
    fn a_multiplexer_counts_more_than_what_it_runs_in() {
        let tmux =
            |version| [("TERM_PROGRAM", "tmux"), ("TERM_PROGRAM_VERSION", version), ("TMUX", "x")];
        check(&tmux("3.3a"), HyperlinkMode::SpelledOut);
        check(&tmux("3.4"), HyperlinkMode::Osc8);
        check(&tmux("next-3.6"), HyperlinkMode::Osc8);
        check(&[("STY", "1"), ("TERM", "alacritty")], HyperlinkMode::SpelledOut);
    }
}
