//! Reading, listing and searching files.

use std::io::{BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use serde::Deserialize;

use super::working_folder::{WorkingFolder, describe_io_error};
use super::{ToolCallError, display_path};
use crate::limits::{FILE_BYTES_MAX, LISTED_FILES_MAX, SEARCH_MATCHES_MAX};

/// A prepared read of a file.
#[derive(Clone, Debug)]
pub struct ReadFile {
    folder: WorkingFolder,
    /// Path for people.
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

impl ReadFile {
    pub(super) fn prepare(
        root: &WorkingFolder,
        arguments: &ReadArguments,
    ) -> Result<ReadFile, ToolCallError> {
        let path = display_path(&root.normalise_path_inside(&arguments.path)?);
        let from_line = arguments.from_line.unwrap_or(1).max(1);
        Ok(ReadFile {
            folder: root.clone(),
            path,
            from_line,
            lines: arguments.lines.unwrap_or(usize::MAX),
        })
    }

    /// Reads the lines, with their numbers.
    pub(super) fn run(&self) -> Result<String, ToolCallError> {
        let text = read_text_file(&self.folder, Path::new(&self.path))?;
        let lines = text.lines().enumerate().skip(self.from_line - 1).take(self.lines);
        let numbered: Vec<String> =
            lines.map(|(index, line)| format!("{:>5}  {line}\n", index + 1)).collect();
        if numbered.is_empty() {
            return Ok("(no lines)".to_owned());
        }
        Ok(numbered.concat())
    }
}

/// Reads a whole text file.
pub(super) fn read_text_file(root: &WorkingFolder, path: &Path) -> Result<String, ToolCallError> {
    let file = root.open_file_for_read(path)?;
    let metadata = file.metadata().map_err(|error| describe_io_error(path, &error))?;
    if metadata.is_dir() {
        return Err(ToolCallError(format!("{} is a folder.", display_path(path))));
    }
    if !metadata.is_file() {
        return Err(ToolCallError(format!("{} is not a file.", display_path(path))));
    }
    let mut bytes = Vec::new();
    let result = file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    result.map_err(|error| describe_io_error(path, &error))?;
    if FILE_BYTES_MAX < bytes.len() as u64 {
        return Err(ToolCallError(format!(
            "{} is longer than {FILE_BYTES_MAX} bytes.",
            display_path(path)
        )));
    }
    String::from_utf8(bytes)
        .map_err(|_| ToolCallError(format!("{} is not a text file.", display_path(path))))
}

/// A prepared listing of a folder.
#[derive(Clone, Debug)]
pub struct ListFiles {
    folder: WorkingFolder,
    /// Path for people.
    pub path: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListArguments {
    #[serde(default)]
    path: String,
}

impl ListFiles {
    pub(super) fn prepare(
        root: &WorkingFolder,
        arguments: &ListArguments,
    ) -> Result<ListFiles, ToolCallError> {
        Ok(ListFiles {
            folder: root.clone(),
            path: display_path(&root.normalise_path_inside(&arguments.path)?),
        })
    }

    /// Lists the files with their sizes.
    pub(super) fn run(&self) -> Result<String, ToolCallError> {
        let files = walk_unignored_files_with_sizes(&self.folder, Path::new(&self.path))?;
        let listed = files.iter().take(LISTED_FILES_MAX);
        let mut lines: Vec<String> =
            listed.map(|(path, bytes)| format!("{bytes:>10}  {}\n", path.display())).collect();
        match files.len().checked_sub(LISTED_FILES_MAX) {
            _ if files.is_empty() => lines.push("(no files)\n".to_owned()),
            Some(more) if 0 < more => lines.push(format!("… and {more} more files\n")),
            _ => {}
        }
        Ok(lines.concat())
    }
}

/// Lists the files under a folder with their sizes, sorted by name. Skips ignored and hidden files;
/// does not follow links.
pub(super) fn walk_unignored_files_with_sizes(
    root: &WorkingFolder,
    folder: &Path,
) -> Result<Vec<(PathBuf, u64)>, ToolCallError> {
    let folder = root.resolve_links_and_check_access(folder)?;
    let walk_root = root.path().join(&folder);
    let mut files = Vec::new();
    for entry in WalkBuilder::new(&walk_root).require_git(false).build() {
        let Ok(entry) = entry else { continue };
        let Ok(metadata) = entry.metadata() else { continue };
        if metadata.is_file()
            && let Ok(path) = entry.path().strip_prefix(root.path())
            && !root.is_excluded(path)
        {
            files.push((path.to_owned(), metadata.len()));
        }
    }
    files.sort();
    Ok(files)
}

/// A prepared search.
#[derive(Clone, Debug)]
pub struct SearchFiles {
    folder: WorkingFolder,
    /// Path for people.
    pub path: String,
    /// Regular expression.
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

/// Bytes of a compiled pattern.
const PATTERN_BYTES_MAX: usize = 1 << 20;
/// Characters of a matching line that are shown.
const MATCH_LINE_CHARS_MAX: usize = 300;

impl SearchFiles {
    pub(super) fn prepare(
        root: &WorkingFolder,
        arguments: SearchArguments,
    ) -> Result<SearchFiles, ToolCallError> {
        let regex = regex::RegexBuilder::new(&arguments.pattern)
            .size_limit(PATTERN_BYTES_MAX)
            .build()
            .map_err(|error| ToolCallError(format!("Invalid pattern: {error}")))?;
        let path = display_path(&root.normalise_path_inside(&arguments.path)?);
        Ok(SearchFiles { folder: root.clone(), path, pattern: arguments.pattern, regex })
    }

    /// Searches all files line by line.
    pub(super) fn run(&self) -> Result<String, ToolCallError> {
        let mut matches = Vec::new();
        for (path, bytes) in walk_unignored_files_with_sizes(&self.folder, Path::new(&self.path))? {
            if FILE_BYTES_MAX < bytes {
                continue;
            }
            let Ok(file) = self.folder.open_file_for_read(&path) else { continue };
            for (index, line) in BufReader::new(file).lines().enumerate() {
                // Not a text file.
                let Ok(line) = line else { break };
                if !self.regex.is_match(&line) {
                    continue;
                }
                if SEARCH_MATCHES_MAX <= matches.len() {
                    matches.push("… more matches: narrow the pattern\n".to_owned());
                    return Ok(matches.concat());
                }
                let line: String = line.chars().take(MATCH_LINE_CHARS_MAX).collect();
                matches.push(format!("{}:{}: {line}\n", path.display(), index + 1));
            }
        }
        if matches.is_empty() {
            matches.push("(no matches)\n".to_owned());
        }
        Ok(matches.concat())
    }
}
