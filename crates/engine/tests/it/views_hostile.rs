//! Logs that no run machine would write: every view has a defined picture of them.

use std::borrow::Cow;

use engine::event::{
    AnsweredBy, AskKind, Citation, Ending, Event, Executor, Image, Level, MarkupClass, MessageId,
    Outcome, Owner, ReasoningOrigin, Record, Reply, StepId, Stop, TextMode, ToolKind, ToolOutcome,
    UnrecognisedReason, Usage, UsageScope,
};
use engine::view::{Picture, State, Thinking, ViewName};
use engine::wire::{Content, Encoder, Format, Kind};
use proptest::prelude::*;

use crate::views::{apply, frames, patches};

fn text() -> impl Strategy<Value = Cow<'static, str>> {
    prop_oneof![
        Just("Hello. "),
        Just("wor"),
        Just("\n\n"),
        Just("żó\u{301}łw 🐢!"),
        Just("```\ncode\n"),
        Just(" "),
        Just("\u{0}\r\n"),
    ]
    .prop_map(Cow::Borrowed)
}

fn step() -> impl Strategy<Value = StepId> {
    prop_oneof![Just(0), Just(1), Just(2), Just(u32::MAX)].prop_map(StepId)
}

fn message() -> impl Strategy<Value = MessageId> {
    prop_oneof![Just(0), Just(1), Just(2), Just(u32::MAX)].prop_map(MessageId)
}

fn ending() -> impl Strategy<Value = Event<'static>> {
    let outcomes = prop_oneof![
        Just(Outcome::Completed),
        Just(Outcome::Failed),
        Just(Outcome::Cancelled),
        Just(Outcome::Truncated),
    ];
    (outcomes, proptest::option::of(message())).prop_map(|(outcome, message)| Event::RunEnded {
        ending: Ending {
            outcome,
            stop: Some(Stop::End),
            reason: None,
            detail: Some("words".into()),
            reply: if message.is_some() { Reply::Message } else { Reply::None },
            message,
            incomplete: outcome != Outcome::Completed,
        },
    })
}

fn text_event() -> impl Strategy<Value = Event<'static>> {
    prop_oneof![
        (message(), 0..3_u32).prop_map(|(message, round)| Event::MessageStarted {
            message,
            round,
            phase: None
        }),
        (message(), text()).prop_map(|(message, text)| Event::TextAppended { message, text }),
        (message(), text()).prop_map(|(message, text)| Event::TextAppended { message, text }),
        (message(), text(), 0..12_usize).prop_map(|(message, text, kept_bytes)| {
            Event::TextRewritten { message, kept_bytes, text }
        }),
        message().prop_map(|message| Event::MessageEnded { message, incomplete: false }),
        message().prop_map(|message| Event::FinalDeclared { message }),
        message().prop_map(|message| Event::SourceCited { message, citation: Citation::default() }),
        (proptest::collection::vec(message(), 0..3), proptest::collection::vec(step(), 0..3))
            .prop_map(|(messages, steps)| Event::Withdrawn { messages, steps }),
        (message(), any::<bool>()).prop_map(|(message, of_step)| Event::ImageReceived {
            owner: if of_step { Owner::Step(StepId(message.0)) } else { Owner::Message(message) },
            image: Image::Inline { media_type: "image/png".into(), base64: "QUJD".into() },
        }),
        text().prop_map(|text| Event::MarkupHidden { class: MarkupClass::Tool, text }),
    ]
}

fn step_event() -> impl Strategy<Value = Event<'static>> {
    let kinds = prop_oneof![
        Just(ToolKind::Function),
        Just(ToolKind::Action),
        Just(ToolKind::Command),
        Just(ToolKind::Mcp),
        Just(ToolKind::WebSearch),
    ];
    let outcomes = prop_oneof![
        Just(ToolOutcome::Succeeded),
        Just(ToolOutcome::Failed),
        Just(ToolOutcome::Denied),
        Just(ToolOutcome::Cut),
    ];
    prop_oneof![
        (step(), 0..3_u32).prop_map(|(step, round)| Event::ReasoningStarted {
            step,
            round,
            origin: ReasoningOrigin::Native
        }),
        (step(), text()).prop_map(|(step, text)| Event::ReasoningAppended { step, text }),
        step().prop_map(|step| Event::ReasoningEnded { step, incomplete: false }),
        (step(), kinds, proptest::option::of(step())).prop_map(|(step, kind, parent)| {
            Event::ToolStarted {
                step,
                round: 0,
                call: "call".into(),
                name: "tool".into(),
                kind,
                executor: Executor::Client,
                server: None,
                parent,
            }
        }),
        (step(), text()).prop_map(|(step, text)| Event::ArgumentsAppended { step, text }),
        (step(), text()).prop_map(|(step, text)| Event::ArgumentsReplaced { step, text }),
        step().prop_map(|step| Event::ToolReady { step }),
        (step(), text()).prop_map(|(step, text)| Event::OutputAppended { step, text }),
        (step(), text()).prop_map(|(step, text)| Event::ToolProgressed { step, text }),
        (step(), outcomes).prop_map(|(step, outcome)| Event::ToolEnded {
            step,
            outcome,
            detail: None
        }),
    ]
}

