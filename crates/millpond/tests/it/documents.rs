//! Documents name only paths, dialects and commands that exist.

use std::path::{Path, PathBuf};

use crate::support::run_millpond;

pub(crate) fn project_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn list_documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["", "docs", "docs/decisions", "bench"] {
        for entry in std::fs::read_dir(project_folder().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found
}

/// Words that look like a path of the project.
fn paths_in(text: &str) -> Vec<&str> {
    let words = text.split(|char: char| char.is_whitespace() || "`|()\"".contains(char));
    let roots = ["fixtures/", "crates/", "docs/", "bench/", "scripts/", "fuzz/", "./scripts/"];
    words
        .map(|word| word.trim_end_matches(['.', ',', ';', ':']))
        .filter(|word| roots.iter().any(|root| word.starts_with(root)))
        .filter(|word| !word.contains(['<', '*', '$']))
        .collect()
}

#[test]
fn every_path_that_a_document_names_exists() {
    let mut missing = Vec::new();
    let mut checked = 0;
    for document in list_documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        for path in paths_in(&text) {
            checked += 1;
            if !project_folder().join(path).exists() {
                missing.push(format!("{}: {path}", document.display()));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    assert!(100 <= checked, "only {checked} paths found");
}

#[test]
fn every_dialect_has_its_section_and_its_end_marker_in_the_document() {
    let text = std::fs::read_to_string(project_folder().join("docs/PROVIDERS.md")).unwrap();
    let help = run_millpond(&["show", "--help"]).stdout;
    let (_, names) = help.split_once("[possible values: auto, ").unwrap();
    let names: Vec<&str> = names.split(']').next().unwrap().split(',').map(str::trim).collect();
    assert!(19 <= names.len(), "{names:?}");
    for name in names {
        assert!(text.contains(&format!("\n## {name}\n")), "no section for {name}");
        assert!(text.contains(&format!("\n| `{name}` |")), "no end marker for {name}");
    }
}

#[test]
fn the_first_command_of_the_readme_shows_a_run() {
    let readme = std::fs::read_to_string(project_folder().join("README.md")).unwrap();
    let command =
        readme.lines().find(|line| line.starts_with("cargo run -p millpond -- ")).unwrap();
    let arguments: Vec<&str> = command.split(" -- ").nth(1).unwrap().split(' ').collect();
    let output = crate::support::millpond_command(&arguments)
        .current_dir(project_folder())
        .output()
        .unwrap();
    assert!(output.status.success() && !output.stdout.is_empty(), "{output:?}");
}
