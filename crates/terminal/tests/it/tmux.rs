//! The same checks in tmux, which wraps and scrolls differently from the emulator.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output};

use millpond_terminal::markdown::{HyperlinkMode, MarkdownRenderer};
use millpond_terminal::row::Row;
use millpond_terminal::screen::{Frame, FrameCursor, Screen, TerminalFeatures};
use millpond_terminal::size::Size;
use millpond_terminal::style::Style;

use crate::generators::cut_text;
use crate::mini_chat::{SHELL_LINES, SharedBuffer, message_area};

/// Polls before a test gives up; each takes a few milliseconds.
const POLLS_MAX: usize = 5_000;

/// A private tmux server with one pane that shows what is written to a pipe.
struct Tmux {
    folder: PathBuf,
    pipe: File,
}

impl Tmux {
    fn start(name: &str, size: Size) -> Option<Tmux> {
        if Command::new("tmux").arg("-V").output().is_err() {
            println!("skipped: {name} needs tmux. To install: sudo apt-get install tmux");
            return None;
        }
        let place = std::env::temp_dir().join(format!("millpond-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&place).unwrap();
        let config = "set -g history-limit 50000\nset -g status off\n";
        std::fs::write(place.join("conf"), config).unwrap();
        let pipe = place.join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let show = format!("stty raw -echo; exec cat '{}'", pipe.display());
        let (cols, rows) = (size.cols.to_string(), size.rows.to_string());
        let conf = place.join("conf");
        let start = [
            "-u",
            "-f",
            conf.to_str().unwrap(),
            "new-session",
            "-d",
            "-x",
            &cols,
            "-y",
            &rows,
            &show,
        ];
        let output = run_tmux(&place, &start);
        assert!(output.status.success(), "{output:?}");
        let pipe = File::options().write(true).open(pipe).unwrap();
        Some(Tmux { folder: place, pipe })
    }

    fn command_output(&self, arguments: &[&str]) -> String {
        let output = run_tmux(&self.folder, arguments);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Writes bytes and waits until `shown` appears on the screen.
    fn feed(&mut self, bytes: &[u8], shown: &str) {
        self.pipe.write_all(bytes).unwrap();
        let arrived = || self.command_output(&["capture-pane", "-p"]).contains(shown);
        assert!((0..POLLS_MAX).any(|_| arrived()), "{shown:?} never came");
    }

    fn resize(&self, size: Size) {
        let (cols, rows) = (size.cols.to_string(), size.rows.to_string());
        self.command_output(&["resize-window", "-x", &cols, "-y", &rows]);
        let wanted = format!("{cols} {rows}\n");
        let now =
            || self.command_output(&["display-message", "-p", "#{pane_width} #{pane_height}"]);
        assert!((0..POLLS_MAX).any(|_| now() == wanted), "never {wanted}");
    }

    fn cursor_row(&self) -> u16 {
        self.command_output(&["display-message", "-p", "#{cursor_y}"]).trim().parse().unwrap()
    }

    /// Returns all lines; wrapped rows are one line.
    fn copied_lines(&self) -> Vec<String> {
        let text = self.command_output(&["capture-pane", "-p", "-J", "-S", "-"]);
        text.lines().map(|line| line.trim_end().to_owned()).collect()
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        run_tmux(&self.folder, &["kill-server"]);
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn run_tmux(place: &std::path::Path, arguments: &[&str]) -> Output {
    let socket = place.join("socket");
    let mut command = Command::new("tmux");
    command.env_remove("TMUX").env("LC_ALL", "C.UTF-8").arg("-S").arg(socket);
    command.args(arguments).output().unwrap()
}

/// A minimal chat inside tmux.
struct TmuxChat {
    tmux: Tmux,
    screen: Screen<SharedBuffer>,
    wire: SharedBuffer,
    markdown: MarkdownRenderer,
    step: usize,
}

impl TmuxChat {
    fn start(name: &str, size: Size) -> Option<TmuxChat> {
        let mut tmux = Tmux::start(name, size)?;
        tmux.feed(format!("{}\r\n", SHELL_LINES.join("\r\n")).as_bytes(), SHELL_LINES[2]);
        let wire = SharedBuffer::default();
        let screen =
            Screen::new(wire.clone(), size, tmux.cursor_row(), TerminalFeatures::default());
        let markdown = MarkdownRenderer::new(message_area(size), HyperlinkMode::Osc8);
        Some(TmuxChat { tmux, screen, wire, markdown, step: 0 })
    }

    fn draw_frame(&mut self) {
        self.step += 1;
        let status = format!("step {}.", self.step);
        let settled = self.markdown.take_settled();
        let mut live = self.markdown.live_rows();
        live.push(Row::from_text(&status, Style::DIM));
        live.push(Row::from_text("> input", Style::PLAIN));
        let cursor = FrameCursor::At { row: live.len() - 1, col: 7 };
        self.screen.draw_frame(Frame { settled: &settled, live: &live, cursor }).unwrap();
        let bytes = self.wire.take();
        self.tmux.feed(&bytes, &status);
    }

    fn resize(&mut self, size: Size) {
        self.tmux.resize(size);
        let resized = self.screen.resize_and_locate_live_region(size, self.tmux.cursor_row());
        if resized.scrolled_away > 0 {
            let gone = resized.scrolled_away.min(self.markdown.live_rows().len());
            self.markdown.settle_as_shown_and_drop_rows(gone);
        }
        self.markdown.set_size_and_rewrap(message_area(size));
        self.draw_frame();
    }
}

#[test]
fn r4_in_tmux_nothing_is_missing_and_nothing_is_there_twice_after_resizes() {
    let Some(mut chat) = TmuxChat::start("resize", Size::new(80, 24)) else { return };
    let prose: String = (0..150).map(|n| format!("p{n}q ")).collect();
    let table: String = (150..180).map(|n| format!("| p{n}q | cell |\n")).collect();
    let code: String = (180..240).map(|n| format!("    let p{n}q = 1;\n")).collect();
    let text = format!("{prose}\n\n| a | b |\n|---|---|\n{table}\n```rust\n{code}```\n");
    let sizes = [(120, 24), (60, 24), (60, 12), (100, 30), (45, 10), (80, 24), (30, 8), (90, 20)];
    let parts = cut_text(&text, &[40]);
    for (index, part) in parts.iter().enumerate() {
        chat.markdown.push(part);
        chat.draw_frame();
        if index % 7 == 6 {
            let (cols, rows) = sizes[index / 7 % sizes.len()];
            chat.resize(Size::new(cols, rows));
        }
    }
    chat.markdown.finish();
    chat.draw_frame();
    let copied = chat.tmux.copied_lines();
    assert_eq!(copied[..SHELL_LINES.len()], SHELL_LINES);
    let joined: String = copied.concat().split_whitespace().collect();
    for n in 0..240 {
        assert_eq!(joined.matches(&format!("p{n}q")).count(), 1, "phrase {n} in {copied:#?}");
    }
    assert_eq!(joined.matches("step").count(), 1, "{copied:#?}");
}

#[test]
fn r13_in_tmux_code_is_copied_as_it_was_written() {
    let Some(mut chat) = TmuxChat::start("copy", Size::new(40, 10)) else { return };
    let long = "0123456789".repeat(20);
    let code = format!(
        "fn main() {{\n    let long = \"{long}\";\n\n        deep({});\n}}\n",
        "水火".repeat(30)
    );
    let text = format!("Here:\n\n```rust\n{code}```\n\nAfter.\n");
    for part in cut_text(&text, &[23]) {
        chat.markdown.push(part);
        chat.draw_frame();
    }
    chat.markdown.finish();
    chat.draw_frame();
    let copied = chat.tmux.copied_lines().join("\n");
    assert!(copied.contains(&format!("```rust\n{code}```\n")), "{copied}");
}
