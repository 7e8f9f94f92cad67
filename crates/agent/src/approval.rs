//! Answers to approval asks, and safe display of what is approved.

/// A valid answer to an approval ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalAnswer {
    /// Allow this call.
    Allow,
    /// Allow this call and the tool for the rest of the session.
    Always,
    /// Deny, with an optional reason.
    Deny(Option<String>),
}

/// Parses `allow`, `always`, `deny`, or `deny: why`.
pub fn parse_answer(answer: &str) -> Option<ApprovalAnswer> {
    match answer.trim() {
        "allow" => Some(ApprovalAnswer::Allow),
        "always" => Some(ApprovalAnswer::Always),
        "deny" => Some(ApprovalAnswer::Deny(None)),
        other => {
            let reason = other.strip_prefix("deny:")?.trim();
            Some(ApprovalAnswer::Deny((!reason.is_empty()).then(|| reason.to_owned())))
        }
    }
}

/// Escapes invisible and direction-changing characters, so that nothing is hidden in the text.
pub fn escape_invisible_chars(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if is_invisible(c) {
            escaped.extend(c.escape_unicode());
        } else {
            escaped.push(c);
        }
    }
    escaped
}

/// True if the character is invisible, changes direction, or looks like another blank.
fn is_invisible(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}'
        // Whitespace that looks like an ASCII space.
        | '\u{a0}'
        | '\u{1680}'
        | '\u{2000}'..='\u{200a}'
        | '\u{202f}'
        | '\u{205f}'
        | '\u{3000}' => true,
        _ => c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hides_in_what_a_person_approves() {
        assert_eq!(escape_invisible_chars("rm -rf \u{202e}txt.exe"), "rm -rf \\u{202e}txt.exe");
        assert_eq!(
            escape_invisible_chars("a\u{200b}b\u{7f}\r\n\tc Łódź 池"),
            "a\\u{200b}b\\u{7f}\\u{d}\n\tc Łódź 池"
        );
    }

    #[test]
    fn only_an_option_is_an_answer() {
        assert_eq!(parse_answer("allow"), Some(ApprovalAnswer::Allow));
        assert_eq!(parse_answer("always"), Some(ApprovalAnswer::Always));
        assert_eq!(
            parse_answer("deny: not that file"),
            Some(ApprovalAnswer::Deny(Some("not that file".to_owned())))
        );
        assert_eq!(parse_answer("deny:"), Some(ApprovalAnswer::Deny(None)));
        for other in ["", "yes", "ALLOW", "allow it", "allow\nalways"] {
            assert_eq!(parse_answer(other), None, "{other}");
        }
    }
}
