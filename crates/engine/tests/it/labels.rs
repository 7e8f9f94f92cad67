//! The tables in `docs/VIEWS.md`: every label of the specification has a row, every sentence of a
//! design has a rule, and every test that a row names exists.

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::files_below;

/// Families of rules, and how many each has.
const RULES: [(&str, usize); 6] = [("X", 18), ("L", 9), ("S", 10), ("B", 6), ("T", 11), ("F", 7)];

fn project_root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

const CRATES: [&str; 7] = ["agent", "client", "engine", "gateway", "log", "millpond", "terminal"];

const WEB_FOLDERS: [&str; 3] = ["src", "tests", "packages/client/test"];

/// Sources below a folder of the project whose names have this extension.
fn sources(folder: &str, extension: &str) -> impl Iterator<Item = String> {
    let files = files_below(&project_root().join(folder)).into_iter();
    files
        .filter(move |path| path.extension().is_some_and(|end| end == extension))
        .map(|path| std::fs::read_to_string(path).unwrap())
}

fn is_test_attribute(line: &str) -> bool {
    line == "#[test]" || line.starts_with("#[tokio::test")
}

/// Name of a Rust function whose signature begins in this line.
fn function_name(line: &str) -> Option<&str> {
    let signature = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ")?;
    signature.split_once('(').map(|(name, _)| name)
}

/// Name of a test of the web chat whose call begins in this line.
fn web_test_name(line: &str) -> Option<&str> {
    let call = line.strip_prefix("test(")?;
    let name = |quote: char| call.strip_prefix(quote)?.split_once(quote).map(|(name, _)| name);
    name('"').or_else(|| name('`'))
}

/// Names of all tests of the project.
fn test_names() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for folder in CRATES.iter().flat_map(|name| ["src", "tests/it"].map(|part| (name, part))) {
        for source in sources(&format!("crates/{}/{}", folder.0, folder.1), "rs") {
            let mut lines = source.lines().map(str::trim);
            while lines.by_ref().any(is_test_attribute) {
                names.extend(lines.by_ref().find_map(function_name).map(str::to_owned));
            }
        }
    }
    for folder in WEB_FOLDERS {
        for source in sources(&format!("web/{folder}"), "ts") {
            names
                .extend(source.lines().map(str::trim).filter_map(web_test_name).map(str::to_owned));
        }
    }
    names
}

/// Cells of a table row.
fn cells(row: &str) -> Vec<&str> {
    row.trim_matches('|').split(" | ").map(str::trim).collect()
}

/// Names in a cell, each in back-ticks.
fn names_in(cell: &str) -> Vec<&str> {
    cell.trim_matches('`').split("`, `").collect()
}

/// First cell of each table row, and the tests in its last cell.
fn table_rows(page: &str) -> Vec<(&str, Vec<&str>)> {
    let rows = page.lines().filter(|line| line.starts_with("| ") && line.contains('`')).map(cells);
    rows.map(|cells| (cells[0], names_in(cells[cells.len() - 1]))).collect()
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

/// Last cell of a row whose sentence says nothing that can be tested.
const CONTEXT: &str = "context: not a rule";

#[test]
fn every_sentence_of_a_design_has_its_rule_and_its_tests() {
    let page = std::fs::read_to_string(project_root().join("docs/VIEWS.md")).unwrap();
    let rules = std::fs::read_to_string(project_root().join("docs/RULES.md")).unwrap();
    let (labels, designs) = page.split_once("\n## The five designs\n").unwrap();
    let labels: BTreeSet<&str> = table_rows(labels).into_iter().map(|(label, _)| label).collect();
    let sections: Vec<&str> = designs.split("\n### ").skip(1).collect();
    assert_eq!(sections.len(), 5);
    for (number, section) in sections.into_iter().enumerate() {
        let rows: Vec<Vec<&str>> =
            section.lines().filter(|line| line.starts_with("| \"")).map(cells).collect();
        assert!(30 <= rows.len(), "design {number} has {} rows", rows.len());
        for row in rows {
            let [_, rule, tests] = row.as_slice() else { panic!("not three cells: {row:?}") };
            let is_known = match rule.strip_prefix("O: ") {
                Some(design) => rules.contains(&format!("\n| {number:03}: {design} | ")),
                None if *tests == CONTEXT => *rule == "-",
                None => rule.split(", ").all(|label| labels.contains(label)),
            };
            assert!(is_known, "no such rule: {row:?}");
            assert!(*tests == CONTEXT || tests.starts_with('`'), "no test: {row:?}");
        }
    }
}
