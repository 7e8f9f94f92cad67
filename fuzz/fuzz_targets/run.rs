//! Whatever a dialect says, in whatever order, the log is well formed and ends once; how its texts
//! are cut does not change what is shown.
#![no_main]

use engine::event::{
    AnsweredBy, AskKind, Event, FailureReason, Level, MessageId, Millis, Phase, ReasoningOrigin,
    Sink, StepId, Stop, TextMode, ToolOutcome, Usage,
};
use engine::ingest::filter::{ControlWord, Meaning};
use engine::run::grammar::Grammar;
use engine::run::{Cut, Rounds, Run, RunOptions, ToolStart, Writer};
use libfuzzer_sys::fuzz_target;

#[derive(Default)]
struct Checked {
    grammar: Grammar,
    texts: Vec<(MessageId, String)>,
}

impl Sink for Checked {
    fn event(&mut self, _at: Option<Millis>, event: Event<'_>) {
        if let Err(broken) = self.grammar.apply(&event) {
            panic!("{broken:?}: {event:?}");
        }
        match event {
            Event::MessageStarted { message, .. } => self.texts.push((message, String::new())),
            Event::TextAppended { text, .. } => self.texts.last_mut().unwrap().1.push_str(&text),
            Event::TextRewritten { kept_bytes, text, .. } => {
                let whole = &mut self.texts.last_mut().unwrap().1;
                whole.truncate(kept_bytes);
                whole.push_str(&text);
            }
            _ => {}
        }
    }
}

const TEXTS: [&str; 18] = [
    "a", " ", "\n\n", "word ", "<think>", "</think>", "<th", "ink>", "`", "```\n", "<final>", "é",
    "<tool_call>", "</tool_call>", "- ", "    ", "!isfinish", "!isfin",
];

/// One thing a dialect may say, chosen by two bytes.
fn say(out: &mut Writer<'_>, what: u8, which: u8, by_character: bool) {
    let text = TEXTS[usize::from(which) % TEXTS.len()];
    let step = StepId(u32::from(which) % 8);
    match what % 28 {
        0..=6 if by_character => text.chars().for_each(|char| out.text(char.encode_utf8(&mut [0; 4]))),
        0..=6 => out.text(text),
        7 => out.text_so_far(text),
        8 => out.reasoning(text, ReasoningOrigin::Native),
        9 => out.end_reasoning(),
        10 => out.redacted_reasoning(),
        11 => {
            out.tool(ToolStart::function(text, "tool"));
        }
        12 => out.arguments(step, text),
        13 => out.whole_arguments(step, text),
        14 => out.ready(step),
        15 => out.output(step, text),
        16 => out.end_tool(step, ToolOutcome::Succeeded, Some(text)),
        17 => out.round(Some("model"), Some(text)),
        18 => out.end_round(Some(Stop::Tools)),
        19 => out.complete(if which % 2 == 0 { Stop::End } else { Stop::Length }),
        20 => out.fail(FailureReason::Error, text),
        21 => out.begin_message((which % 2 == 0).then_some(Phase::Final)),
        22 => out.end_message(),
        23 => out.declare_final(text),
        24 => out.withdraw_round(),
        25 => out.ask(&which.to_string(), AskKind::Tool, text, Vec::new(), None),
        26 => out.resolve_ask(&which.to_string(), text, AnsweredBy::Person),
        _ => {
            out.notice(Level::Info, text);
            out.round_usage(Usage::default());
            out.prompt(text);
        }
    }
}

fn play(bytes: &[u8], by_character: bool) -> Vec<(MessageId, String)> {
    let word = ControlWord::new("!isfinish", Meaning::Finish).unwrap();
    let mut run =
        Run::new(&RunOptions { control_words: vec![word], ..RunOptions::default() });
    let mut checked = Checked::default();
    let mut out = run.writer(None, &mut checked);
    out.start("fuzz", TextMode::Incremental);
    if bytes.first().is_some_and(|first| first % 2 == 0) {
        out.rounds(Rounds::AfterResults);
    }
    for pair in bytes.chunks_exact(2) {
        say(&mut out, pair[0], pair[1], by_character);
    }
    out.finish(Cut::EndOfInput);
    out.finish(Cut::Cancelled);
    assert!(checked.grammar.is_ended());
    checked.texts
}

fuzz_target!(|bytes: &[u8]| {
    assert_eq!(play(bytes, false), play(bytes, true));
});
