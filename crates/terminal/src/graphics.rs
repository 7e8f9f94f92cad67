//! How a terminal draws pictures, if it does.

mod art;

pub use art::{Art, Unshown};

/// What a terminal understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Graphics {
    Kitty,
    Iterm2,
    Sixel,
}

/// Pixels of one character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellSize {
    pub width: u32,
    pub height: u32,
}

impl CellSize {
    /// Where the terminal does not say: only proportions depend on it.
    const USUAL: CellSize = CellSize { width: 10, height: 20 };

    /// As the terminal tells, if it does.
    fn told() -> Option<CellSize> {
        let window = crossterm::terminal::window_size().ok()?;
        let width = u32::from(window.width).checked_div(u32::from(window.columns))?;
        let height = u32::from(window.height).checked_div(u32::from(window.rows))?;
        (0 < width && 0 < height).then_some(CellSize { width, height })
    }
}

impl Graphics {
    /// As the environment tells, which is asked for one variable at a time. What sits between us and
    /// the terminal swallows pictures, or lets them stand where they do not belong.
    pub fn detect(variable: impl Fn(&str) -> Option<String>) -> Option<Graphics> {
        let value = |name: &str| variable(name).unwrap_or_default();
        let set = |name: &str| !value(name).is_empty();
        if ["TMUX", "STY", "ZELLIJ"].into_iter().any(set) {
            return None;
        }
        match (value("TERM_PROGRAM").as_str(), value("TERM").as_str()) {
            ("ghostty", _) | (_, "xterm-kitty" | "xterm-ghostty") => Some(Graphics::Kitty),
            ("iTerm.app" | "WezTerm" | "mintty" | "rio", _) => Some(Graphics::Iterm2),
            (_, "foot" | "foot-extra" | "mlterm" | "contour") => Some(Graphics::Sixel),
            // What was started from such a terminal has these too, and a name of its own.
            ("", _) if set("KITTY_WINDOW_ID") || set("KONSOLE_VERSION") => Some(Graphics::Kitty),
            _ => None,
        }
    }

    /// How large a character is, where pictures can be drawn at all: sixels are pixels, and would
    /// cover what they should not if nobody knew.
    pub fn cell_size(self) -> Option<CellSize> {
        match self {
            Graphics::Kitty | Graphics::Iterm2 => Some(CellSize::told().unwrap_or(CellSize::USUAL)),
            Graphics::Sixel => CellSize::told(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(environment: &[(&str, &str)], expected: Option<Graphics>) {
        let find = |name: &str| {
            environment.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        assert_eq!(Graphics::detect(find), expected, "{environment:?}");
    }

    #[test]
    fn terminals_that_draw_are_known_by_their_environment() {
        check(&[("TERM", "xterm-256color")], None);
        check(&[("TERM", "xterm-kitty")], Some(Graphics::Kitty));
        check(&[("TERM", "xterm-kitty"), ("TMUX", "x")], None);
        check(&[("TERM_PROGRAM", "WezTerm")], Some(Graphics::Iterm2));
        check(&[("TERM", "foot")], Some(Graphics::Sixel));
        check(&[("TERM_PROGRAM", "vscode"), ("KITTY_WINDOW_ID", "1")], None);
        check(&[("TERM", "xterm-256color"), ("KONSOLE_VERSION", "230400")], Some(Graphics::Kitty));
    }
}
