//! `millpond compare`: each column is the fold of its view, in text, in the page's patches, and in
//! the page's script.

use std::path::{Path, PathBuf};
use std::process::Command;

use millpond_engine::event::Record;
use millpond_engine::view::{ItemKind, ItemState, Page, View, ViewName, ViewOptions};
use millpond_engine::wire::patch;
use serde_json::Value;
use serde_json::value::RawValue;
use unicode_width::UnicodeWidthStr;

use crate::support::{
    chat_stream, fixture_path, run_millpond, run_with_input, unfinished_chat_stream,
};

const DATA_START: &str = "<script type=\"application/json\" id=\"data\">";

/// File extensions of streams among the fixtures.
const STREAM_EXTENSIONS: [&str; 3] = ["json", "jsonl", "sse"];

/// Paths of all streams among the fixtures.
fn fixture_streams() -> Vec<PathBuf> {
    let folders = std::fs::read_dir(fixture_path("")).unwrap().map(|entry| entry.unwrap().path());
    let files = folders.filter(|path| path.is_dir()).flat_map(|folder| {
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    });
    let is_stream =
        |path: &PathBuf| STREAM_EXTENSIONS.iter().any(|of| path.extension() == Some(of.as_ref()));
    let streams = files.filter(is_stream);
    let mut streams: Vec<PathBuf> = streams.collect();
    streams.sort();
    assert!(100 < streams.len(), "only {} streams", streams.len());
    streams
}

/// Pages of a view after each event of a log.
fn fold_view(view: ViewName, log: &str) -> Vec<Page> {
    let mut view = View::new(view, ViewOptions::default());
    let mut picture = Page::default();
    let records = log.lines().map(|line| serde_json::from_str::<Record<'_>>(line).unwrap());
    let after = records.map(|record| {
        view.apply(&record, &mut |patch| picture.apply(&patch));
        picture.clone()
    });
    after.collect()
}

fn run_show_events(stream: &str) -> String {
    run_millpond(&["show", "-q", "--output", "events", stream]).stdout
}

fn run_compare_html(stream: &str) -> String {
    run_millpond(&["compare", "-q", "--html", "-", stream]).stdout
}

/// JSON data of an HTML page.
fn page_data(page: &str) -> &str {
    let (_, rest) = page.split_once(DATA_START).unwrap();
    rest.split_once("</script>").unwrap().0
}

#[derive(serde::Deserialize)]
struct PageData<'a> {
    events: Vec<Value>,
    #[serde(borrow)]
    views: Vec<ViewFrames<'a>>,
}

#[derive(serde::Deserialize)]
struct ViewFrames<'a> {
    name: String,
    #[serde(borrow)]
    frames: Vec<Vec<&'a RawValue>>,
}

#[test]
fn the_patches_in_a_page_give_the_fold_at_every_event() {
    for stream in fixture_streams() {
        let stream = stream.to_str().unwrap();
        let (page, log) = (run_compare_html(stream), run_show_events(stream));
        let text = page_data(&page);
        assert!(!text.contains('<'), "{stream}: the data could leave its element");
        let data: PageData<'_> = serde_json::from_str(text).unwrap();
        assert_eq!(data.events.len(), log.lines().count(), "{stream}");
        assert_eq!(data.views.len(), ViewName::ALL.len());
        for frames in data.views {
            let folded = fold_view(frames.name.parse().unwrap(), &log);
            assert_eq!(frames.frames.len(), folded.len());
            let mut picture = Page::default();
            for (seq, (patches, folded)) in frames.frames.iter().zip(&folded).enumerate() {
                for data in patches {
                    let patch = patch::decode(data.get(), &picture).unwrap();
                    picture.apply(&patch);
                }
                assert_eq!(picture, *folded, "{stream}, {}, event {seq}", frames.name);
            }
        }
    }
}

#[test]
fn the_pages_own_client_gives_the_fold_at_every_event() {
    let folder = tempfile::tempdir().unwrap();
    for stream in fixture_streams() {
        let name =
            stream.strip_prefix(fixture_path("")).unwrap().to_str().unwrap().replace('/', "+");
        let stream = stream.to_str().unwrap();
        let log = run_show_events(stream);
        let pictures: serde_json::Map<String, Value> = ViewName::ALL
            .into_iter()
            .map(|view| {
                (view.as_str().to_owned(), serde_json::to_value(fold_view(view, &log)).unwrap())
            })
            .collect();
        std::fs::write(folder.path().join(format!("{name}.html")), run_compare_html(stream))
            .unwrap();
        let pictures = Value::Object(pictures).to_string();
        std::fs::write(folder.path().join(format!("{name}.json")), pictures).unwrap();
    }
    let checker = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/page-client.mjs");
    let ran = Command::new("node").arg(checker).env("PAGES", folder.path()).output();
    match ran {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            println!("skipped: no node to run the page's client with");
        }
        ran => {
            let ran = ran.unwrap();
            let output = String::from_utf8_lossy(&ran.stdout);
            assert!(ran.status.success(), "{output}");
        }
    }
}

