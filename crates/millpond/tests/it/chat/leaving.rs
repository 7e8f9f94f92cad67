//! The chat makes room for others and comes back: suspended, and continued.

use crate::tmux::Tmux;

#[test]
fn r17_whoever_suspends_it_gets_the_terminal_and_whoever_continues_it_the_chat() {
    let folder = tempfile::tempdir().unwrap();
    let shell = "env PS1='shell> ' bash --norc --noprofile -i";
    let Some(tmux) = Tmux::start(folder.path(), shell, (80, 24)) else { return };
    tmux.shows("shell>");
    let data = folder.path().join("data");
    let line = format!("'{}' chat --data '{}'", env!("CARGO_BIN_EXE_millpond"), data.display());
    tmux.keys(&["-l", &line]);
    tmux.keys(&["Enter"]);
    tmux.shows("Write a message");
    tmux.keys(&["C-z"]);
    tmux.shows("Stopped");
    tmux.keys(&["-l", "echo $((40+2)) here"]);
    tmux.keys(&["Enter"]);
    tmux.shows("42 here");
    assert!(!tmux.screen().contains("Write a message"), "{}", tmux.screen());
    tmux.keys(&["-l", "fg"]);
    tmux.keys(&["Enter"]);
    tmux.shows("Write a message");
    tmux.keys(&["-l", "think"]);
    tmux.shows("› think");
    tmux.keys(&["C-c"]);
    tmux.shows("Write a message");
    let all = tmux.all();
    assert_eq!(all.matches("Write a message").count(), 1, "{all}");
    assert_eq!(all.matches("42 here").count(), 1, "{all}");
}
