//! Blacking out secrets before anything is written down for others to read.

use std::sync::LazyLock;

use regex::Regex;

const REDACTED: &str = "[redacted]";

/// Whole secrets, known by their shape.
const SHAPES: &[&str] = &[
    r"sk-[A-Za-z0-9_-]{16,}",
    r"AIza[A-Za-z0-9_-]{30,}",
    r"gh[pousr]_[A-Za-z0-9]{20,}",
    r"github_pat_[A-Za-z0-9_]{20,}",
    r"glpat-[A-Za-z0-9_-]{16,}",
    r"xox[abeprs]-[A-Za-z0-9-]{10,}",
    r"(?:AKIA|ASIA)[A-Z0-9]{16}",
    r"hf_[A-Za-z0-9]{20,}",
    r"npm_[A-Za-z0-9]{30,}",
    r"gsk_[A-Za-z0-9]{20,}",
    r"xai-[A-Za-z0-9]{20,}",
    r"eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[^-]|-[^-])*(?:-----END [A-Z ]*PRIVATE KEY-----)?",
];

/// A name that says so, then a secret; only the secret goes.
const NAMED: &[&str] = &[
    r"(?i)(bearer\s+)[A-Za-z0-9._~+/=-]{8,}",
    r"(?i)(basic\s+)[A-Za-z0-9+/=]{8,}",
    r#"(?i)(\\?"(?:api[_-]?key|x-api-key|access[_-]?token|refresh[_-]?token|id[_-]?token|auth[_-]?token|client[_-]?secret|secret|password|passwd|authorization|private[_-]?key)\\?"\s*:\s*\\?")[^"\\]+"#,
    r"(?i)([?&](?:key|api_key|token|access_token|sig|signature)=)[^&\s\x22\\]+",
    r"(?i)((?:api[_-]?key|token|secret|password)=)[^&\s\x22'\\]{6,}",
    r"(://[^/\s:@\x22]+:)[^/\s:@\x22]+@",
];

static SHAPE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(&SHAPES.join("|")).ok());
static NAME: LazyLock<Vec<Regex>> =
    LazyLock::new(|| NAMED.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect());

pub(super) fn redacted(text: &str) -> String {
    let mut text = match &*SHAPE {
        Some(shape) => shape.replace_all(text, REDACTED).into_owned(),
        None => text.to_owned(),
    };
    for named in &*NAME {
        let tail = if named.as_str().ends_with('@') { "@" } else { "" };
        let with = format!("${{1}}{REDACTED}{tail}");
        text = named.replace_all(&text, with.as_str()).into_owned();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(redacted(text), expected);
        assert_eq!(redacted(expected), expected, "a second pass changes nothing");
    }

    #[test]
    fn every_pattern_is_valid() {
        assert!(SHAPE.is_some());
        assert_eq!(NAME.len(), NAMED.len());
    }

    #[test]
    fn keys_go_and_the_rest_stays() {
        check(r#"{"text":"use sk-abcdefghijklmnop1234 now"}"#, r#"{"text":"use [redacted] now"}"#);
        check("Authorization: Bearer abc.def-ghi", "Authorization: Bearer [redacted]");
        check(r#"{"api_key":"hunter2","n":1}"#, r#"{"api_key":"[redacted]","n":1}"#);
        check(r#"{"a":"{\"password\":\"hunter2\"}"}"#, r#"{"a":"{\"password\":\"[redacted]\"}"}"#);
        check("https://x.example/?key=AbC123&y=1", "https://x.example/?key=[redacted]&y=1");
        check("postgres://me:secret@host/db", "postgres://me:[redacted]@host/db");
        check(
            "plain text, a task-list and a risk-free offer",
            "plain text, a task-list and a risk-free offer",
        );
    }
}
