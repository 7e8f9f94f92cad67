//! Every stream, of the project and of the corpus: each is read without loss, with every chunking.

use std::path::{Path, PathBuf};

use millpond_engine::event::Event;
use millpond_engine::ingest::{Ingest, IngestOptions};
use millpond_engine::run::InputEnd;

use crate::cuts::check_cuts;
use crate::extractor;
use crate::fixtures::fixture_streams;
use crate::rules::check_well_formed;
use crate::support::{self, RecordedEvents, files_below, ingest_whole};
use crate::texts::{find_corpus, read_own};

/// A recorded stream, and what is known of it from outside.
struct Stream {
    /// Path below `fixtures/` or the corpus.
    name: String,
    dialect: String,
    bytes: Vec<u8>,
}

/// The streams of the project, and those of the corpus if there is one.
fn all_streams() -> Vec<Stream> {
    let own = fixture_streams().into_iter().map(|path| {
        let folder = path.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
        let file = path.file_name().unwrap().to_str().unwrap();
        Stream {
            name: format!("{folder}/{file}"),
            bytes: std::fs::read(&path).unwrap(),
            dialect: folder,
        }
    });
    let mut streams: Vec<Stream> = own.collect();
    assert!(250 <= streams.len(), "only {} streams", streams.len());
    for path in find_corpus().iter().flat_map(|corpus| corpus_streams(corpus)) {
        let name = path.to_string_lossy().replace('\\', "/");
        let dialect = expected_dialect(&name).to_owned();
        streams.push(Stream { bytes: std::fs::read(&path).unwrap(), name, dialect });
    }
    streams
}

/// Streams of the corpus.
pub(crate) fn corpus_streams(corpus: &Path) -> Vec<PathBuf> {
    let mut files = files_below(&corpus.join("recordings"));
    files.extend(files_below(&corpus.join("cli")));
    files.retain(|path| path.file_name().is_some_and(|name| name != "README.txt"));
    files
}

/// The dialect that a file's place in the corpus says it is of.
fn expected_dialect(path: &str) -> &'static str {
    let by_name = [
        ("acp_", "acp"),
        ("codex_app_server", "codex-app-server"),
        ("codex", "codex"),
        ("claude", "claude-code"),
        ("cursor", "cursor-agent"),
        ("gemini", "gemini-cli"),
        ("qwen", "qwen-code"),
        ("opencode", "opencode"),
        ("copilot", "copilot"),
        ("cline", "cline"),
        ("pi", "pi"),
    ];
    if let Some((_, name)) = path.split_once("/cli/") {
        let file = name.rsplit('/').next().unwrap_or(name);
        let known = by_name.iter().find(|(prefix, _)| file.starts_with(prefix));
        return known.map_or("?", |(_, dialect)| dialect);
    }
    if path.contains("/responses/") || path.contains("responses_") {
        return "openai-responses";
    }
    let responses_in_azure = path.contains("/azure/") && !path.contains("deepseek");
    match path {
        _ if responses_in_azure => "openai-responses",
        _ if path.contains("/anthropic/") => "anthropic",
        _ if path.contains("messages_round") || path.contains("anthropic_stream") => "anthropic",
        _ if path.contains("/google/") || path.contains("/vertex/") => "gemini",
        _ if path.contains("/cohere/") => "cohere",
        _ if path.contains("/amazon-bedrock/") => "bedrock",
        _ => "openai-chat",
    }
}

