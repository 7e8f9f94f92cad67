//! The code keeps to the arrows of ARCHITECTURE.md and to the words of docs/GLOSSARY.md.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::documents::project_folder;

/// The largest number of lines of a source file.
const FILE_LINES_MAX: usize = 400;

type Arrows = BTreeMap<String, BTreeSet<String>>;

/// Reads the lines `name: import, import` of the `imports` block that begin with `prefix`.
fn listed_arrows(prefix: &str) -> Arrows {
    let text = std::fs::read_to_string(project_folder().join("ARCHITECTURE.md")).unwrap();
    let (_, block) = text.split_once("```imports\n").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    let lines = block.lines().filter_map(|line| line.strip_prefix(prefix)?.split_once(':'));
    let names = |list: &str| {
        list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
    };
    lines.map(|(name, imports)| (name.to_owned(), names(imports))).collect()
}

/// Lists the files below a folder whose names end with `ending`, in order.
fn list_files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(list_files(&path, ending));
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Top-level modules named in `crate::module` paths of production code, without comments.
fn imported_modules(text: &str) -> BTreeSet<String> {
    let production = text.split("#[cfg(test)]").next().unwrap();
    let lines = production.lines().filter(|line| !line.trim_start().starts_with("//"));
    let mut found = BTreeSet::new();
    for line in lines {
        for (at, _) in line.match_indices("crate::") {
            let rest = &line[at + "crate::".len()..];
            let name = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap();
            found.insert(name.to_owned());
        }
    }
    found
}

#[test]
fn engine_modules_import_only_what_the_architecture_allows() {
    let arrows = listed_arrows("engine/");
    let source = project_folder().join("crates/engine/src");
    let mut broken = Vec::new();
    let mut imports = 0;
    for path in list_files(&source, ".rs") {
        let relative = path.strip_prefix(&source).unwrap();
        let first = relative.components().next().unwrap().as_os_str().to_string_lossy();
        let module = first.trim_end_matches(".rs").to_owned();
        if module == "lib" || module.ends_with("_tests") {
            continue;
        }
        let Some(allowed) = arrows.get(&module) else {
            broken.push(format!("engine/{module} is not in ARCHITECTURE.md"));
            continue;
        };
        let text = std::fs::read_to_string(&path).unwrap();
        for import in imported_modules(&text) {
            imports += 1;
            if import != module && arrows.contains_key(&import) && !allowed.contains(&import) {
                broken.push(format!("{} imports {import}", relative.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(100 <= imports, "only {imports} imports found");
}

#[test]
fn crates_depend_only_on_what_the_architecture_lists() {
    let mut found = Arrows::new();
    for folder in ["crates", "."] {
        for entry in std::fs::read_dir(project_folder().join(folder)).unwrap() {
            let Ok(text) = std::fs::read_to_string(entry.unwrap().path().join("Cargo.toml")) else {
                continue;
            };
            let manifest: toml::Table = text.parse().unwrap();
            let name = manifest["package"]["name"].as_str().unwrap().to_owned();
            let depends = manifest.get("dependencies").and_then(toml::Value::as_table);
            let depends = depends.into_iter().flat_map(toml::Table::keys);
            let ours = depends.filter(|depended| depended.starts_with("millpond")).cloned();
            found.insert(name, ours.collect());
        }
    }
    // Outside the workspace, because it needs a nightly compiler.
    found.remove("millpond-fuzz");
    assert_eq!(found, listed_arrows("crate "));
}

#[test]
fn every_word_of_the_glossary_has_its_type() {
    let text = std::fs::read_to_string(project_folder().join("docs/GLOSSARY.md")).unwrap();
    let rows: Vec<&str> = text.lines().filter(|line| line.ends_with("` |")).collect();
    assert!(30 <= rows.len(), "only {} rows", rows.len());
    for row in rows {
        let (_, cell) = row.trim_end_matches("` |").rsplit_once('`').unwrap();
        let (path, name) = cell.split_once(' ').unwrap();
        let code = std::fs::read_to_string(project_folder().join(path)).unwrap_or_default();
        let keywords = ["struct", "enum", "trait", "type"];
        let exists = |keyword: &str| {
            code.match_indices(&format!("{keyword} {name}")).any(|(at, found)| {
                let next = code[at + found.len()..].chars().next();
                next.is_none_or(|next| !next.is_alphanumeric() && next != '_')
            })
        };
        assert!(keywords.into_iter().any(exists), "{path} has no type {name}");
    }
}

#[test]
fn no_source_file_is_long() {
    let mut long = Vec::new();
    let files = ["crates", "bench/src", "web/src", "web/packages", "web/tests"];
    for (folder, ending) in files.into_iter().flat_map(|folder| [(folder, ".rs"), (folder, ".ts")])
    {
        for path in list_files(&project_folder().join(folder), ending) {
            let is_built = |part: std::path::Component<'_>| {
                ["node_modules", "dist"].iter().any(|name| part.as_os_str() == *name)
            };
            if path.components().any(is_built) {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let lines = text.lines().count();
            let is_generated = text.starts_with("// Generated from ");
            if FILE_LINES_MAX < lines && !is_generated {
                long.push(format!("{}: {lines} lines", path.display()));
            }
        }
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}
