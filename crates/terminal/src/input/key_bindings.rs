//! Key bindings: maps terminal key events to chat actions.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::editor::Motion;

/// Action that a key is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyAction {
    Character(char),
    Enter,
    /// Inserts a line break.
    NewLine,
    /// Sends into the active run.
    SendNow,
    Move(Motion),
    Delete(Motion),
    Kill(Motion),
    Yank,
    Undo,
    Redo,
    Up,
    Down,
    PageUp,
    PageDown,
    Complete,
    CompleteBack,
    SearchHistory,
    OpenEditor,
    PrintRawCall,
    Escape,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D.
    EndOfInput,
    Suspend,
    Redraw,
}

/// Maps a key event to its action; `None` if it has no binding.
pub fn map_key(event: &KeyEvent) -> Option<KeyAction> {
    if event.kind == KeyEventKind::Release {
        return None;
    }
    let has = |modifiers| event.modifiers.contains(modifiers);
    let (control, alt) = (has(KeyModifiers::CONTROL), has(KeyModifiers::ALT));
    let by_word = control || alt;
    let either = |plain, word| if by_word { word } else { plain };
    Some(match event.code {
        KeyCode::Char(letter) if control => map_control_key(letter)?,
        KeyCode::Char(letter) if alt => map_alt_key(letter)?,
        KeyCode::Char(letter) => KeyAction::Character(letter),
        KeyCode::Enter if has(KeyModifiers::SHIFT) || alt => KeyAction::NewLine,
        KeyCode::Enter if control => KeyAction::SendNow,
        KeyCode::Enter => KeyAction::Enter,
        KeyCode::Left => KeyAction::Move(either(Motion::Left, Motion::WordLeft)),
        KeyCode::Right => KeyAction::Move(either(Motion::Right, Motion::WordRight)),
        KeyCode::Home => KeyAction::Move(if control { Motion::Start } else { Motion::LineStart }),
        KeyCode::End => KeyAction::Move(if control { Motion::End } else { Motion::LineEnd }),
        KeyCode::Backspace => {
            if by_word {
                KeyAction::Kill(Motion::WordLeft)
            } else {
                KeyAction::Delete(Motion::Left)
            }
        }
        KeyCode::Delete => {
            if by_word {
                KeyAction::Kill(Motion::WordRight)
            } else {
                KeyAction::Delete(Motion::Right)
            }
        }
        KeyCode::Up => KeyAction::Up,
        KeyCode::Down => KeyAction::Down,
        KeyCode::PageUp => KeyAction::PageUp,
        KeyCode::PageDown => KeyAction::PageDown,
        KeyCode::Tab => KeyAction::Complete,
        KeyCode::BackTab => KeyAction::CompleteBack,
        KeyCode::Esc => KeyAction::Escape,
        KeyCode::Insert
        | KeyCode::F(_)
        | KeyCode::Null
        | KeyCode::CapsLock
        | KeyCode::ScrollLock
        | KeyCode::NumLock
        | KeyCode::PrintScreen
        | KeyCode::Pause
        | KeyCode::Menu
        | KeyCode::KeypadBegin
        | KeyCode::Media(_)
        | KeyCode::Modifier(_) => return None,
    })
}

fn map_control_key(letter: char) -> Option<KeyAction> {
    Some(match letter.to_ascii_lowercase() {
        'a' => KeyAction::Move(Motion::LineStart),
        'b' => KeyAction::Move(Motion::Left),
        'c' => KeyAction::Interrupt,
        'd' => KeyAction::EndOfInput,
        'e' => KeyAction::Move(Motion::LineEnd),
        'f' => KeyAction::Move(Motion::Right),
        'g' => KeyAction::OpenEditor,
        'h' => KeyAction::Delete(Motion::Left),
        // Terminals without the kitty protocol may send this for Shift-Enter.
        'j' => KeyAction::NewLine,
        'k' => KeyAction::Kill(Motion::LineEnd),
        'l' => KeyAction::Redraw,
        'n' => KeyAction::Down,
        'o' => KeyAction::PrintRawCall,
        'p' => KeyAction::Up,
        'r' => KeyAction::SearchHistory,
        'u' => KeyAction::Kill(Motion::LineStart),
        'w' => KeyAction::Kill(Motion::WordLeft),
        'y' => KeyAction::Yank,
        'z' => KeyAction::Suspend,
        '_' | '/' | '7' => KeyAction::Undo,
        _ => return None,
    })
}

fn map_alt_key(letter: char) -> Option<KeyAction> {
    Some(match letter.to_ascii_lowercase() {
        'b' => KeyAction::Move(Motion::WordLeft),
        'f' => KeyAction::Move(Motion::WordRight),
        'd' => KeyAction::Kill(Motion::WordRight),
        '_' | '/' => KeyAction::Redo,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_mean_what_people_know() {
        let key = |code, modifiers| map_key(&KeyEvent::new(code, modifiers));
        let none = KeyModifiers::NONE;
        assert_eq!(key(KeyCode::Char('a'), none), Some(KeyAction::Character('a')));
        assert_eq!(key(KeyCode::Char('A'), KeyModifiers::SHIFT), Some(KeyAction::Character('A')));
        assert_eq!(key(KeyCode::Enter, none), Some(KeyAction::Enter));
        assert_eq!(key(KeyCode::Enter, KeyModifiers::SHIFT), Some(KeyAction::NewLine));
        assert_eq!(key(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(KeyAction::Interrupt));
        assert_eq!(key(KeyCode::Left, KeyModifiers::ALT), Some(KeyAction::Move(Motion::WordLeft)));
        assert_eq!(key(KeyCode::F(5), none), None);
        let mut released = KeyEvent::new(KeyCode::Enter, none);
        released.kind = KeyEventKind::Release;
        assert_eq!(map_key(&released), None, "a key is pressed once");
    }
}
