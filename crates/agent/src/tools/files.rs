//! Reading, listing and searching files.

use std::io::{BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use serde::Deserialize;

use super::root::{Root, trouble};
use super::{BadCall, shown};
use crate::limits::{FILE_BYTES_MAX, FOUND_MAX, LISTED_MAX};

#[derive(Clone, Debug)]
pub struct Read {
    root: Root,
    pub path: String,
    from_line: usize,
    lines: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadArguments {
    path: String,
    from_line: Option<usize>,
    lines: Option<usize>,
}

impl Read {
    pub(super) fn prepare(root: &Root, given: &ReadArguments) -> Result<Read, BadCall> {
        let path = shown(&root.inside(&given.path)?);
        let from_line = given.from_line.unwrap_or(1).max(1);
        Ok(Read { root: root.clone(), path, from_line, lines: given.lines.unwrap_or(usize::MAX) })
    }

    pub(super) fn run(&self) -> Result<String, BadCall> {
        let text = text_of(&self.root, Path::new(&self.path))?;
        let lines = text.lines().enumerate().skip(self.from_line - 1).take(self.lines);
        let numbered: Vec<String> =
            lines.map(|(at, line)| format!("{:>5}  {line}\n", at + 1)).collect();
        if numbered.is_empty() {
            return Ok("(nothing there)".to_owned());
        }
        Ok(numbered.concat())
    }
}

/// All of a text file.
pub(super) fn text_of(root: &Root, path: &Path) -> Result<String, BadCall> {
    let file = root.open_file(path)?;
    let about = file.metadata().map_err(|error| trouble(path, &error))?;
    if about.is_dir() {
        return Err(BadCall(format!("{} is a folder.", shown(path))));
    }
    if !about.is_file() {
        return Err(BadCall(format!("{} is no file.", shown(path))));
    }
    let mut bytes = Vec::new();
    let read = file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| trouble(path, &error))?;
    if FILE_BYTES_MAX < bytes.len() as u64 {
        return Err(BadCall(format!("{} is longer than {FILE_BYTES_MAX} bytes.", shown(path))));
    }
    String::from_utf8(bytes).map_err(|_| BadCall(format!("{} is no text.", shown(path))))
}

#[derive(Clone, Debug)]
pub struct List {
    root: Root,
    pub path: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListArguments {
    #[serde(default)]
    path: String,
}

impl List {
    pub(super) fn prepare(root: &Root, given: &ListArguments) -> Result<List, BadCall> {
        Ok(List { root: root.clone(), path: shown(&root.inside(&given.path)?) })
    }

    pub(super) fn run(&self) -> Result<String, BadCall> {
        let files = walk(&self.root, Path::new(&self.path))?;
        let shown = files.iter().take(LISTED_MAX);
        let mut lines: Vec<String> =
            shown.map(|(path, bytes)| format!("{bytes:>10}  {}\n", path.display())).collect();
        match files.len().checked_sub(LISTED_MAX) {
            _ if files.is_empty() => lines.push("(no files)\n".to_owned()),
            Some(more) if 0 < more => lines.push(format!("… and {more} more files\n")),
            _ => {}
        }
        Ok(lines.concat())
    }
}

/// The files under a folder with their sizes, by name; what git ignores, and what is hidden, left
/// out. Links are not followed.
pub(super) fn walk(root: &Root, under: &Path) -> Result<Vec<(PathBuf, u64)>, BadCall> {
    let under = root.resolved(under)?;
    let top = root.path().join(&under);
    let mut files = Vec::new();
    for entry in WalkBuilder::new(&top).require_git(false).build() {
        let Ok(entry) = entry else { continue };
        let Ok(about) = entry.metadata() else { continue };
        if about.is_file()
            && let Ok(path) = entry.path().strip_prefix(root.path())
            && !root.is_closed(path)
        {
            files.push((path.to_owned(), about.len()));
        }
    }
    files.sort();
    Ok(files)
}

#[derive(Clone, Debug)]
pub struct Search {
    root: Root,
    pub path: String,
    pub pattern: String,
    regex: regex::Regex,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchArguments {
    pattern: String,
    #[serde(default)]
    path: String,
}

/// Bytes that a pattern may take up when it is compiled.
const PATTERN_BYTES_MAX: usize = 1 << 20;
/// Characters of a found line that are shown.
const LINE_MAX: usize = 300;

impl Search {
    pub(super) fn prepare(root: &Root, given: SearchArguments) -> Result<Search, BadCall> {
        let regex = regex::RegexBuilder::new(&given.pattern)
            .size_limit(PATTERN_BYTES_MAX)
            .build()
            .map_err(|error| BadCall(format!("The pattern cannot be used: {error}")))?;
        let path = shown(&root.inside(&given.path)?);
        Ok(Search { root: root.clone(), path, pattern: given.pattern, regex })
    }

    pub(super) fn run(&self) -> Result<String, BadCall> {
        let mut found = Vec::new();
        for (path, bytes) in walk(&self.root, Path::new(&self.path))? {
            if FILE_BYTES_MAX < bytes {
                continue;
            }
            let Ok(file) = self.root.open_file(&path) else { continue };
            for (at, line) in BufReader::new(file).lines().enumerate() {
                // What is no text holds no lines.
                let Ok(line) = line else { break };
                if !self.regex.is_match(&line) {
                    continue;
                }
                if FOUND_MAX <= found.len() {
                    found.push("… and more: make the pattern narrower\n".to_owned());
                    return Ok(found.concat());
                }
                let line: String = line.chars().take(LINE_MAX).collect();
                found.push(format!("{}:{}: {line}\n", path.display(), at + 1));
            }
        }
        if found.is_empty() {
            found.push("(nothing found)\n".to_owned());
        }
        Ok(found.concat())
    }
}
