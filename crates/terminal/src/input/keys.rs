//! What keys mean to somebody who writes.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::editor::Motion;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Character(char),
    Enter,
    /// A line of its own, wherever Enter sends.
    NewLine,
    /// In the run that is going, if one is.
    SendNow,
    Go(Motion),
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
    Search,
    Editor,
    Escape,
    /// Stops a run; twice it leaves.
    Interrupt,
    /// Leaves, where nothing is written.
    EndOfInput,
    Suspend,
    Redraw,
}

/// Nothing for keys that mean nothing here.
pub fn meaning(event: &KeyEvent) -> Option<Key> {
    if event.kind == KeyEventKind::Release {
        return None;
    }
    let has = |modifiers| event.modifiers.contains(modifiers);
    let (control, alt) = (has(KeyModifiers::CONTROL), has(KeyModifiers::ALT));
    let by_word = control || alt;
    let either = |plain, word| if by_word { word } else { plain };
    Some(match event.code {
        KeyCode::Char(letter) if control => control_key(letter)?,
        KeyCode::Char(letter) if alt => alt_key(letter)?,
        KeyCode::Char(letter) => Key::Character(letter),
        KeyCode::Enter if has(KeyModifiers::SHIFT) || alt => Key::NewLine,
        KeyCode::Enter if control => Key::SendNow,
        KeyCode::Enter => Key::Enter,
        KeyCode::Left => Key::Go(either(Motion::Left, Motion::WordLeft)),
        KeyCode::Right => Key::Go(either(Motion::Right, Motion::WordRight)),
        KeyCode::Home => Key::Go(if control { Motion::Start } else { Motion::LineStart }),
        KeyCode::End => Key::Go(if control { Motion::End } else { Motion::LineEnd }),
        KeyCode::Backspace => {
            if by_word {
                Key::Kill(Motion::WordLeft)
            } else {
                Key::Delete(Motion::Left)
            }
        }
        KeyCode::Delete => {
            if by_word {
                Key::Kill(Motion::WordRight)
            } else {
                Key::Delete(Motion::Right)
            }
        }
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Tab => Key::Complete,
        KeyCode::BackTab => Key::CompleteBack,
        KeyCode::Esc => Key::Escape,
        _ => return None,
    })
}

fn control_key(letter: char) -> Option<Key> {
    Some(match letter.to_ascii_lowercase() {
        'a' => Key::Go(Motion::LineStart),
        'b' => Key::Go(Motion::Left),
        'c' => Key::Interrupt,
        'd' => Key::EndOfInput,
        'e' => Key::Go(Motion::LineEnd),
        'f' => Key::Go(Motion::Right),
        'g' => Key::Editor,
        'h' => Key::Delete(Motion::Left),
        // Terminals without more exact keys say this for Shift and Enter, if they say anything.
        'j' => Key::NewLine,
        'k' => Key::Kill(Motion::LineEnd),
        'l' => Key::Redraw,
        'n' => Key::Down,
        'p' => Key::Up,
        'r' => Key::Search,
        'u' => Key::Kill(Motion::LineStart),
        'w' => Key::Kill(Motion::WordLeft),
        'y' => Key::Yank,
        'z' => Key::Suspend,
        '_' | '/' | '7' => Key::Undo,
        _ => return None,
    })
}

fn alt_key(letter: char) -> Option<Key> {
    Some(match letter.to_ascii_lowercase() {
        'b' => Key::Go(Motion::WordLeft),
        'f' => Key::Go(Motion::WordRight),
        'd' => Key::Kill(Motion::WordRight),
        '_' | '/' => Key::Redo,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_mean_what_people_know() {
        let key = |code, modifiers| meaning(&KeyEvent::new(code, modifiers));
        let none = KeyModifiers::NONE;
        assert_eq!(key(KeyCode::Char('a'), none), Some(Key::Character('a')));
        assert_eq!(key(KeyCode::Char('A'), KeyModifiers::SHIFT), Some(Key::Character('A')));
        assert_eq!(key(KeyCode::Enter, none), Some(Key::Enter));
        assert_eq!(key(KeyCode::Enter, KeyModifiers::SHIFT), Some(Key::NewLine));
        assert_eq!(key(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Key::Interrupt));
        assert_eq!(key(KeyCode::Left, KeyModifiers::ALT), Some(Key::Go(Motion::WordLeft)));
        assert_eq!(key(KeyCode::F(5), none), None);
        let mut released = KeyEvent::new(KeyCode::Enter, none);
        released.kind = KeyEventKind::Release;
        assert_eq!(meaning(&released), None, "a key is pressed once");
    }
}
