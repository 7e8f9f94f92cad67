//! Any sequence of `Writer` calls gives a well-formed log that ends once; how texts are cut does
//! not change the visible text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use millpond_engine::event::{
    AnsweredBy, AskKind, Event, FailureReason, MessageId, MessagePhase, Millis, NoticeLevel,
    ReasoningOrigin, Sink, StepId, StopReason, TextMode, ToolOutcome, Usage,
};
use millpond_engine::filter::{ControlMeaning, ControlWord};
use millpond_engine::run::grammar::EventOrderChecker;
use millpond_engine::run::{InputEnd, RoundBoundaries, Run, RunOptions, ToolStart, Writer};

#[derive(Default)]
struct CheckedLog {
    order: EventOrderChecker,
    texts: Vec<(MessageId, String)>,
}

impl Sink for CheckedLog {
    fn on_event(&mut self, _at: Option<Millis>, event: Event<'_>) {
        if let Err(broken) = self.order.apply(&event) {
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
    "a",
    " ",
    "\n\n",
    "word ",
    "<think>",
    "</think>",
    "<th",
    "ink>",
    "`",
    "```\n",
    "<final>",
    "é",
    "<tool_call>",
    "</tool_call>",
    "- ",
    "    ",
    "!isfinish",
    "!isfin",
];

/// Makes one `Writer` call, chosen by two bytes.
fn call_writer(out: &mut Writer<'_>, what: u8, which: u8, by_character: bool) {
    let text = TEXTS[usize::from(which) % TEXTS.len()];
    let step = StepId(u32::from(which) % 8);
    match what % 28 {
        0..=6 if by_character => {
            text.chars().for_each(|char| out.append_text(char.encode_utf8(&mut [0; 4])))
        }
        0..=6 => out.append_text(text),
        7 => out.append_or_rewrite_cumulative_text(text),
        8 => out.append_reasoning(text, ReasoningOrigin::Native),
        9 => out.close_reasoning_and_defer_end(),
        10 => out.append_redacted_reasoning(),
        11 => {
            out.start_tool(ToolStart::client_function(text, "tool"));
        }
        12 => out.append_arguments(step, text),
        13 => out.replace_arguments_if_changed(step, text),
        14 => out.emit_tool_ready_once(step),
        15 => out.append_output(step, text),
        16 => out.end_tool(step, ToolOutcome::Succeeded, Some(text)),
        17 => out.start_round_or_end_run(Some("model"), Some(text)),
        18 => out.end_round(Some(StopReason::Tools)),
        19 => {
            out.report_completed_unless_failed(if which % 2 == 0 { StopReason::End } else { StopReason::Length })
        }
        20 => out.report_failed_and_end_text(FailureReason::Error, text),
        21 => out.close_message_and_set_next_phase((which % 2 == 0).then_some(MessagePhase::Final)),
        22 => out.close_message_and_defer_end(),
        23 => out.end_message_and_declare_or_append_final_text(text),
        24 => out.withdraw_whole_round_and_end_it(),
        25 => out.open_simple_ask_unless_open(&which.to_string(), AskKind::Tool, text, Vec::new(), None),
        26 => out.resolve_ask_if_open(&which.to_string(), text, AnsweredBy::Person),
        _ => {
            out.append_notice(NoticeLevel::Info, text);
            out.update_or_emit_round_usage(Usage::default());
            out.append_prompt_unless_finish_requested(text);
        }
    }
}

fn run_script(bytes: &[u8], by_character: bool) -> Vec<(MessageId, String)> {
    let word = ControlWord::new("!isfinish", ControlMeaning::Finish).unwrap();
    let mut run = Run::new(&RunOptions { control_words: vec![word], ..RunOptions::default() });
    let mut checked = CheckedLog::default();
    let mut out = run.writer(None, &mut checked);
    out.start_run("fuzz", TextMode::Incremental);
    if bytes.first().is_some_and(|first| first % 2 == 0) {
        out.set_round_boundaries(RoundBoundaries::AfterToolResults);
    }
    for pair in bytes.chunks_exact(2) {
        call_writer(&mut out, pair[0], pair[1], by_character);
    }
    out.end_run(InputEnd::EndOfInput);
    out.end_run(InputEnd::Cancelled);
    assert!(checked.order.is_ended());
    checked.texts
}

fuzz_target!(|bytes: &[u8]| {
    assert_eq!(run_script(bytes, false), run_script(bytes, true));
});
