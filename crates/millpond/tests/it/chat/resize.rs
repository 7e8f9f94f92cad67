//! A chat in tmux whose window changes its size while an answer is written.

use terminal::limits::REST_AFTER_RESIZE;

use super::source::Source;
use crate::gateway::process::{Process, data, home};
use crate::tmux::Tmux;

/// Narrower, wider, and so small that what may still change scrolls away.
const SIZES: [(u16, u16); 7] =
    [(80, 30), (60, 12), (120, 40), (28, 8), (127, 38), (43, 8), (100, 30)];

/// Pieces of an answer; each ends with a word of its own.
fn pieces() -> Vec<String> {
    let words = |from: usize, count: usize| {
        (from..from + count).map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ")
    };
    let mut pieces = Vec::new();
    let mut next = 0;
    let mut add = |begin: &str, count: usize, between: &str| {
        pieces.push(format!("{begin}{}{between}", words(next, count)));
        next += count;
    };
    for _ in 0..4 {
        add("", 40, " ");
        add("", 25, "\n\n");
    }
    add("| a | b |\n| --- | --- |\n| ", 1, " | x |\n");
    for _ in 0..12 {
        add("| ", 3, " | x |\n");
    }
    add("\n```rust\nlet a = ", 1, ";\n");
    for _ in 0..12 {
        add("call(", 1, ");\n");
    }
    add("```\n\n- ", 30, "\n");
    add("- ", 30, "\n");
    add("\n> ", 60, " ");
    pieces
}

#[test]
fn r4_nothing_is_lost_or_doubled_when_the_window_changes_its_size() {
    let home = home();
    let process = Process::start(home.path());
    let mut first = Source::start(&process, home.path(), None);
    first.say("An earlier answer.");
    let session = first.end();
    let program = env!("CARGO_BIN_EXE_millpond");
    let data = data(home.path());
    let line = format!(
        "for n in 1 2 3 4 5; do echo shell line $n; done; exec '{program}' -r {session} --data '{}'",
        data.display()
    );
    let Some(tmux) = Tmux::start(home.path(), &line, (100, 30)) else { return };
    tmux.shows("An earlier answer.");
    let mut source = Source::start(&process, home.path(), Some(&session));
    let pieces = pieces();
    for (piece, size) in pieces.iter().zip(SIZES.iter().cycle()) {
        source.say(piece);
        let last = piece.split(|char: char| !char.is_alphanumeric()).rfind(|word| {
            word.strip_prefix('w').is_some_and(|number| number.parse::<u32>().is_ok())
        });
        tmux.shows(last.unwrap());
        tmux.resize(*size);
    }
    source.end();
    tmux.shows("Write a message");
    let all = tmux.all();
    let number =
        |word: &str| word.strip_prefix('w').and_then(|digits| digits.parse::<usize>().ok());
    let seen: Vec<usize> =
        all.split(|char: char| !char.is_alphanumeric()).filter_map(number).collect();
    let said: Vec<usize> = pieces
        .iter()
        .flat_map(|piece| piece.split(|char: char| !char.is_alphanumeric()))
        .filter_map(number)
        .collect();
    assert_eq!(seen, said, "{all}");
    for n in 1..=5 {
        assert_eq!(all.matches(&format!("shell line {n}")).count(), 1, "{all}");
    }
    assert_eq!(all.matches("Write a message").count(), 1, "{all}");
}

#[test]
fn r4_what_is_asked_can_be_answered_after_any_change_of_size() {
    let home = home();
    let (program, data) = (env!("CARGO_BIN_EXE_millpond"), data(home.path()));
    let line = format!(
        "for n in 1 2 3 4 5; do echo shell line $n; done; exec '{program}' chat --data '{}'",
        data.display()
    );
    let Some(tmux) = Tmux::start(home.path(), &line, (100, 30)) else { return };
    tmux.shows("Write a message");
    for (round, sizes) in [&SIZES[..], &SIZES[3..]].into_iter().enumerate() {
        tmux.paste(&format!("compute 6*{round}"));
        tmux.shows(&format!("› compute 6*{round}"));
        tmux.keys(&["Enter"]);
        tmux.shows("This needs you");
        for size in sizes {
            tmux.resize(*size);
            // Drawn again only once it has come to rest; keys are heard after as long as that.
            std::thread::sleep(2 * REST_AFTER_RESIZE);
            // In the smallest of them there is room for nothing else.
            tmux.shows("Enter answer");
        }
        tmux.shows("This needs you");
        tmux.keys(&["Enter"]);
        tmux.shows(&format!("6*{round} = {}", 6 * round));
        tmux.shows("Write a message");
    }
    let all = tmux.all();
    for round in 0..2 {
        for words in [format!("› compute 6*{round}"), format!("6*{round} = {}", 6 * round)] {
            assert_eq!(all.matches(&words).count(), 1, "{words}: {all}");
        }
    }
    for n in 1..=5 {
        assert_eq!(all.matches(&format!("shell line {n}")).count(), 1, "{all}");
    }
    assert_eq!(all.matches("Write a message").count(), 1, "{all}");
}
