//! Syntax highlighting of code, line by line, with the parser state carried over.

use std::sync::OnceLock;

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxSet};

use crate::limits::HIGHLIGHT_LINES_MAX;
use crate::row::Row;
use crate::style::{Attributes, Colour, Style};

/// Loaded when the first block of code needs it.
static SYNTAXES: OnceLock<SyntaxSet> = OnceLock::new();
static SCOPE_STYLES: OnceLock<Vec<(Scope, Style)>> = OnceLock::new();

/// Syntax highlighter for one block of code.
#[derive(Clone, Debug)]
pub(crate) struct Highlighter {
    parse_state: ParseState,
    scopes: ScopeStack,
    lines: usize,
}

impl Highlighter {
    /// Creates a highlighter for a Markdown info string; `None` if the language is unknown.
    pub(crate) fn new(language: &str) -> Option<Highlighter> {
        let token =
            language.split([' ', ',', '{', ':']).next().filter(|token| !token.is_empty())?;
        let syntaxes = SYNTAXES.get_or_init(two_face::syntax::extra_newlines);
        let syntax = syntaxes.find_syntax_by_token(token)?;
        Some(Highlighter {
            parse_state: ParseState::new(syntax),
            scopes: ScopeStack::new(),
            lines: 0,
        })
    }

    /// Appends a whole line, without its line end, highlighted.
    pub(crate) fn push_highlighted_line(&mut self, line: &str, row: &mut Row) {
        self.lines += 1;
        let syntaxes = SYNTAXES.get_or_init(two_face::syntax::extra_newlines);
        if self.lines > HIGHLIGHT_LINES_MAX {
            return row.push(line, Style::PLAIN);
        }
        let Ok(ops) = self.parse_state.parse_line(&format!("{line}\n"), syntaxes) else {
            return row.push(line, Style::PLAIN);
        };
        let mut from = 0;
        for (at, op) in ops {
            let at = at.clamp(from, line.len());
            row.push(&line[from..at], style_for_scopes(&self.scopes));
            from = at;
            // An operation that does not apply leaves the stack unchanged: only colours suffer.
            let _ = self.scopes.apply(&op);
        }
        row.push(&line[from..], style_for_scopes(&self.scopes));
    }
}

fn style_for_scopes(scopes: &ScopeStack) -> Style {
    let rules = SCOPE_STYLES.get_or_init(build_scope_styles);
    let of = |scope: &Scope| rules.iter().find(|(rule, _)| rule.is_prefix_of(*scope));
    scopes.as_slice().iter().rev().find_map(of).map_or(Style::PLAIN, |(_, style)| *style)
}

/// Returns the styles by scope prefix; the first match wins, without one the style is plain.
fn build_scope_styles() -> Vec<(Scope, Style)> {
    let comment = Style::coloured(Colour::BrightBlack);
    let table = [
        ("comment", comment),
        ("punctuation.definition.comment", comment),
        ("string", Style::coloured(Colour::Green)),
        ("punctuation.definition.string", Style::coloured(Colour::Green)),
        ("constant", Style::coloured(Colour::Cyan)),
        ("entity.name.function", Style::coloured(Colour::Blue)),
        ("support.function", Style::coloured(Colour::Blue)),
        ("support.macro", Style::coloured(Colour::Blue)),
        ("entity.name.tag", Style::coloured(Colour::Blue)),
        ("entity.name", Style::coloured(Colour::Yellow)),
        ("support.type", Style::coloured(Colour::Yellow)),
        ("support.class", Style::coloured(Colour::Yellow)),
        ("entity.other.attribute-name", Style::coloured(Colour::Yellow)),
        ("keyword.operator", Style::PLAIN),
        ("keyword", Style::coloured(Colour::Magenta)),
        ("storage", Style::coloured(Colour::Magenta)),
        ("markup.inserted", Style::coloured(Colour::Green)),
        ("markup.deleted", Style::coloured(Colour::Red)),
        ("markup.bold", Style::BOLD),
        ("markup.italic", Style::PLAIN.with_attributes(Attributes::ITALIC)),
        ("meta.diff", Style::coloured(Colour::Cyan)),
    ];
    table.iter().filter_map(|(name, style)| Some((Scope::new(name).ok()?, *style))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn highlighted_spans(language: &str, lines: &[&str]) -> Vec<(String, Colour)> {
        let mut highlighter = Highlighter::new(language).unwrap();
        let mut row = Row::default();
        for line in lines {
            row = Row::default();
            highlighter.push_highlighted_line(line, &mut row);
            assert_eq!(row.text(), *line, "colours never change the text");
        }
        row.spans().map(|(text, style, _)| (text.to_owned(), style.colour)).collect()
    }

    #[test]
    fn colours_follow_the_language() {
        let spans = highlighted_spans("rust", &["let a = \"b\"; // c"]);
        assert!(spans.contains(&("let".to_owned(), Colour::Magenta)), "{spans:?}");
        assert!(spans.contains(&("\"b\"".to_owned(), Colour::Green)), "{spans:?}");
        assert!(spans.contains(&("// c".to_owned(), Colour::BrightBlack)), "{spans:?}");
    }

    #[test]
    fn a_string_that_began_on_an_earlier_line_goes_on() {
        assert_eq!(
            highlighted_spans("python", &["x = \"\"\"", "let a"]),
            [("let a".to_owned(), Colour::Green)]
        );
    }

    #[test]
    fn languages_nobody_knows_have_no_colours() {
        assert!(Highlighter::new("no-such-language").is_none());
        assert!(Highlighter::new("").is_none());
    }
}
