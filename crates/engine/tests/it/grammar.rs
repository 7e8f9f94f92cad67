//! Each rule of the log, broken once: the checker names it.

use engine::event::{
    AnsweredBy, AskKind, Ending, Event, Executor, MessageId, Outcome, ReasoningOrigin, Reply,
    StepId, TextMode, ToolKind, ToolOutcome,
};
use engine::run::grammar::{Broken, Grammar};

const MESSAGE: MessageId = MessageId(0);
const STEP: StepId = StepId(0);

fn started() -> Event<'static> {
    Event::RunStarted { version: 1, dialect: "test".into(), mode: TextMode::Incremental }
}

fn round(round: u32) -> Event<'static> {
    Event::RoundStarted { round, model: None, response: None }
}

fn round_ended(round: u32) -> Event<'static> {
    Event::RoundEnded { round, stop: None, incomplete: false }
}

fn message(message: u32, round: u32) -> Event<'static> {
    Event::MessageStarted { message: MessageId(message), round, phase: None }
}

fn text(text: &'static str) -> Event<'static> {
    Event::TextAppended { message: MESSAGE, text: text.into() }
}

fn rewritten() -> Event<'static> {
    Event::TextRewritten { message: MESSAGE, kept_bytes: 0, text: "x".into() }
}

fn message_ended() -> Event<'static> {
    Event::MessageEnded { message: MESSAGE, incomplete: false }
}

fn reasoning(step: u32) -> Event<'static> {
    Event::ReasoningStarted { step: StepId(step), round: 0, origin: ReasoningOrigin::Native }
}

fn tool() -> Event<'static> {
    Event::ToolStarted {
        step: STEP,
        round: 0,
        call: "c".into(),
        name: "t".into(),
        kind: ToolKind::Function,
        executor: Executor::Client,
        server: None,
        parent: None,
    }
}

fn ask() -> Event<'static> {
    Event::AskOpened {
        ask: "a".into(),
        kind: AskKind::Tool,
        text: "?".into(),
        options: Vec::new(),
        step: None,
        digest: None,
        expires_at_ms: None,
    }
}

fn answered() -> Event<'static> {
    Event::AskResolved { ask: "a".into(), answer: "yes".into(), by: AnsweredBy::Person }
}

fn request() -> Event<'static> {
    Event::RequestStarted { request: "r".into() }
}

fn request_ended() -> Event<'static> {
    let request = Some("r".into());
    Event::RequestEnded { request, cost_usd: None, failure: None, cancel_reason: None }
}

fn ended() -> Event<'static> {
    let ending = Ending {
        outcome: Outcome::Truncated,
        stop: None,
        reason: None,
        detail: None,
        reply: Reply::None,
        message: None,
        incomplete: true,
    };
    Event::RunEnded { ending }
}

/// All but the last event keep the rules; the last breaks this one.
#[track_caller]
fn check(events: &[Event<'static>], broken: Broken) {
    let mut grammar = Grammar::default();
    let last = events.len() - 1;
    for (at, event) in events.iter().enumerate() {
        let expected = if at == last { Err(broken) } else { Ok(()) };
        assert_eq!(grammar.apply(event), expected, "event {at}: {event:?}");
    }
}

#[test]
fn a_run_starts_once_and_first_and_ends_once_and_last() {
    check(&[round(0)], Broken::RunNotStarted);
    check(&[started(), started()], Broken::RunStartedTwice);
    check(&[started(), ended(), ended()], Broken::AfterTheEnd);
    check(&[started(), ended(), round(0)], Broken::AfterTheEnd);
    check(&[started(), ended(), answered()], Broken::AfterTheEnd);
    let mut grammar = Grammar::default();
    assert_eq!(grammar.apply(&started()), Ok(()));
    assert!(!grammar.is_ended());
    assert_eq!(grammar.apply(&ended()), Ok(()));
    assert!(grammar.is_ended());
}

#[test]
fn rounds_and_messages_open_and_close_in_pairs() {
    check(&[started(), round(0), round(1)], Broken::RoundInRound);
    check(&[started(), round(0), round_ended(1)], Broken::NoSuchRound);
    check(&[started(), round_ended(0)], Broken::NoSuchRound);
    check(&[started(), message(0, 0)], Broken::NoSuchRound);
    check(&[started(), round(0), message(0, 1)], Broken::NoSuchRound);
    check(&[started(), round(0), message(1, 0)], Broken::NumberNotNext);
    check(&[started(), round(0), message(0, 0), message(1, 0)], Broken::MessageInMessage);
    check(&[started(), round(0), message(0, 0), round_ended(0)], Broken::LeftOpen);
    check(&[started(), round(0), message_ended()], Broken::NoSuchMessage);
}

#[test]
fn text_belongs_to_the_open_message_and_is_some() {
    check(&[started(), round(0), text("x")], Broken::NoSuchMessage);
    check(&[started(), round(0), rewritten()], Broken::NoSuchMessage);
    check(&[started(), round(0), message(0, 0), text("")], Broken::EmptyText);
    let open = vec![started(), round(0), message(0, 0), message_ended()];
    check(&[open.clone(), vec![text("x")]].concat(), Broken::NoSuchMessage);
    check(&[open, vec![rewritten()]].concat(), Broken::NoSuchMessage);
}

#[test]
fn what_is_said_of_a_step_is_said_while_it_is_open() {
    check(&[started(), reasoning(1)], Broken::NumberNotNext);
    let step = STEP;
    let said: [Event<'static>; 8] = [
        Event::ReasoningAppended { step, text: "x".into() },
        Event::ArgumentsAppended { step, text: "x".into() },
        Event::ArgumentsReplaced { step, text: "x".into() },
        Event::ToolReady { step },
        Event::ToolProgressed { step, text: "x".into() },
        Event::OutputAppended { step, text: "x".into() },
        Event::ReasoningEnded { step, incomplete: false },
        Event::ToolEnded { step, outcome: ToolOutcome::Succeeded, detail: None },
    ];
    for event in said {
        check(&[started(), event.clone()], Broken::NoSuchStep);
        let over = Event::ToolEnded { step, outcome: ToolOutcome::Failed, detail: None };
        check(&[started(), tool(), over, event], Broken::NoSuchStep);
    }
}

#[test]
fn asks_and_requests_open_once_and_close_once() {
    check(&[started(), ask(), ask()], Broken::AskOpenedTwice);
    check(&[started(), answered()], Broken::NoSuchAsk);
    check(&[started(), ask(), answered(), answered()], Broken::NoSuchAsk);
    check(&[started(), request(), request()], Broken::RequestStartedTwice);
    check(&[started(), request_ended()], Broken::NoSuchRequest);
}

#[test]
fn nothing_is_open_when_a_run_ends() {
    check(&[started(), round(0), ended()], Broken::LeftOpen);
    check(&[started(), tool(), ended()], Broken::LeftOpen);
    check(&[started(), reasoning(0), ended()], Broken::LeftOpen);
    check(&[started(), request(), ended()], Broken::LeftOpen);
    check(&[started(), ask(), ended()], Broken::LeftOpen);
}
