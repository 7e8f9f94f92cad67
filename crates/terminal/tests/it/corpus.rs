//! Corpus of third-party texts.
//!
//! The corpus is next to the project (`MILLPOND_CORPUS` overrides the path); without it the tests
//! that need it print that they are skipped.

use std::path::{Path, PathBuf};

pub(crate) fn corpus_folder(test: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let place = std::env::var_os("MILLPOND_CORPUS").map_or(beside, PathBuf::from);
    if place.is_dir() {
        return Some(place);
    }
    println!("skipped: {test} needs the corpus, and {} is not there", place.display());
    None
}

/// Reads the examples of one Markdown specification.
pub(crate) fn read_examples(corpus: &Path, file: &str) -> Vec<String> {
    let text = std::fs::read_to_string(corpus.join("markdown").join(file)).unwrap();
    let cases: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    cases.iter().map(|case| case["markdown"].as_str().unwrap().to_owned()).collect()
}

/// Reads the examples of both specifications.
pub(crate) fn read_all_examples(corpus: &Path) -> Vec<String> {
    let mut all = read_examples(corpus, "commonmark-spec.json");
    all.extend(read_examples(corpus, "gfm-spec.json"));
    assert!(all.len() > 1_000, "the corpus has {} examples", all.len());
    all
}
