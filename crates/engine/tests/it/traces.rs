//! Output of `--stream-debug` on the way from bytes to events.

use millpond_engine::event::{Event, Image, Millis, Sink, TextMode, Trace};
use millpond_engine::run::{InputEnd, Quirk, Run, RunOptions, Writer};

use crate::control_words::options_with_control_words;

#[derive(Default)]
struct TraceRecorder(Vec<String>);

impl Sink for TraceRecorder {
    fn on_event(&mut self, _: Option<Millis>, _: Event<'_>) {}

    fn on_trace(&mut self, trace: Trace<'_>) {
        self.0.push(serde_json::to_string(&trace).unwrap());
    }
}

fn collect_traces(options: &RunOptions, say: impl Fn(&mut Writer<'_>)) -> Vec<String> {
    let mut traced = TraceRecorder::default();
    let mut run = Run::new(options);
    let mut out = run.writer(None, &mut traced);
    out.start_run("test", TextMode::Incremental);
    say(&mut out);
    out.end_run(InputEnd::EndOfInput);
    assert!(run.is_ended());
    traced.0
}

#[test]
fn x17_the_first_token_of_each_round_is_told_once() {
    let told = collect_traces(&RunOptions::default(), |out| {
        for _ in 0..2 {
            out.start_round_or_end_run(None, None);
            out.append_text("one");
            out.append_text("two");
        }
    });
    let first = |round: u32| format!("{{\"debug\":\"first_token\",\"round\":{round}}}");
    assert_eq!(told, [first(0), first(1)]);
}

#[test]
fn x17_the_first_token_is_the_text_that_clears_the_overlay() {
    let traces = collect_traces(&RunOptions::default(), |out| {
        out.start_round_or_end_run(None, None);
        out.append_reasoning("Deep water. ", millpond_engine::event::ReasoningOrigin::Native);
        out.append_text(" \n");
        out.append_text("<think>cold</think>");
    });
    assert!(!traces.iter().any(|trace| trace.contains("first_token")), "{traces:?}");
    let traces = collect_traces(&RunOptions::default(), |out| {
        out.start_round_or_end_run(None, None);
        out.append_text(" \n");
        out.append_text("<think>cold</think>");
        out.append_text("Swim.");
        out.append_text(" Now.");
    });
    let last = traces.last().map(String::as_str);
    assert_eq!(last, Some("{\"debug\":\"first_token\",\"round\":0}"), "{traces:?}");
    let traces = collect_traces(&RunOptions::default(), |out| {
        out.start_round_or_end_run(None, None);
        out.append_message_image(Image::Url { url: "https://pond.example/map.png".into() });
        out.append_text("The pond.");
    });
    assert_eq!(traces, ["{\"debug\":\"first_token\",\"round\":0}"]);
}

#[test]
fn x17_what_is_held_is_told_with_its_length() {
    let told = collect_traces(&RunOptions::default(), |out| {
        out.start_round_or_end_run(None, None);
        out.append_text("a <thi");
        out.append_text("s> b");
    });
    let held: Vec<&String> = told.iter().filter(|trace| trace.contains("held")).collect();
    assert_eq!(held, ["{\"debug\":\"held\",\"bytes\":4,\"reason\":\"markup\"}"]);
    let told = collect_traces(&RunOptions::default(), |out| {
        out.start_round_or_end_run(None, None);
        out.append_text(" ");
        out.append_text("\n");
    });
    let held: Vec<&String> = told.iter().filter(|trace| trace.contains("held")).collect();
    let blank =
        |bytes: u32| format!("{{\"debug\":\"held\",\"bytes\":{bytes},\"reason\":\"blank\"}}");
    assert_eq!(held, [&blank(1), &blank(2)]);
}

#[test]
fn x17_what_comes_after_the_word_that_ends_a_run_is_told_as_dropped() {
    let told = collect_traces(&options_with_control_words().run, |out| {
        out.start_round_or_end_run(None, None);
        out.append_text("Done. !isfinish");
        out.start_tool(millpond_engine::run::ToolStart::client_function("a", "click"));
        out.append_text("LATE");
    });
    let dropped: Vec<&String> = told.iter().filter(|trace| trace.contains("dropped")).collect();
    assert_eq!(dropped, ["{\"debug\":\"dropped\",\"bytes\":4,\"reason\":\"late\"}"]);
}

#[test]
fn a_quirk_is_known_by_its_name_only() {
    assert_eq!("cumulative-text".parse(), Ok(Quirk::CumulativeText));
    assert_eq!(Quirk::CumulativeText.as_str(), "cumulative-text");
    assert!("".parse::<Quirk>().is_err() && "xyzzy".parse::<Quirk>().is_err());
}