#[test]
fn columns_hold_the_text_that_each_view_shows() {
    for stream in fixture_streams() {
        let stream = stream.to_str().unwrap();
        let log = run_show_events(stream);
        let last = (log.lines().count() - 1).to_string();
        let shown =
            run_millpond(&["compare", "-q", "--width", "2000", "--at", &last, stream]).stdout;
        assert_eq!(
            shown,
            run_millpond(&["compare", "-q", "--width", "2000", stream]).stdout,
            "{stream}"
        );
        let short = |line: &&str| line.width() < 300 && !line.chars().any(char::is_control);
        for view in ViewName::ALL {
            assert!(shown.contains(view.as_str()));
            let picture = fold_view(view, &log).pop().unwrap();
            let is_shown = |item: &&millpond_engine::view::Item<'_>| {
                item.kind == ItemKind::Text && item.state != ItemState::Withdrawn
            };
            for item in picture.items.values().filter(is_shown) {
                for line in item.text.lines().map(str::trim_end).filter(short) {
                    assert!(shown.contains(line), "{stream}, {view:?}: no {line:?} in {shown}");
                }
            }
        }
    }
}

#[test]
fn no_line_is_wider_than_asked_and_narrow_sheets_stack_the_views() {
    for stream in ["codex/every-kind-of-tool.jsonl", "kilo/whole-history.jsonl"] {
        let stream = fixture_path(stream);
        for width in [20, 43, 80, 120, 200] {
            let asked = width.to_string();
            let ran = run_millpond(&["compare", "-q", "--width", &asked, stream.to_str().unwrap()]);
            for line in ran.stdout.lines() {
                assert!(line.width() <= width, "{width}: {line}");
            }
        }
    }
    let stream = fixture_path("anthropic/two-messages.sse");
    let ran = run_millpond(&["compare", "-q", "--width", "80", stream.to_str().unwrap()]);
    let heads: Vec<&str> = ran.stdout.lines().filter(|line| line.contains("e │ s")).collect();
    assert!(heads.is_empty(), "{heads:?}");
    assert_eq!(ran.stdout.lines().filter(|line| line.starts_with('─')).count(), 2, "{ran:?}");
}

#[test]
fn a_moment_is_shown_as_it_stood() {
    let stream = chat_stream(&["One. ", "Two."]);
    let log = run_with_input(&["show", "-q", "-o", "events"], &stream).stdout;
    let at = log.lines().position(|line| line.contains("One. ")).unwrap().to_string();
    let ran = run_with_input(&["compare", "-q", "--at", &at], &stream);
    assert!(ran.stdout.contains("One.") && !ran.stdout.contains("Two."), "{}", ran.stdout);
    assert!(ran.stdout.contains("[Writing reply...]"), "{}", ran.stdout);
    let ran = run_with_input(&["compare", "-q", "--at", "999"], &stream);
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("no event 999"), "{}", ran.stderr);
    assert_eq!(run_millpond(&["compare", "--width", "19"]).status, 2);
}

#[test]
fn it_ends_as_show_does() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("out.html");
    let page = page.to_str().unwrap();
    for input in
        [chat_stream(&["a"]), unfinished_chat_stream(&["a"]), b"".to_vec(), b"hello\n".to_vec()]
    {
        let shown = run_with_input(&["show", "-q"], &input);
        for args in [&["compare", "-q"][..], &["compare", "-q", "--html", page]] {
            let ran = run_with_input(args, &input);
            assert_eq!((ran.status, &ran.stderr), (shown.status, &shown.stderr), "{ran:?}");
        }
        assert!(std::fs::read_to_string(page).unwrap().ends_with("</html>\n"));
    }
}

#[test]
fn what_a_model_writes_stays_text() {
    let naughty = [
        "</script><script>alert(1)</script>",
        "<!-- <script> --> ]]> <![CDATA[",
        "</ScRiPt\n><img src=x onerror=alert(1)>",
        "@data@ @script@ {{x}} \u{2028}\u{2029}\u{feff}\u{0}\u{1b}[2J",
        "\\u003c/script> \\\" ' ` ${x} &lt;",
    ];
    let page = run_with_input(&["compare", "-q", "--html", "-"], &chat_stream(&naughty)).stdout;
    assert_eq!(page.to_lowercase().matches("</script").count(), 3);
    assert_eq!(page.to_lowercase().matches("<script").count(), 3);
    assert!(!page.contains("<!--") && !page.contains("<img"));
    let data: Value = serde_json::from_str(page_data(&page)).unwrap();
    let whole = data["views"].to_string();
    let quoted = serde_json::to_string(naughty[0]).unwrap();
    assert!(whole.contains(quoted.trim_matches('"')), "{whole}");
    let shown = run_with_input(&["compare", "-q"], &chat_stream(&naughty)).stdout;
    assert!(!shown.contains(['\u{1b}', '\u{0}']), "{shown}");
}

#[test]
fn thinking_that_is_to_be_hidden_is_nowhere_in_the_page() {
    let stream = chat_stream(&["<think>secret plan</think>", "Yes."]);
    let page = run_with_input(&["compare", "-q", "--html", "-"], &stream).stdout;
    assert!(page.contains("secret plan"), "the events are all there");
    let page =
        run_with_input(&["compare", "-q", "--thinking", "hide", "--html", "-"], &stream).stdout;
    assert!(!page.contains("secret plan") && page.contains("Yes."));
}

#[test]
fn a_page_replaces_a_page_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("stream.sse");
    std::fs::write(&file, "data: {}\n\n").unwrap();
    let ran =
        run_with_input(&["compare", "-q", "--html", file.to_str().unwrap()], &chat_stream(&["a"]));
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("not overwritten"), "{}", ran.stderr);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "data: {}\n\n");
    let page = folder.path().join("page.html");
    for text in ["first one", "second one"] {
        let args = ["compare", "--html", page.to_str().unwrap()];
        let ran = run_with_input(&args, &chat_stream(&[text]));
        assert!(ran.stderr.contains("page.html"), "{}", ran.stderr);
        assert!(std::fs::read_to_string(&page).unwrap().contains(text));
    }
}
