//! Test data: the project's own in the engine's `tests/texts/`, and the corpus of other projects if
//! it is there.
//!
//! Every test that reads the corpus also reads the project's own data, so that it makes its claim
//! on any machine.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// Folder of the corpus, beside the project or in `MILLPOND_CORPUS`.
pub(crate) fn find_corpus() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let place = std::env::var_os("MILLPOND_CORPUS").map_or(beside, PathBuf::from);
    place.is_dir().then_some(place)
}

fn own_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine/tests/texts")
}

/// Files in a folder and its subfolders, in order.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries
        .flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] })
        .collect();
    files.sort();
    files
}

#[track_caller]
fn read_json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[track_caller]
fn elements(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("no array: {value}"))
}

#[track_caller]
fn text_field(value: &Value, name: &str) -> String {
    let text = value[name].as_str().unwrap_or_else(|| panic!("no text {name} in {value}"));
    text.to_owned()
}

/// Sources of the project's own Markdown examples in one file.
pub(crate) fn own_examples(topic: &str) -> Vec<String> {
    let cases = read_json(&own_folder().join("markdown").join(topic).with_extension("json"));
    elements(&cases).iter().map(|case| text_field(case, "markdown")).collect()
}

/// Examples of the `CommonMark` specification, each with its section; empty without the corpus.
pub(crate) fn corpus_examples() -> Vec<(String, String)> {
    let Some(corpus) = find_corpus() else { return Vec::new() };
    let cases = read_json(&corpus.join("markdown/commonmark-spec.json"));
    let example = |case| (text_field(case, "section"), text_field(case, "markdown"));
    elements(&cases).iter().map(example).collect()
}

/// Sources of all Markdown examples.
pub(crate) fn markdown_examples() -> Vec<String> {
    let mut sources = examples_below(&own_folder().join("markdown"));
    assert!(400 <= sources.len(), "only {} examples", sources.len());
    if let Some(corpus) = find_corpus() {
        let specified = examples_below(&corpus.join("markdown"));
        assert!(1_000 < specified.len(), "the corpus has {} examples", specified.len());
        sources.extend(specified);
    }
    sources
}

fn examples_below(folder: &Path) -> Vec<String> {
    let cases: Vec<Value> = files_below(folder).iter().map(|file| read_json(file)).collect();
    cases.iter().flat_map(elements).map(|case| text_field(case, "markdown")).collect()
}

/// Texts that break programs.
pub(crate) fn awkward_texts() -> Vec<String> {
    let own = read_json(&own_folder().join("awkward.json"));
    let mut texts = strings_in(&own["texts"]);
    texts.extend(elements(&own["repeated"]).iter().map(|long| {
        let times = usize::try_from(long["times"].as_u64().unwrap()).unwrap();
        text_field(long, "piece").repeat(times)
    }));
    assert!(200 <= texts.len(), "only {} texts", texts.len());
    if let Some(corpus) = find_corpus() {
        texts.extend(strings_in(&read_json(&corpus.join("naughty/blns.json"))));
    }
    texts
}

/// Texts that attack a page or a terminal.
pub(crate) fn hostile_texts() -> Vec<String> {
    let texts = strings_in(&read_json(&own_folder().join("hostile-markup.json")));
    assert!(300 <= texts.len(), "only {} texts", texts.len());
    texts
}

/// Every string in a JSON value, without the names of fields.
fn strings_in(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(values) => values.iter().flat_map(strings_in).collect(),
        Value::Object(fields) => fields.values().flat_map(strings_in).collect(),
        _ => Vec::new(),
    }
}
