//! The table in `docs/VIEWS.md`: every label of the specification has a row, and every test that a
//! row names exists.

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::files_below;

/// Families of rules, and how many each has.
const RULES: [(&str, usize); 6] = [("X", 18), ("L", 9), ("S", 10), ("B", 6), ("T", 11), ("F", 7)];

fn project_root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Names of all tests of the project.
fn test_names() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for crate_name in ["engine", "millpond"] {
        for part in ["src", "tests"] {
            let files = files_below(&project_root().join("crates").join(crate_name).join(part));
            for file in files.iter().filter(|path| path.extension().is_some_and(|end| end == "rs"))
            {
                let source = std::fs::read_to_string(file).unwrap();
                let mut lines = source.lines().map(str::trim);
                while lines.by_ref().any(|line| line == "#[test]") {
                    let name = lines.by_ref().find_map(|line| line.strip_prefix("fn "));
                    names.extend(name.and_then(|name| Some(name.split_once('(')?.0.to_owned())));
                }
            }
        }
    }
    names
}

/// First cell of each table row, and the tests in its last cell.
fn table_rows(page: &str) -> Vec<(&str, Vec<&str>)> {
    let rows = page.lines().filter(|line| line.starts_with("| ") && line.contains('`'));
    let cells = rows.map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect());
    cells
        .map(|cells: Vec<&str>| {
            let named = cells[cells.len() - 1].split(", ").map(|name| name.trim_matches('`'));
            (cells[0], named.collect())
        })
        .collect()
}

#[test]
fn every_label_has_a_row_and_every_test_in_it_exists() {
    let page = std::fs::read_to_string(project_root().join("docs/VIEWS.md")).unwrap();
    let (rows, tests) = (table_rows(&page), test_names());
    let mut labels: Vec<String> = vec!["V".into(), "E".into()];
    for (family, count) in RULES {
        labels.extend((1..=count).map(|number| format!("{family}{number}")));
    }
    for label in labels {
        let row = rows.iter().find(|(first, _)| *first == label);
        let (_, named) = row.unwrap_or_else(|| panic!("{label} has no row"));
        assert!(!named.is_empty(), "{label} names no test");
    }
    for (label, named) in rows {
        for name in named {
            assert!(tests.contains(name), "{label} names {name}, which is no test");
        }
    }
}
