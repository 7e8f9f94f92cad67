//! What `--stream-debug` tells of the way from bytes to events.

use engine::event::{Event, Millis, Sink, TextMode, Trace};
use engine::run::{Cut, Quirk, Run, RunOptions, Writer};

use crate::control_words::options;

#[derive(Default)]
struct Traced(Vec<String>);

impl Sink for Traced {
    fn event(&mut self, _: Option<Millis>, _: Event<'_>) {}

    fn trace(&mut self, trace: Trace<'_>) {
        self.0.push(serde_json::to_string(&trace).unwrap());
    }
}

fn traces(options: &RunOptions, say: impl Fn(&mut Writer<'_>)) -> Vec<String> {
    let mut traced = Traced::default();
    let mut run = Run::new(options);
    let mut out = run.writer(None, &mut traced);
    out.start("test", TextMode::Incremental);
    say(&mut out);
    out.finish(Cut::EndOfInput);
    assert!(run.is_ended());
    traced.0
}

#[test]
fn x17_the_first_token_of_each_round_is_told_once() {
    let told = traces(&RunOptions::default(), |out| {
        for _ in 0..2 {
            out.round(None, None);
            out.text("one");
            out.text("two");
        }
    });
    let first = |round: u32| format!("{{\"debug\":\"first_token\",\"round\":{round}}}");
    assert_eq!(told, [first(0), first(1)]);
}

#[test]
fn x17_what_is_held_is_told_with_its_length() {
    let told = traces(&RunOptions::default(), |out| {
        out.round(None, None);
        out.text("a <thi");
        out.text("s> b");
    });
    let held: Vec<&String> = told.iter().filter(|trace| trace.contains("held")).collect();
    assert_eq!(held, ["{\"debug\":\"held\",\"bytes\":4,\"reason\":\"markup\"}"]);
    let told = traces(&RunOptions::default(), |out| {
        out.round(None, None);
        out.text(" ");
        out.text("\n");
    });
    let held: Vec<&String> = told.iter().filter(|trace| trace.contains("held")).collect();
    let blank =
        |bytes: u32| format!("{{\"debug\":\"held\",\"bytes\":{bytes},\"reason\":\"blank\"}}");
    assert_eq!(held, [&blank(1), &blank(2)]);
}

#[test]
fn x17_what_comes_after_the_word_that_ends_a_run_is_told_as_dropped() {
    let told = traces(&options().run, |out| {
        out.round(None, None);
        out.text("Done. !isfinish");
        out.tool(engine::run::ToolStart::function("a", "click"));
        out.text("LATE");
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
