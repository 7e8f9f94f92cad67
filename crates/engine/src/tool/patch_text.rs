//! Changes written as text: unified differences, `*** Begin Patch`, and search-and-replace blocks.

use super::description::{FileChange, FileDiff, LineChange};
use super::diff::{NumberedLines, diff_texts};

/// Lines before the first hunk of a file.
const FILE_HEADERS: [&str; 6] = ["diff --git ", "--- ", "+++ ", "index ", "===", "Index: "];

/// Parses the changes of one file in any of the forms.
pub(super) fn parse_file_change(path: &str, text: &str) -> Vec<FileDiff> {
    if text.contains("*** Begin Patch") || text.starts_with("*** ") {
        return parse_begin_patch(text);
    }
    let mut diff = FileDiff { path: path.to_owned(), ..FileDiff::default() };
    let lines = if is_search_marker_in(text) { parse_blocks(text) } else { parse_unified(text) };
    diff.lines = lines.lines;
    vec![diff]
}

/// Parses the lines of a unified difference; its file headers are left out.
fn parse_unified(text: &str) -> NumberedLines {
    let mut out = NumberedLines::default();
    let is_header = |line: &&str| FILE_HEADERS.iter().any(|head| line.starts_with(head));
    for line in text.lines().skip_while(is_header) {
        push_unified_line(line, &mut out);
    }
    out
}

/// Adds one line of a unified difference.
fn push_unified_line(line: &str, out: &mut NumberedLines) {
    if let Some(place) = line.strip_prefix("@@") {
        (out.next_old, out.next_new) = parse_hunk_numbers(place);
        let place = place.rsplit_once("@@").map_or(place, |(_, place)| place).trim();
        let is_first = out.lines.is_empty();
        if !(is_first && place.is_empty()) {
            out.push(LineChange::Gap, place);
        }
        return;
    }
    if line.starts_with('\\') {
        return;
    }
    match line.as_bytes().first() {
        Some(b'+') => out.push(LineChange::Added, &line[1..]),
        Some(b'-') => out.push(LineChange::Removed, &line[1..]),
        Some(b' ') => out.push(LineChange::Same, &line[1..]),
        Some(_) => out.push(LineChange::Same, line),
        None => out.push(LineChange::Same, ""),
    }
}

/// First lines of a hunk header `-a,b +c,d`; missing where it has none.
fn parse_hunk_numbers(place: &str) -> (Option<u32>, Option<u32>) {
    let number = |sign: char| {
        let word = place.split_whitespace().find_map(|word| word.strip_prefix(sign))?;
        word.split(',').next()?.parse().ok()
    };
    (number('-'), number('+'))
}

/// Parses the `*** Begin Patch` form, which may change several files.
fn parse_begin_patch(text: &str) -> Vec<FileDiff> {
    let mut diffs: Vec<(FileDiff, NumberedLines)> = Vec::new();
    for line in text.lines() {
        let header = [
            ("*** Update File: ", FileChange::Update),
            ("*** Add File: ", FileChange::Write),
            ("*** Delete File: ", FileChange::Delete),
        ];
        let file =
            header.into_iter().find_map(|(head, change)| Some((line.strip_prefix(head)?, change)));
        if let Some((path, change)) = file {
            let diff = FileDiff { path: path.trim().to_owned(), change, ..FileDiff::default() };
            let next_new = (change == FileChange::Write).then_some(1);
            diffs.push((diff, NumberedLines { next_new, ..NumberedLines::default() }));
        } else if let Some((diff, lines)) = diffs.last_mut() {
            if let Some(path) = line.strip_prefix("*** Move to: ") {
                diff.moved_to = Some(path.trim().to_owned());
            } else if !line.starts_with("*** ") {
                push_unified_line(line, lines);
            }
        }
    }
    diffs.into_iter().map(|(diff, lines)| FileDiff { lines: lines.lines, ..diff }).collect()
}

/// Returns true for the first line of a search-and-replace block.
fn is_search_marker(line: &str) -> bool {
    let rest = line.trim_end().trim_start_matches(['<', '-']);
    rest.len() + 3 <= line.trim_end().len() && rest.trim_end_matches('>').trim() == "SEARCH"
}

/// Returns true if the text has a search-and-replace block.
fn is_search_marker_in(text: &str) -> bool {
    text.lines().any(is_search_marker)
}

/// Part of a search-and-replace block.
enum BlockPart {
    Outside,
    Search,
    Replace,
}

/// Parses search-and-replace blocks.
fn parse_blocks(text: &str) -> NumberedLines {
    let mut out = NumberedLines::default();
    let mut part = BlockPart::Outside;
    let (mut old, mut new, mut first) = (String::new(), String::new(), None);
    for line in text.lines() {
        let bare = line.trim_end();
        match part {
            BlockPart::Outside if is_search_marker(line) => {
                part = BlockPart::Search;
                (old, new, first) = (String::new(), String::new(), None);
            }
            BlockPart::Outside => {}
            BlockPart::Search if bare.len() >= 5 && bare.bytes().all(|byte| byte == b'=') => {
                part = BlockPart::Replace;
            }
            BlockPart::Search if old.is_empty() && line.starts_with(":start_line:") => {
                first = line[":start_line:".len()..].trim().parse().ok();
            }
            BlockPart::Search if old.is_empty() && is_block_rule(line) => {}
            BlockPart::Search => old.extend([line, "\n"]),
            BlockPart::Replace if bare.ends_with("REPLACE") && bare.starts_with(['>', '+']) => {
                part = BlockPart::Outside;
                if !out.lines.is_empty() {
                    out.push(LineChange::Gap, "");
                }
                out.lines.append(&mut diff_texts(&old, &new, first));
            }
            BlockPart::Replace => new.extend([line, "\n"]),
        }
    }
    out
}

/// Returns true for the lines between the marker and the searched text.
fn is_block_rule(line: &str) -> bool {
    line.starts_with(":end_line:") || line.trim_end() == "-------"
}
