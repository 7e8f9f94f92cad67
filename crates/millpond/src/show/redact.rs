//! Redacts secrets in recorded text.

use std::sync::LazyLock;

use regex::Regex;

const REDACTED: &str = "[redacted]";

/// Patterns of whole secrets. Each starts at a word boundary.
const SECRET_PATTERNS: &[&str] = &[
    r"\bsk-(?:[A-Za-z]+-)*[A-Za-z0-9_]{16,}[A-Za-z0-9_-]*",
    r"\bAIza[A-Za-z0-9_-]{30,}",
    r"\bgh[pousr]_[A-Za-z0-9]{20,}",
    r"\bgithub_pat_[A-Za-z0-9_]{20,}",
    r"\bglpat-[A-Za-z0-9_-]{16,}",
    r"\bxox[abeprs]-[A-Za-z0-9-]{10,}",
    r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    r"\bhf_[A-Za-z0-9]{20,}",
    r"\bnpm_[A-Za-z0-9]{30,}",
    r"\bgsk_[A-Za-z0-9]{20,}",
    r"\bxai-[A-Za-z0-9]{20,}",
    r"\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}",
    // Base64, escaped line ends and spaces; never a quote or a raw line end, which end the frame.
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[A-Za-z0-9+/=: ,]|\\[nr])+",
];

/// Patterns of a telling name followed by a secret; only the secret is redacted.
const NAMED_SECRET_PATTERNS: &[&str] = &[
    r"(?i)(authorization\S{0,4}\s{0,4}(?:bearer|basic|token)\s+)[A-Za-z0-9._~+/=-]{4,}",
    r"(?i)(\bbearer\s+)[A-Za-z0-9._~+/-]*[0-9._~+/=][A-Za-z0-9._~+/=-]{8,}",
    r#"(?i)(\\?"(?:api[_-]?key|x-api-key|access[_-]?token|refresh[_-]?token|id[_-]?token|auth[_-]?token|client[_-]?secret|secret|password|passwd|authorization|private[_-]?key)\\?"\s*:\s*)(?:\\"(?:\\\\\\"|[^"\\]|\\[^"])*\\"|"(?:[^"\\]|\\.)*")"#,
    r"(?i)([?&](?:key|api_key|token|access_token|sig|signature)=)[^&\s\x22\\]+",
    r"(?i)(\b(?:api[_-]?key|token|secret|password)=)[^&\s\x22'\\]{6,}",
    r"(://[^/\s:@\x22]+:)[^/\s:@\x22]+@",
];

static SECRET_REGEX: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&SECRET_PATTERNS.join("|")).ok());
static NAMED_SECRET_REGEXES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    NAMED_SECRET_PATTERNS.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect()
});

/// Replaces every recognised secret with `[redacted]`.
pub(super) fn redact_secrets(text: &str) -> String {
    let mut text = match &*SECRET_REGEX {
        Some(shape) => shape.replace_all(text, REDACTED).into_owned(),
        None => text.to_owned(),
    };
    for named in &*NAMED_SECRET_REGEXES {
        let replaced = named.replace_all(&text, |found: &regex::Captures<'_>| {
            let name = &found[1];
            let secret = &found[0][name.len()..];
            // Keep the quotes around a secret, so that JSON stays valid.
            let quote = if secret.starts_with("\\\"") {
                "\\\""
            } else if secret.starts_with('"') {
                "\""
            } else {
                ""
            };
            let tail = if secret.ends_with('@') { "@" } else { quote };
            format!("{name}{quote}{REDACTED}{tail}")
        });
        text = replaced.into_owned();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(redact_secrets(text), expected);
        assert_eq!(redact_secrets(expected), expected, "a second pass changes nothing");
    }

    #[test]
    fn every_pattern_is_valid() {
        assert!(SECRET_REGEX.is_some());
        assert_eq!(NAMED_SECRET_REGEXES.len(), NAMED_SECRET_PATTERNS.len());
    }

    #[test]
    fn keys_go_and_the_rest_stays() {
        check(r#"{"text":"use sk-abcdefghijklmnop1234 now"}"#, r#"{"text":"use [redacted] now"}"#);
        check("Authorization: Bearer abc.def-ghi", "Authorization: Bearer [redacted]");
        check("bearer eyab12.cd34-ef56gh", "bearer [redacted]");
        check(r#"{"password":"hun\"ter2secret","n":1}"#, r#"{"password":"[redacted]","n":1}"#);
        check("a -----BEGIN PRIVATE KEY-----\\nMIIabc=\\n-----END", "a [redacted]-----END");
        check(r#"{"api_key":"hunter2","n":1}"#, r#"{"api_key":"[redacted]","n":1}"#);
        check(r#"{"a":"{\"password\":\"hunter2\"}"}"#, r#"{"a":"{\"password\":\"[redacted]\"}"}"#);
        check("https://x.example/?key=AbC123&y=1", "https://x.example/?key=[redacted]&y=1");
        check("postgres://me:secret@host/db", "postgres://me:[redacted]@host/db");
        for prose in [
            "plain text, a task-list and a risk-free offer",
            "A basic understanding of the bearer certificates and task-based-language-teaching.",
            "Look for -----BEGIN PRIVATE KEY-----\"}\n\ndata: {\"lines\":1}",
        ] {
            let kept = redact_secrets(prose);
            assert!(kept == prose || kept.ends_with("\"}\n\ndata: {\"lines\":1}"), "{kept}");
        }
    }
}
