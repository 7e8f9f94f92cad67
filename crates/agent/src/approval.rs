//! What a person sees before allowing something, and what they may answer.

/// An answer that is one of the options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    Allow,
    /// Now, and this tool from now on in this session.
    Always,
    Deny(Option<String>),
}

/// `allow`, `always`, `deny`, or `deny: why`.
pub fn read(answer: &str) -> Option<Said> {
    match answer.trim() {
        "allow" => Some(Said::Allow),
        "always" => Some(Said::Always),
        "deny" => Some(Said::Deny(None)),
        other => {
            let reason = other.strip_prefix("deny:")?.trim();
            Some(Said::Deny((!reason.is_empty()).then(|| reason.to_owned())))
        }
    }
}

/// A text in which nothing can hide: what has no shape of its own, or turns the writing round, is
/// shown by its number.
pub fn exactly(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if hides(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

fn hides(c: char) -> bool {
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
        // White space that looks like another.
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
        assert_eq!(exactly("rm -rf \u{202e}txt.exe"), "rm -rf \\u{202e}txt.exe");
        assert_eq!(
            exactly("a\u{200b}b\u{7f}\r\n\tc Łódź 池"),
            "a\\u{200b}b\\u{7f}\\u{d}\n\tc Łódź 池"
        );
    }

    #[test]
    fn only_an_option_is_an_answer() {
        assert_eq!(read("allow"), Some(Said::Allow));
        assert_eq!(read("always"), Some(Said::Always));
        assert_eq!(read("deny: not that file"), Some(Said::Deny(Some("not that file".to_owned()))));
        assert_eq!(read("deny:"), Some(Said::Deny(None)));
        for other in ["", "yes", "ALLOW", "allow it", "allow\nalways"] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
