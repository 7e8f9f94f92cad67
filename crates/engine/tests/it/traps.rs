//! The table of traps in `docs/PROVIDERS.md` names tests that exist.

use std::path::Path;

/// Traps that have been seen on real wires and in real output of agents.
const TRAPS_SEEN: usize = 30;

fn read_file(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The cells of each row of the table.
fn table_rows(page: &str) -> Vec<Vec<&str>> {
    let (_, section) = page.split_once("\n## Traps\n").unwrap();
    let section = section.split("\n## ").next().unwrap_or(section);
    let rows = section.lines().filter(|line| line.starts_with("| ")).skip(2);
    rows.map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect()).collect()
}

/// Returns true if `file::test`, or `file::module::test`, is a test of this folder.
fn test_exists(name: &str) -> bool {
    let parts: Vec<&str> = name.split("::").collect();
    let [file, modules @ .., test] = parts.as_slice() else { return false };
    let source = read_file(&format!("tests/it/{file}.rs"));
    let mut rest = source.as_str();
    for module in modules {
        let Some((_, inside)) = rest.split_once(&format!("\nmod {module} {{\n")) else {
            return false;
        };
        rest = inside.split("\n}\n").next().unwrap_or(inside);
    }
    let lines: Vec<&str> = rest.lines().map(str::trim).collect();
    lines.windows(2).any(|pair| pair == ["#[test]", &format!("fn {test}() {{")])
}

#[test]
fn every_trap_has_a_test_that_exists() {
    let page = read_file("../../docs/PROVIDERS.md");
    let rows = table_rows(&page);
    assert!(TRAPS_SEEN <= rows.len(), "only {} rows", rows.len());
    for row in rows {
        let [_, _, tests] = row.as_slice() else { panic!("not three cells: {row:?}") };
        for test in tests.split(", ") {
            let name = test.strip_prefix('`').and_then(|name| name.strip_suffix('`'));
            assert!(name.is_some_and(test_exists), "no test is called {test}");
        }
    }
}

#[test]
fn a_name_that_is_no_test_is_told_from_one_that_is() {
    assert!(test_exists("traps::every_trap_has_a_test_that_exists"));
    assert!(test_exists("agents::acp::a_line_of_half_a_megabyte_passes"));
    assert!(!test_exists("agents::a_line_of_half_a_megabyte_passes_not"));
    assert!(!test_exists("agents::kilo::a_line_of_half_a_megabyte_passes"));
    assert!(!test_exists("traps::exists"));
}
