//! A chat in tmux whose window is resized while an answer streams.

use super::tee_source::TeeSource;
use crate::gateway::process::{GatewayProcess, data_folder, temp_home};
use crate::tmux::Tmux;

/// Narrower, wider, and so small that live rows scroll away.
const SIZES: [(u16, u16); 7] =
    [(80, 30), (60, 12), (120, 40), (28, 8), (127, 38), (43, 8), (100, 30)];

/// Pieces of an answer; every word in it is unique.
fn answer_pieces() -> Vec<String> {
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
    let home = temp_home();
    let process = GatewayProcess::start(home.path());
    let mut first = TeeSource::start(&process, home.path(), None);
    first.send_text("An earlier answer.");
    let session = first.finish();
    let program = env!("CARGO_BIN_EXE_millpond");
    let data = data_folder(home.path());
    let line = format!(
        "for n in 1 2 3 4 5; do echo shell line $n; done; exec '{program}' -r {session} --data '{}'",
        data.display()
    );
    let Some(tmux) = Tmux::start(home.path(), &line, (100, 30)) else { return };
    tmux.wait_for_text("An earlier answer.");
    let mut source = TeeSource::start(&process, home.path(), Some(&session));
    let pieces = answer_pieces();
    for (piece, size) in pieces.iter().zip(SIZES.iter().cycle()) {
        source.send_text(piece);
        let last = piece.split(|char: char| !char.is_alphanumeric()).rfind(|word| {
            word.strip_prefix('w').is_some_and(|number| number.parse::<u32>().is_ok())
        });
        tmux.wait_for_text(last.unwrap());
        tmux.resize(*size);
    }
    source.finish();
    tmux.wait_for_text("Write a message");
    let all = tmux.scrollback_text();
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
    let home = temp_home();
    let (program, data) = (env!("CARGO_BIN_EXE_millpond"), data_folder(home.path()));
    let line = format!(
        "for n in 1 2 3 4 5; do echo shell line $n; done; exec '{program}' chat --data '{}'",
        data.display()
    );
    let Some(tmux) = Tmux::start(home.path(), &line, (100, 30)) else { return };
    tmux.wait_for_text("Write a message");
    for (round, sizes) in [&SIZES[..], &SIZES[3..]].into_iter().enumerate() {
        tmux.paste(&format!("compute 6*{round}"));
        tmux.wait_for_text(&format!("› compute 6*{round}"));
        tmux.send_keys(&["Enter"]);
        tmux.wait_for_text("Approval needed");
        for size in sizes {
            tmux.resize(*size);
            // The chat draws no frame in a size that has changed: what it shows of a key is drawn
            // after the resize.
            tmux.type_and_erase("zz");
            // The smallest size has room for nothing else.
            tmux.wait_for_text("Enter to answer");
        }
        tmux.wait_for_text("Approval needed");
        // Once it is answered, Enter in the empty input does nothing.
        tmux.press_until_text("Enter", &format!("6*{round} = {}", 6 * round));
        tmux.wait_for_text("Write a message");
    }
    let all = tmux.scrollback_text();
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
