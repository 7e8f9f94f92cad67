//! Each rule of the log, violated once: the checker names it.

use millpond_engine::event::{
    AnsweredBy, AskKind, Ending, Event, Executor, MessageId, Outcome, ReasoningOrigin, Reply,
    StepId, TextMode, ToolKind, ToolOutcome,
};
use millpond_engine::run::grammar::{EventOrderChecker, EventOrderError};

const MESSAGE: MessageId = MessageId(0);
const STEP: StepId = StepId(0);

fn run_started() -> Event<'static> {
    Event::RunStarted { version: 1, dialect: "test".into(), mode: TextMode::Incremental }
}

fn round_started(round: u32) -> Event<'static> {
    Event::RoundStarted { round, model: None, response: None }
}

fn round_ended(round: u32) -> Event<'static> {
    Event::RoundEnded { round, stop: None, incomplete: false }
}

fn message_started(message: u32, round: u32) -> Event<'static> {
    Event::MessageStarted { message: MessageId(message), round, phase: None }
}

fn text_appended(text: &'static str) -> Event<'static> {
    Event::TextAppended { message: MESSAGE, text: text.into() }
}

fn text_rewritten() -> Event<'static> {
    Event::TextRewritten { message: MESSAGE, kept_bytes: 0, text: "x".into() }
}

fn message_ended() -> Event<'static> {
    Event::MessageEnded { message: MESSAGE, incomplete: false }
}

fn reasoning_started(step: u32) -> Event<'static> {
    Event::ReasoningStarted {
        step: StepId(step),
        round: 0,
        origin: ReasoningOrigin::Native,
        interrupts: None,
    }
}

fn tool_started() -> Event<'static> {
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

fn ask_opened() -> Event<'static> {
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

fn ask_resolved() -> Event<'static> {
    Event::AskResolved { ask: "a".into(), answer: "yes".into(), by: AnsweredBy::Person }
}

fn request_started() -> Event<'static> {
    Event::RequestStarted { request: "r".into() }
}

fn request_ended() -> Event<'static> {
    let request = Some("r".into());
    Event::RequestEnded { request, cost_usd: None, failure: None, cancel_reason: None }
}

fn run_ended() -> Event<'static> {
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
fn check_violation(events: &[Event<'static>], broken: EventOrderError) {
    let mut grammar = EventOrderChecker::default();
    let last = events.len() - 1;
    for (at, event) in events.iter().enumerate() {
        let expected = if at == last { Err(broken) } else { Ok(()) };
        assert_eq!(grammar.apply(event), expected, "event {at}: {event:?}");
    }
}

#[test]
fn a_run_starts_once_and_first_and_ends_once_and_last() {
    check_violation(&[round_started(0)], EventOrderError::RunNotStarted);
    check_violation(&[run_started(), run_started()], EventOrderError::RunStartedTwice);
    check_violation(&[run_started(), run_ended(), run_ended()], EventOrderError::EventAfterEnd);
    check_violation(
        &[run_started(), run_ended(), round_started(0)],
        EventOrderError::EventAfterEnd,
    );
    check_violation(&[run_started(), run_ended(), ask_resolved()], EventOrderError::EventAfterEnd);
    let mut grammar = EventOrderChecker::default();
    assert_eq!(grammar.apply(&run_started()), Ok(()));
    assert!(!grammar.is_ended());
    assert_eq!(grammar.apply(&run_ended()), Ok(()));
    assert!(grammar.is_ended());
}

#[test]
fn rounds_and_messages_open_and_close_in_pairs() {
    check_violation(
        &[run_started(), round_started(0), round_started(1)],
        EventOrderError::RoundAlreadyOpen,
    );
    check_violation(
        &[run_started(), round_started(0), round_ended(1)],
        EventOrderError::NoSuchRound,
    );
    check_violation(&[run_started(), round_ended(0)], EventOrderError::NoSuchRound);
    check_violation(&[run_started(), message_started(0, 0)], EventOrderError::NoSuchRound);
    check_violation(
        &[run_started(), round_started(0), message_started(0, 1)],
        EventOrderError::NoSuchRound,
    );
    check_violation(
        &[run_started(), round_started(0), message_started(1, 0)],
        EventOrderError::IdNotNext,
    );
    check_violation(
        &[run_started(), round_started(0), message_started(0, 0), message_started(0, 0)],
        EventOrderError::IdNotNext,
    );
    check_violation(
        &[run_started(), round_started(0), message_ended()],
        EventOrderError::NoSuchMessage,
    );
}

#[test]
fn text_belongs_to_the_open_message_and_is_some() {
    check_violation(
        &[run_started(), round_started(0), text_appended("x")],
        EventOrderError::NoSuchMessage,
    );
    check_violation(
        &[run_started(), round_started(0), text_rewritten()],
        EventOrderError::NoSuchMessage,
    );
    check_violation(
        &[run_started(), round_started(0), message_started(0, 0), text_appended("")],
        EventOrderError::EmptyText,
    );
    let open = vec![run_started(), round_started(0), message_started(0, 0), message_ended()];
    check_violation(
        &[open.clone(), vec![text_appended("x")]].concat(),
        EventOrderError::NoSuchMessage,
    );
    check_violation(&[open, vec![text_rewritten()]].concat(), EventOrderError::NoSuchMessage);
}

#[test]
fn what_is_said_of_a_step_is_said_while_it_is_open() {
    check_violation(&[run_started(), reasoning_started(1)], EventOrderError::IdNotNext);
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
        check_violation(&[run_started(), event.clone()], EventOrderError::NoSuchStep);
        let over = Event::ToolEnded { step, outcome: ToolOutcome::Failed, detail: None };
        check_violation(&[run_started(), tool_started(), over, event], EventOrderError::NoSuchStep);
    }
}

#[test]
fn asks_and_requests_open_once_and_close_once() {
    check_violation(&[run_started(), ask_opened(), ask_opened()], EventOrderError::AskOpenedTwice);
    check_violation(&[run_started(), ask_resolved()], EventOrderError::NoSuchAsk);
    check_violation(
        &[run_started(), ask_opened(), ask_resolved(), ask_resolved()],
        EventOrderError::NoSuchAsk,
    );
    check_violation(
        &[run_started(), request_started(), request_started()],
        EventOrderError::RequestStartedTwice,
    );
    check_violation(&[run_started(), request_ended()], EventOrderError::NoSuchRequest);
}

#[test]
fn nothing_is_open_when_a_run_ends() {
    check_violation(&[run_started(), round_started(0), run_ended()], EventOrderError::LeftOpen);
    check_violation(&[run_started(), tool_started(), run_ended()], EventOrderError::LeftOpen);
    check_violation(&[run_started(), reasoning_started(0), run_ended()], EventOrderError::LeftOpen);
    check_violation(&[run_started(), request_started(), run_ended()], EventOrderError::LeftOpen);
    check_violation(&[run_started(), ask_opened(), run_ended()], EventOrderError::LeftOpen);
}
