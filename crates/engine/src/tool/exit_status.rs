//! Exit status of a command in its result.

use crate::event::ToolOutcome;

/// Words before an exit status, in lower case.
const WORDS: [&str; 6] = [
    "exit code: ",
    "exited with code ",
    "exit code ",
    "exit status: ",
    "exit status ",
    "exit_code: ",
];

/// Lines at the start and at the end of an output in which agents write the status.
const EDGE_LINES: usize = 3;

/// Finds the exit status of a command: in the reason of its end, else where its agent adds it to
/// the output.
pub(super) fn find_exit_code(
    output: &str,
    outcome: ToolOutcome,
    detail: Option<&str>,
) -> Option<i32> {
    if let Some(code) = detail.and_then(parse_status_line) {
        return Some(code);
    }
    let output = output.trim();
    let mut edges = output.lines().take(EDGE_LINES).chain(output.lines().rev().take(EDGE_LINES));
    let code = edges.find_map(parse_status_line)?;
    // A command may print such words about another one.
    let fits = match outcome {
        ToolOutcome::Succeeded => code == 0,
        ToolOutcome::Failed => code != 0,
        ToolOutcome::Denied | ToolOutcome::NoResult | ToolOutcome::Cut => false,
    };
    fits.then_some(code)
}

/// Reads the status of a line that has little else.
fn parse_status_line(line: &str) -> Option<i32> {
    let line = line.trim().trim_matches(['<', '>', '[', ']', '(', ')', '.']);
    if 80 < line.len() {
        return None;
    }
    let lower = line.to_ascii_lowercase();
    let (at, words) = WORDS.iter().find_map(|words| Some((lower.find(words)?, words)))?;
    let number = lower[at + words.len()..].trim_matches(['<', '>', '[', ']', '(', ')', '.', ' ']);
    number.parse().ok()
}
