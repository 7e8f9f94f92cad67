//! Terminal features that change the output, and their detection.

use crate::graphics::GraphicsProtocol;
use crate::style::{Colour, Style};

/// How settled rows are inserted above the live region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertMethod {
    /// By scrolling the rows above in a scroll region.
    ScrollRegion,
    /// By rewriting everything below, for terminals that lose rows scrolled out of a region.
    Newlines,
}

/// Treatment of long rows when a terminal becomes narrower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reflow {
    Wraps,
    Truncates,
}

/// Use of colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Palette {
    Colours,
    /// `NO_COLOR`: attributes only.
    NoColour,
}

impl Palette {
    pub(super) fn apply_to(self, style: Style) -> Style {
        match self {
            Palette::Colours => style,
            Palette::NoColour => Style { colour: Colour::Default, ..style },
        }
    }
}

/// Features of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalFeatures {
    pub insert_method: InsertMethod,
    pub reflow: Reflow,
    pub palette: Palette,
    pub graphics: Option<GraphicsProtocol>,
}

impl Default for TerminalFeatures {
    fn default() -> TerminalFeatures {
        TerminalFeatures {
            insert_method: InsertMethod::ScrollRegion,
            reflow: Reflow::Wraps,
            palette: Palette::Colours,
            graphics: None,
        }
    }
}

impl TerminalFeatures {
    /// Detects features from environment variables.
    pub fn detect(variable: impl Fn(&str) -> Option<String>) -> TerminalFeatures {
        let set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
        let term = variable("TERM").unwrap_or_default();
        let wraps = set("TMUX") || !is_known_to_truncate(&term) || set("VTE_VERSION");
        let loses_rows = set("WT_SESSION") || set("ZELLIJ");
        TerminalFeatures {
            insert_method: if loses_rows {
                InsertMethod::Newlines
            } else {
                InsertMethod::ScrollRegion
            },
            reflow: if wraps { Reflow::Wraps } else { Reflow::Truncates },
            palette: if set("NO_COLOR") { Palette::NoColour } else { Palette::Colours },
            graphics: GraphicsProtocol::detect(variable),
        }
    }
}

/// Returns true for terminals that truncate. `xterm-256color` proves nothing: most terminals
/// claim it, and most wrap.
fn is_known_to_truncate(term: &str) -> bool {
    matches!(term, "xterm" | "linux") || term == "screen" || term.starts_with("screen.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(environment: &[(&str, &str)], expected: (InsertMethod, Reflow, Palette)) {
        let find = |name: &str| {
            environment.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        let TerminalFeatures { insert_method: insertion, reflow, palette, .. } =
            TerminalFeatures::detect(find);
        assert_eq!((insertion, reflow, palette), expected, "{environment:?}");
    }

    #[test]
    fn terminals_are_known_by_their_environment() {
        let usual = (InsertMethod::ScrollRegion, Reflow::Wraps, Palette::Colours);
        check(&[("TERM", "xterm-256color")], usual);
        check(&[("TERM", "screen"), ("TMUX", "x")], usual);
        check(
            &[("TERM", "linux")],
            (InsertMethod::ScrollRegion, Reflow::Truncates, Palette::Colours),
        );
        check(&[("WT_SESSION", "x")], (InsertMethod::Newlines, Reflow::Wraps, Palette::Colours));
        check(&[("NO_COLOR", "1")], (InsertMethod::ScrollRegion, Reflow::Wraps, Palette::NoColour));
        check(&[("NO_COLOR", "")], usual);
    }
}
