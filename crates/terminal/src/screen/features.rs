//! What a terminal can do, as far as it changes what is written to it.

use crate::graphics::Graphics;
use crate::style::{Colour, Style};

/// How settled rows get above the live region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Insertion {
    /// By scrolling the rows above it.
    ScrollRegion,
    /// By writing everything below them again: for terminals that lose what scrolls out of a region.
    Newlines,
}

/// What a terminal does with long rows when it gets narrower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reflow {
    Wraps,
    Cuts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Palette {
    Colours,
    /// `NO_COLOR`: attributes only.
    Plain,
}

impl Palette {
    pub(super) fn of(self, style: Style) -> Style {
        match self {
            Palette::Colours => style,
            Palette::Plain => Style { colour: Colour::Default, ..style },
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    pub insertion: Insertion,
    pub reflow: Reflow,
    pub palette: Palette,
    pub graphics: Option<Graphics>,
}

impl Default for Features {
    fn default() -> Features {
        Features {
            insertion: Insertion::ScrollRegion,
            reflow: Reflow::Wraps,
            palette: Palette::Colours,
            graphics: None,
        }
    }
}

impl Features {
    /// As the environment tells, which is asked for one variable at a time.
    pub fn detect(variable: impl Fn(&str) -> Option<String>) -> Features {
        let set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
        let term = variable("TERM").unwrap_or_default();
        let wraps = set("TMUX") || !is_known_to_cut(&term) || set("VTE_VERSION");
        let loses_rows = set("WT_SESSION") || set("ZELLIJ");
        Features {
            insertion: if loses_rows { Insertion::Newlines } else { Insertion::ScrollRegion },
            reflow: if wraps { Reflow::Wraps } else { Reflow::Cuts },
            palette: if set("NO_COLOR") { Palette::Plain } else { Palette::Colours },
            graphics: Graphics::detect(variable),
        }
    }
}

/// `TERM=xterm-256color` says nothing: most terminals claim it, and most wrap.
fn is_known_to_cut(term: &str) -> bool {
    matches!(term, "xterm" | "linux") || term == "screen" || term.starts_with("screen.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(environment: &[(&str, &str)], expected: (Insertion, Reflow, Palette)) {
        let find = |name: &str| {
            environment.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        let Features { insertion, reflow, palette, .. } = Features::detect(find);
        assert_eq!((insertion, reflow, palette), expected, "{environment:?}");
    }

    #[test]
    fn terminals_are_known_by_their_environment() {
        let usual = (Insertion::ScrollRegion, Reflow::Wraps, Palette::Colours);
        check(&[("TERM", "xterm-256color")], usual);
        check(&[("TERM", "screen"), ("TMUX", "x")], usual);
        check(&[("TERM", "linux")], (Insertion::ScrollRegion, Reflow::Cuts, Palette::Colours));
        check(&[("WT_SESSION", "x")], (Insertion::Newlines, Reflow::Wraps, Palette::Colours));
        check(&[("NO_COLOR", "1")], (Insertion::ScrollRegion, Reflow::Wraps, Palette::Plain));
        check(&[("NO_COLOR", "")], usual);
    }
}
