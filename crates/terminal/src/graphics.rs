//! Image protocols of terminals, and their detection.

mod terminal_image;

pub use terminal_image::{EncodeImageError, TerminalImage};

/// Image protocol that a terminal supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphicsProtocol {
    Kitty,
    Iterm2,
    Sixel,
}

/// Pixels of one character cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellSize {
    pub width: u32,
    pub height: u32,
}

impl CellSize {
    /// Used if the terminal does not report its size; only proportions depend on it.
    const DEFAULT: CellSize = CellSize { width: 10, height: 20 };

    /// Asks the terminal; `None` if it does not report pixels.
    fn query_terminal() -> Option<CellSize> {
        let window = crossterm::terminal::window_size().ok()?;
        let width = u32::from(window.width).checked_div(u32::from(window.columns))?;
        let height = u32::from(window.height).checked_div(u32::from(window.rows))?;
        (0 < width && 0 < height).then_some(CellSize { width, height })
    }
}

impl GraphicsProtocol {
    /// Detects the protocol from environment variables. `None` inside multiplexers, which drop or
    /// misplace images.
    pub fn detect(variable: impl Fn(&str) -> Option<String>) -> Option<GraphicsProtocol> {
        let value = |name: &str| variable(name).unwrap_or_default();
        let set = |name: &str| !value(name).is_empty();
        if ["TMUX", "STY", "ZELLIJ"].into_iter().any(set) {
            return None;
        }
        match (value("TERM_PROGRAM").as_str(), value("TERM").as_str()) {
            ("ghostty", _) | (_, "xterm-kitty" | "xterm-ghostty") => Some(GraphicsProtocol::Kitty),
            ("iTerm.app" | "WezTerm" | "mintty" | "rio", _) => Some(GraphicsProtocol::Iterm2),
            (_, "foot" | "foot-extra" | "mlterm" | "contour") => Some(GraphicsProtocol::Sixel),
            // Other terminals started from such a one inherit these, but set TERM_PROGRAM.
            ("", _) if set("KITTY_WINDOW_ID") || set("KONSOLE_VERSION") => {
                Some(GraphicsProtocol::Kitty)
            }
            _ => None,
        }
    }

    /// Asks the terminal for its cell size. Sixel images need the exact one, because they are
    /// sized in pixels; the other protocols fall back to a default.
    pub fn query_cell_size(self) -> Option<CellSize> {
        match self {
            GraphicsProtocol::Kitty | GraphicsProtocol::Iterm2 => {
                Some(CellSize::query_terminal().unwrap_or(CellSize::DEFAULT))
            }
            GraphicsProtocol::Sixel => CellSize::query_terminal(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(environment: &[(&str, &str)], expected: Option<GraphicsProtocol>) {
        let find = |name: &str| {
            environment.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        assert_eq!(GraphicsProtocol::detect(find), expected, "{environment:?}");
    }

    #[test]
    fn terminals_that_draw_are_known_by_their_environment() {
        check(&[("TERM", "xterm-256color")], None);
        check(&[("TERM", "xterm-kitty")], Some(GraphicsProtocol::Kitty));
        check(&[("TERM", "xterm-kitty"), ("TMUX", "x")], None);
        check(&[("TERM_PROGRAM", "WezTerm")], Some(GraphicsProtocol::Iterm2));
        check(&[("TERM", "foot")], Some(GraphicsProtocol::Sixel));
        check(&[("TERM_PROGRAM", "vscode"), ("KITTY_WINDOW_ID", "1")], None);
        check(
            &[("TERM", "xterm-256color"), ("KONSOLE_VERSION", "230400")],
            Some(GraphicsProtocol::Kitty),
        );
    }
}