#[test]
fn every_stream_is_recognised_and_ends_once() {
    let mut wrong = Vec::new();
    for Stream { name, dialect, bytes } in all_streams() {
        let kept = ingest_whole(&bytes);
        let chosen = match kept.events().next() {
            Some(Event::RunStarted { dialect, .. }) => dialect.to_string(),
            other => format!("{other:?}"),
        };
        if chosen != dialect {
            wrong.push(format!("{name}: {chosen}, not {dialect}"));
        }
        assert_eq!(kept.ending_count(), 1, "{name}");
        check_well_formed(&kept, &name);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Recordings of the corpus whose ending is not `completed`, and what it is. Those of the project
/// are in `texts/streams.json`. All others are complete.
const ENDINGS: &[(&str, &str)] = &[
    ("anthropic/anthropic-refusal.chunks.txt", "failed"),
    ("groq/chat/test_tool_use_failed_error_streaming.0.sse", "failed"),
    ("groq/chat/test_tool_use_failed_error_streaming_with_text.0.sse", "failed"),
    ("openai/responses/openai-error.1.chunks.txt", "failed"),
    ("openrouter/chat/test_openrouter_stream_error.0.sse", "failed"),
    ("cli/captured/claude_429.jsonl", "failed"),
    ("cli/captured/claude_api_retry_timeout.jsonl", "truncated"),
    ("cli/captured/codex_cut_midstream.jsonl", "failed"),
    ("cli/codex-0.149.0-captured-errors.jsonl", "failed"),
    // Its first and last lines are not JSON (a brace is missing), so its end cannot be seen.
    ("openai/responses/parallel-tool-call-wrapper.1.chunks.txt", "truncated"),
];

/// The list of the project's streams that are special in this way: path, and in which.
fn special_streams(list: &str) -> Vec<(String, String)> {
    let streams = read_own("streams.json");
    let listed = streams[list].as_object().unwrap();
    let files = listed.iter().map(|(file, note)| (file.clone(), note.as_str().unwrap().to_owned()));
    files.collect()
}

#[test]
fn every_stream_has_a_right_ending() {
    let mut endings = special_streams("not completed");
    endings.extend(ENDINGS.iter().map(|&(file, outcome)| (file.to_owned(), outcome.to_owned())));
    let mut wrong = Vec::new();
    for Stream { name, bytes, .. } in all_streams() {
        let kept = ingest_whole(&bytes);
        let Some(Event::RunEnded { ending }) = kept.events().last() else {
            panic!("{name} does not end")
        };
        let outcome = format!("{:?}", ending.outcome).to_lowercase();
        let listed = endings.iter().find(|(file, _)| name.ends_with(file));
        let expected = listed.map_or("completed", |(_, outcome)| outcome);
        if outcome != expected {
            wrong.push(format!("{name}: {outcome} ({:?}), not {expected}", ending.detail));
        }
    }
    assert!(wrong.is_empty(), "see texts/streams.json:\n{}", wrong.join("\n"));
}

/// Recordings of the corpus of which deltas do not say all that is shown. The texts of the project's
/// streams of that kind are in `texts/streams.json`.
const TRIMMED: &[(&str, &str)] = &[
    ("cli/claude-2.1.205-captured-lines.jsonl", "its one delta and its result are of two replies"),
    ("openai/responses/openai-phase.1.chunks.txt", "most deltas were cut out, the whole text left"),
    ("openai/responses/openai-shell-container.1.chunks.txt", "the same"),
    ("cli/captured/acp_codex.jsonl", "a blank line stands where thinking came between two texts"),
];

#[test]
fn a_second_extractor_agrees_on_the_visible_text_of_every_stream() {
    let said = special_streams("said");
    let (mut extracted, mut wrong) = (0, Vec::new());
    for Stream { name, dialect, bytes } in all_streams() {
        if TRIMMED.iter().any(|(file, _)| name.ends_with(file)) {
            continue;
        }
        let visible = ingest_whole(&bytes).visible_text();
        let expected = if let Some((_, text)) = said.iter().find(|(file, _)| *file == name) {
            text.clone()
        } else {
            extracted += 1;
            extractor::visible_text(&dialect, &bytes)
        };
        if visible.trim() != expected.trim() {
            wrong.push(format!("{name}:\n  got      {visible:.300?}\n  expected {expected:.300?}"));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(180 <= extracted, "only {extracted} streams were read twice");
}

#[test]
fn where_a_provider_sends_deltas_and_a_final_text_they_are_the_same() {
    let said = special_streams("said");
    let (mut compared, mut wrong) = (0, Vec::new());
    for Stream { name, dialect, bytes } in all_streams() {
        if said.iter().any(|(file, _)| *file == name) {
            continue;
        }
        let Some(expected) = extractor::whole_reply_texts(&dialect, &bytes) else {
            continue;
        };
        compared += 1;
        let visible = ingest_whole(&bytes).visible_text();
        if visible.trim() != expected.trim() {
            wrong.push(format!("{name}:\n  got      {visible:.300?}\n  expected {expected:.300?}"));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(20 <= compared, "only {compared} streams have final texts");
}

/// A recording of the corpus that lacks a brace.
const BROKEN: &str = "parallel-tool-call-wrapper.1.chunks.txt";

#[test]
fn nothing_is_unrecognised_but_what_is_listed() {
    let listed = special_streams("unrecognised");
    let mut wrong = Vec::new();
    for Stream { name, bytes, .. } in all_streams() {
        let kept = ingest_whole(&bytes);
        let unrecognised = kept.events().filter_map(|event| match event {
            Event::Unrecognised { reason, .. } => Some(format!("{reason:?}").to_lowercase()),
            _ => None,
        });
        let found = unrecognised.collect::<Vec<String>>().join(", ");
        let expected = listed.iter().find(|(file, _)| *file == name);
        let expected = expected.map_or("", |(_, reasons)| reasons);
        if found != expected && !name.ends_with(BROKEN) {
            wrong.push(format!("{name}: {found:?}, not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "see texts/streams.json:\n{}", wrong.join("\n"));
}

/// Streams up to this size are also read from their start at every cut, which takes time that
/// grows with the square of their size.
const READ_WHOLE_BYTES_MAX: usize = 16 << 10;

#[test]
fn every_cut_of_every_stream_gives_the_same_events() {
    for Stream { name, bytes, .. } in all_streams() {
        let whole = ingest_whole(&bytes);
        let lines = bytes.split_inclusive(|&byte| byte == b'\n');
        let line_by_line = support::ingest(&IngestOptions::default(), lines);
        assert!(line_by_line.0 == whole.0, "{name} line by line");
        if std::env::var_os("MILLPOND_EVERY_CUT").is_some() {
            check_cuts(&name, &bytes, |_| true);
            let read_whole = bytes.len() <= READ_WHOLE_BYTES_MAX;
            for cut in (0..=bytes.len()).filter(|_| read_whole) {
                let (head, tail) = bytes.split_at(cut);
                let cut_up = support::ingest(&IngestOptions::default(), [head, tail]);
                assert!(cut_up.0 == whole.0, "{name} cut at {cut}");
            }
            let way = if read_whole { "line by line and from the start" } else { "line by line" };
            println!("{name}: {} cuts, {way}", bytes.len());
            continue;
        }
        if bytes.len() <= 64 << 10 {
            check_cuts(&name, &bytes, |_| true);
        } else {
            let edges = near_edges(&bytes);
            let stride = bytes.len() / 2000 + 1;
            check_cuts(&name, &bytes, |cut| edges[cut] || cut % stride == cut / stride % stride);
        }
    }
}

/// Bytes within eight of a frame, tag or character edge.
fn near_edges(bytes: &[u8]) -> Vec<bool> {
    let mut near = vec![false; bytes.len()];
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(byte, b'\n' | b'<' | b'>') || !byte.is_ascii() {
            for near in &mut near[at.saturating_sub(8)..(at + 9).min(bytes.len())] {
                *near = true;
            }
        }
    }
    near
}

/// The end of input takes no text back, unless it completes a line in which the source does so.
fn takes_no_text_back(rest: &RecordedEvents) -> bool {
    let by_the_end = rest.events().skip_while(|event| !matches!(event, Event::RoundEnded { .. }));
    !by_the_end
        .into_iter()
        .any(|event| matches!(event, Event::Withdrawn { .. } | Event::TextRewritten { .. }))
}

#[test]
fn every_beginning_of_every_stream_ends_once_and_loses_nothing() {
    for Stream { name, bytes, .. } in all_streams() {
        let stride = bytes.len() / (64 << 10) + 1;
        let mut ingest = Ingest::new(&IngestOptions::default());
        let mut before = RecordedEvents::default();
        for (at, chunk) in bytes.chunks(stride).enumerate() {
            let mut rest = RecordedEvents::default();
            ingest.clone().finish(InputEnd::EndOfInput, None, &mut rest);
            assert!(
                rest.ending_count() == 1 && takes_no_text_back(&rest),
                "{name} ended after {} bytes: {:?}",
                at * stride,
                rest.0
            );
            ingest.push(chunk, None, &mut before);
        }
        assert_eq!(before.ending_count(), 0, "{name} ended before its end");
    }
}
