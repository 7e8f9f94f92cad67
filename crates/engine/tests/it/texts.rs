//! Test data: the project's own in `tests/texts/`, and the corpus of other projects if it is there.
//!
//! Every test that reads the corpus also reads the project's own data, so that it makes its claim
//! on any machine.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::files_below;

/// Folder of the corpus, beside the project or in `MILLPOND_CORPUS`.
pub(crate) fn find_corpus() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let place = std::env::var_os("MILLPOND_CORPUS").map_or(beside, PathBuf::from);
    place.is_dir().then_some(place)
}

fn own_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/texts")
}

#[track_caller]
fn read_json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Reads a JSON file of the project's own data.
pub(crate) fn read_own(file: &str) -> Value {
    read_json(&own_folder().join(file))
}

/// Reads a JSON file of the corpus, if there is one.
pub(crate) fn read_corpus(file: &str) -> Option<Value> {
    find_corpus().map(|corpus| read_json(&corpus.join(file)))
}

/// Elements of a JSON array.
#[track_caller]
pub(crate) fn elements(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("no array: {value}"))
}

/// A string field of a JSON object.
#[track_caller]
pub(crate) fn text_field<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_else(|| panic!("no text {name} in {value}"))
}

/// Sources of all Markdown examples.
pub(crate) fn markdown_examples() -> Vec<String> {
    let own = files_below(&own_folder().join("markdown"));
    let mut examples: Vec<Value> = own.iter().map(|file| read_json(file)).collect();
    let corpus = ["markdown/commonmark-spec.json", "markdown/gfm-spec.json"];
    examples.extend(corpus.into_iter().filter_map(read_corpus));
    let sources = examples.iter().flat_map(elements).map(|case| text_field(case, "markdown"));
    let sources: Vec<String> = sources.map(str::to_owned).collect();
    assert!(400 <= sources.len(), "only {} examples", sources.len());
    sources
}

/// Texts that break programs.
pub(crate) fn awkward_texts() -> Vec<String> {
    let own = read_own("awkward.json");
    let mut texts = strings_in(&own["texts"]);
    texts.extend(elements(&own["repeated"]).iter().map(|long| {
        let times = usize::try_from(long["times"].as_u64().unwrap()).unwrap();
        text_field(long, "piece").repeat(times)
    }));
    assert!(200 <= texts.len(), "only {} texts", texts.len());
    texts.extend(read_corpus("naughty/blns.json").iter().flat_map(strings_in));
    texts
}

/// Texts that attack a page or a terminal.
pub(crate) fn hostile_texts() -> Vec<String> {
    let mut texts = strings_in(&read_own("hostile-markup.json"));
    assert!(300 <= texts.len(), "only {} texts", texts.len());
    for file in ["xss/xss-payloads-open.json", "xss/dompurify-expect.json"] {
        texts.extend(read_corpus(file).iter().flat_map(strings_in));
    }
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
