//! Changes of files in the arguments of tools that edit or write.

use serde_json::{Map, Value};

use super::arguments::{Arguments, find_member, find_text};
use super::description::{DiffLine, FileChange, FileDiff, LineChange};
use super::diff::{added_lines, diff_texts};
use super::patch_text::parse_file_change;

/// Names of the old text and the new one.
const REPLACEMENTS: [(&str, &str); 10] = [
    ("old_string", "new_string"),
    ("oldString", "newString"),
    ("old_str", "new_str"),
    ("oldText", "newText"),
    ("old_text", "new_text"),
    ("old_content", "new_content"),
    ("old", "new"),
    ("search", "replace"),
    ("find", "replace"),
    ("oldContent", "newContent"),
];

/// Names of a member that has a whole difference or patch.
const PATCH_NAMES: [&str; 6] =
    ["diff", "patch", "input", "patchText", "patch_text", "unified_diff"];

/// Names of a member that has the whole new text of a file.
const CONTENT_NAMES: [&str; 8] = [
    "content",
    "contents",
    "file_text",
    "fileText",
    "new_source",
    "insert_text",
    "streamContent",
    "code_edit",
];

/// Names of a path's member beside a change.
const PATH_NAMES: [&str; 8] = [
    "path",
    "file_path",
    "filePath",
    "target_file",
    "targetFile",
    "notebook_path",
    "absolute_path",
    "file",
];

/// Changes that the arguments of an editing tool describe.
pub(super) fn find_changes(arguments: &Arguments<'_>) -> Vec<FileDiff> {
    match arguments {
        Arguments::Text(text) if text.contains("*** Begin Patch") => parse_file_change("", text),
        Arguments::Text(_) => Vec::new(),
        Arguments::List(list) => collect_changes(list, ""),
        Arguments::Members(members) => {
            let path = find_text(members, &PATH_NAMES).unwrap_or_default();
            changes_of_members(members, &path)
        }
    }
}

/// Changes in the elements of a list; `path` is that of the elements without one.
fn collect_changes(list: &[Value], path: &str) -> Vec<FileDiff> {
    let mut diffs: Vec<FileDiff> = Vec::new();
    for members in list.iter().filter_map(Value::as_object) {
        let own = find_text(members, &PATH_NAMES);
        for diff in changes_of_members(members, own.as_deref().unwrap_or(path)) {
            match diffs.last_mut() {
                // Several replacements in one file are one change of it.
                Some(open) if open.path == diff.path && open.change == diff.change => {
                    open.lines.push(DiffLine {
                        change: LineChange::Gap,
                        number: None,
                        text: String::new(),
                    });
                    open.lines.extend(diff.lines);
                }
                _ => diffs.push(diff),
            }
        }
    }
    diffs
}

/// Changes that one object describes.
fn changes_of_members(members: &Map<String, Value>, path: &str) -> Vec<FileDiff> {
    for name in ["changes", "edits", "fileChanges", "replacements"] {
        match members.get(name) {
            Some(Value::Array(list)) => return collect_changes(list, path),
            Some(Value::Object(files)) => return changes_by_path(files),
            _ => {}
        }
    }
    if let Some(operation) = members.get("operation").and_then(Value::as_object) {
        let own = find_text(operation, &PATH_NAMES);
        return changes_of_members(operation, own.as_deref().unwrap_or(path));
    }
    let change = change_kind(members);
    let file = FileDiff {
        path: path.to_owned(),
        change,
        moved_to: find_text(members, &["move_path", "movePath", "destination", "new_path"])
            .or_else(|| find_text(members.get("kind")?.as_object()?, &["move_path"])),
        lines: Vec::new(),
    };
    let text = |names: &[&str]| find_member(members, names).and_then(Value::as_str);
    for (old, new) in REPLACEMENTS {
        // Only a specific name alone is a change: text is inserted or removed.
        let (old, new) = match (text(&[old]), text(&[new])) {
            (Some(old), Some(new)) => (old, new),
            (None, Some(added)) if new.len() > 3 && new.starts_with("new") => ("", added),
            (Some(removed), None) if old.len() > 3 && old.starts_with("old") => (removed, ""),
            _ => continue,
        };
        return vec![FileDiff { lines: diff_texts(old, new, first_line(members)), ..file }];
    }
    if let Some(diff) = text(&PATCH_NAMES) {
        return changes_of_patch(file, diff);
    }
    match text(&CONTENT_NAMES) {
        Some(content) => {
            let change = match text(&["insert_text"]) {
                Some(_) => FileChange::Update,
                None => FileChange::Write,
            };
            vec![FileDiff { change, lines: added_lines(content), ..file }]
        }
        None if !path.is_empty() && (change == FileChange::Delete || file.moved_to.is_some()) => {
            vec![file]
        }
        None if members.contains_key("kind") && !path.is_empty() => vec![file],
        None => Vec::new(),
    }
}

/// Changes by path, as in `{"a.txt": {"type": "add", "content": "..."}}`.
fn changes_by_path(files: &Map<String, Value>) -> Vec<FileDiff> {
    let files = files.iter().filter_map(|(path, change)| Some((path, change.as_object()?)));
    files.flat_map(|(path, members)| changes_of_members(members, path)).collect()
}

/// Changes of one file that are given as a difference, or as the whole text of a new file.
fn changes_of_patch(file: FileDiff, diff: &str) -> Vec<FileDiff> {
    let is_whole = file.change != FileChange::Update
        && !diff.lines().all(|line| line.starts_with(['+', '@']))
        && !diff.lines().any(|line| line.starts_with("@@"));
    if is_whole {
        let mut lines = added_lines(diff);
        if file.change == FileChange::Delete {
            for line in &mut lines {
                line.change = LineChange::Removed;
            }
        }
        return vec![FileDiff { lines, ..file }];
    }
    let mut diffs = parse_file_change(&file.path, diff);
    if let [only] = &mut diffs[..]
        && only.path == file.path
    {
        only.change = file.change;
        only.moved_to = file.moved_to;
        if file.change == FileChange::Write {
            for (line, number) in only.lines.iter_mut().zip(1..) {
                line.number = Some(number);
            }
        }
    }
    diffs
}

/// Kind of a change by its `type`, `kind` or `tool`.
fn change_kind(members: &Map<String, Value>) -> FileChange {
    let kind = find_text(members, &["type", "kind"])
        .or_else(|| find_text(members.get("kind")?.as_object()?, &["type"]));
    match kind.as_deref() {
        Some("add" | "create" | "create_file") => FileChange::Write,
        Some("delete" | "delete_file" | "remove") => FileChange::Delete,
        _ => FileChange::Update,
    }
}

/// Number of the first line that a change is about, if the arguments have it.
fn first_line(members: &Map<String, Value>) -> Option<u32> {
    let line = find_member(members, &["start_line", "startLine", "line_start"])?;
    line.as_u64().and_then(|line| u32::try_from(line).ok())
}