fn other_event() -> impl Strategy<Value = Event<'static>> {
    let ask = || prop_oneof![Just("a"), Just("b")].prop_map(Cow::Borrowed);
    let kinds = prop_oneof![Just(AskKind::Tool), Just(AskKind::Followup), Just(AskKind::Other)];
    prop_oneof![
        Just(Event::RunStarted { version: 1, dialect: "x".into(), mode: TextMode::Cumulative }),
        (text(), any::<bool>()).prop_map(|(text, shown)| {
            let image = Image::Url { url: "https://pond.test/a.png".into() };
            Event::PromptReceived { text, images: shown.then_some(image).into_iter().collect() }
        }),
        (0..3_u32).prop_map(|round| Event::RoundStarted { round, model: None, response: None }),
        (0..3_u32).prop_map(|round| Event::RoundEnded { round, stop: None, incomplete: false }),
        (ask(), kinds, text()).prop_map(|(ask, kind, text)| Event::AskOpened {
            ask,
            kind,
            text,
            options: Vec::new(),
            step: None,
            digest: None,
            expires_at_ms: None,
        }),
        ask().prop_map(|ask| Event::AskResolved {
            ask,
            answer: "yes".into(),
            by: AnsweredBy::Person
        }),
        Just(Event::CheckpointSaved { hash: "h".into() }),
        Just(Event::HistoryCompacted { summary: None }),
        text().prop_map(|text| Event::NoticeGiven { level: Level::Warning, text }),
        text().prop_map(|raw| Event::Unrecognised { reason: UnrecognisedReason::Frame, raw }),
        Just(Event::UsageReported { scope: UsageScope::Round, usage: Usage::default() }),
    ]
}

fn log() -> impl Strategy<Value = Vec<Record<'static>>> {
    let event = prop_oneof![
        8 => text_event(),
        8 => step_event(),
        5 => other_event(),
        1 => ending(),
    ];
    let timed = (proptest::option::of(0..90_000_u64), event);
    proptest::collection::vec(timed, 0..60).prop_map(|events| {
        let first =
            Event::RunStarted { version: 1, dialect: "x".into(), mode: TextMode::Incremental };
        let all = std::iter::once((None, first)).chain(events);
        let numbered = all.zip(0..);
        numbered
            .map(|((at_ms, event), seq)| Record { seq, at_ms, run: "r1".into(), event })
            .collect()
    })
}

fn every_kind() -> impl Iterator<Item = Kind> {
    ViewName::ALL.into_iter().flat_map(|view| {
        [Thinking::AsUsual, Thinking::Hide, Thinking::Latest, Thinking::Show].map(|thinking| Kind {
            view,
            format: Format::Own,
            content: Content::Delta,
            thinking,
        })
    })
}

/// What is printed for good: all text before the settled point.
fn settled_text(page: &Picture) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for (place, item) in page.items.values().enumerate() {
        let place = u32::try_from(place).unwrap();
        if place < page.settled.count {
            texts.push(format!("{item:?}"));
        } else if place == page.settled.count {
            texts.push(item.text[..page.settled.bytes].to_owned());
        }
    }
    texts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn any_log_at_all_has_a_picture_in_every_view(records in log()) {
        for kind in every_kind() {
            let (sent, whole) = frames(kind, &records);
            for frame in &sent {
                prop_assert!(!frame.data.contains('\n') && !frame.data.contains('\r'));
                prop_assert!(frame.json()["run"] == "r1", "{:?}", frame);
            }
            let (patched, same) = frames(Kind { format: Format::Patch, ..kind }, &records);
            prop_assert_eq!(&whole, &same);
            let mut page = Picture::default();
            for frame in &patched {
                apply(&mut page, &frame.data);
            }
            prop_assert_eq!(&page, &whole);
        }
    }

    #[test]
    fn x7_any_run_that_ends_ends_once_and_leaves_nothing_live(records in log()) {
        for view in ViewName::ALL {
            let mut encoder = Encoder::new(patches(view), "session", 0);
            let mut running = false;
            for record in &records {
                let mut endings = 0;
                encoder.push(record, &mut |frame| {
                    endings += usize::from(frame.data.starts_with("{\"ended\""));
                });
                let ends = running && matches!(record.event, Event::RunEnded { .. });
                prop_assert_eq!(endings, usize::from(ends));
                running = !ends && (running || matches!(record.event, Event::RunStarted { .. }));
                if ends {
                    let page = encoder.picture();
                    let live = page.items.values().find(|item| item.state == State::Live);
                    prop_assert!(live.is_none(), "{:?} leaves {:?}", view, live);
                    prop_assert!(page.asks.is_empty() && page.overlay.is_none());
                }
            }
        }
    }

    #[test]
    fn t2_what_is_settled_only_grows_and_never_changes(records in log()) {
        for kind in [patches(ViewName::Transcript), Kind { thinking: Thinking::Show, ..patches(ViewName::Transcript) }] {
            let mut encoder = Encoder::new(kind, "session", 0);
            let mut before = (engine::view::patch::Settled::default(), Vec::<String>::new());
            for record in &records {
                encoder.push(record, &mut |_| {});
                let page = encoder.picture();
                let texts = settled_text(page);
                prop_assert!(before.0 <= page.settled);
                let whole = before.0.count as usize;
                prop_assert_eq!(&before.1[..whole], &texts[..whole]);
                if let (Some(old), Some(new)) = (before.1.get(whole), page.items.values().nth(whole)) {
                    prop_assert!(new.text.starts_with(old.as_str()), "{:?} is not kept in {:?}", old, new.text);
                }
                before = (page.settled, texts);
            }
        }
    }
}
