//! Logs that no run machine would write: every view has a defined page for them.

use std::borrow::Cow;

use millpond_engine::event::{
    AnsweredBy, AskKind, Citation, Ending, Event, Executor, Image, ImageOwner, MarkupClass,
    MessageId, NoticeLevel, Outcome, ReasoningOrigin, Record, Reply, StepId, StopReason, TextMode,
    ToolKind, ToolOutcome, UnrecognisedReason, Usage, UsageScope,
};
use millpond_engine::view::{ItemState, Page, Thinking, ViewName};
use millpond_engine::wire::{ContentMode, Encoder, FrameFormat, StreamKind};
use proptest::prelude::*;

use crate::settled::check_settled;
use crate::views::{apply_patch_frame, encode_records, patch_stream_kind};

fn any_text() -> impl Strategy<Value = Cow<'static, str>> {
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

fn any_step() -> impl Strategy<Value = StepId> {
    prop_oneof![Just(0), Just(1), Just(2), Just(u32::MAX)].prop_map(StepId)
}

fn any_message() -> impl Strategy<Value = MessageId> {
    prop_oneof![Just(0), Just(1), Just(2), Just(u32::MAX)].prop_map(MessageId)
}

fn any_ending() -> impl Strategy<Value = Event<'static>> {
    let outcomes = prop_oneof![
        Just(Outcome::Completed),
        Just(Outcome::Failed),
        Just(Outcome::Cancelled),
        Just(Outcome::Truncated),
    ];
    (outcomes, proptest::option::of(any_message())).prop_map(|(outcome, message)| Event::RunEnded {
        ending: Ending {
            outcome,
            stop: Some(StopReason::End),
            reason: None,
            detail: Some("words".into()),
            reply: if message.is_some() { Reply::Message } else { Reply::None },
            message,
            incomplete: outcome != Outcome::Completed,
        },
    })
}

fn any_text_event() -> impl Strategy<Value = Event<'static>> {
    prop_oneof![
        (any_message(), 0..3_u32).prop_map(|(message, round)| Event::MessageStarted {
            message,
            round,
            phase: None
        }),
        (any_message(), any_text())
            .prop_map(|(message, text)| Event::TextAppended { message, text }),
        (any_message(), any_text())
            .prop_map(|(message, text)| Event::TextAppended { message, text }),
        (any_message(), any_text(), 0..12_usize).prop_map(|(message, text, kept_bytes)| {
            Event::TextRewritten { message, kept_bytes, text }
        }),
        any_message().prop_map(|message| Event::MessageEnded { message, incomplete: false }),
        any_message().prop_map(|message| Event::FinalDeclared { message }),
        any_message()
            .prop_map(|message| Event::SourceCited { message, citation: Citation::default() }),
        (
            proptest::collection::vec(any_message(), 0..3),
            proptest::collection::vec(any_step(), 0..3)
        )
            .prop_map(|(messages, steps)| Event::Withdrawn { messages, steps }),
        (any_message(), any::<bool>()).prop_map(|(message, of_step)| Event::ImageReceived {
            owner: if of_step {
                ImageOwner::Step(StepId(message.0))
            } else {
                ImageOwner::Message(message)
            },
            image: Image::Inline { media_type: "image/png".into(), base64: "QUJD".into() },
        }),
        any_text().prop_map(|text| Event::MarkupHidden { class: MarkupClass::Tool, text }),
    ]
}

fn any_step_event() -> impl Strategy<Value = Event<'static>> {
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
        (any_step(), 0..3_u32).prop_map(|(step, round)| Event::ReasoningStarted {
            step,
            round,
            origin: ReasoningOrigin::Native,
            interrupts: None
        }),
        (any_step(), any_text()).prop_map(|(step, text)| Event::ReasoningAppended { step, text }),
        any_step().prop_map(|step| Event::ReasoningEnded { step, incomplete: false }),
        (any_step(), kinds, proptest::option::of(any_step())).prop_map(|(step, kind, parent)| {
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
        (any_step(), any_text()).prop_map(|(step, text)| Event::ArgumentsAppended { step, text }),
        (any_step(), any_text()).prop_map(|(step, text)| Event::ArgumentsReplaced { step, text }),
        any_step().prop_map(|step| Event::ToolReady { step }),
        (any_step(), any_text()).prop_map(|(step, text)| Event::OutputAppended { step, text }),
        (any_step(), any_text()).prop_map(|(step, text)| Event::ToolProgressed { step, text }),
        (any_step(), outcomes).prop_map(|(step, outcome)| Event::ToolEnded {
            step,
            outcome,
            detail: None
        }),
    ]
}

fn any_other_event() -> impl Strategy<Value = Event<'static>> {
    let ask = || prop_oneof![Just("a"), Just("b")].prop_map(Cow::Borrowed);
    let kinds = prop_oneof![Just(AskKind::Tool), Just(AskKind::Followup), Just(AskKind::Other)];
    prop_oneof![
        Just(Event::RunStarted { version: 1, dialect: "x".into(), mode: TextMode::Cumulative }),
        (any_text(), any::<bool>()).prop_map(|(text, shown)| {
            let image = Image::Url { url: "https://pond.test/a.png".into() };
            Event::PromptReceived {
                text,
                images: shown.then_some(image).into_iter().collect(),
                origin: millpond_engine::event::PromptOrigin::Person,
            }
        }),
        (0..3_u32).prop_map(|round| Event::RoundStarted { round, model: None, response: None }),
        (0..3_u32).prop_map(|round| Event::RoundEnded { round, stop: None, incomplete: false }),
        (ask(), kinds, any_text()).prop_map(|(ask, kind, text)| Event::AskOpened {
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
        any_text().prop_map(|text| Event::NoticeGiven { level: NoticeLevel::Warning, text }),
        any_text().prop_map(|raw| Event::Unrecognised { reason: UnrecognisedReason::Frame, raw }),
        Just(Event::UsageReported { scope: UsageScope::Round, usage: Usage::default() }),
    ]
}

fn any_log() -> impl Strategy<Value = Vec<Record<'static>>> {
    let event = prop_oneof![
        8 => any_text_event(),
        8 => any_step_event(),
        5 => any_other_event(),
        1 => any_ending(),
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

fn all_kinds() -> impl Iterator<Item = StreamKind> {
    ViewName::ALL.into_iter().flat_map(|view| {
        [Thinking::ViewDefault, Thinking::Hide, Thinking::Latest, Thinking::Show].map(|thinking| {
            StreamKind { view, format: FrameFormat::Native, content: ContentMode::Delta, thinking }
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn any_log_at_all_has_a_picture_in_every_view(records in any_log()) {
        for kind in all_kinds() {
            let (sent, whole) = encode_records(kind, &records);
            for frame in &sent {
                prop_assert!(!frame.data.contains('\n') && !frame.data.contains('\r'));
                prop_assert!(frame.data_json()["run"] == "r1", "{:?}", frame);
            }
            let (patched, same) = encode_records(StreamKind { format: FrameFormat::Patch, ..kind }, &records);
            prop_assert_eq!(&whole, &same);
            let mut page = Page::default();
            for frame in &patched {
                apply_patch_frame(&mut page, &frame.data);
            }
            prop_assert_eq!(&page, &whole);
        }
    }

    #[test]
    fn x7_any_run_that_ends_ends_once_and_leaves_nothing_live(records in any_log()) {
        for view in ViewName::ALL {
            let mut encoder = Encoder::new(patch_stream_kind(view), "session");
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
                    let page = encoder.page();
                    let live = page.items.values().find(|item| item.state == ItemState::Live);
                    prop_assert!(live.is_none(), "{:?} leaves {:?}", view, live);
                    prop_assert!(page.asks.is_empty() && page.overlay.is_none());
                }
            }
        }
    }

    #[test]
    fn t2_what_is_settled_only_grows_and_never_changes(records in any_log()) {
        for kind in all_kinds() {
            let kind = StreamKind { format: FrameFormat::Patch, ..kind };
            let mut encoder = Encoder::new(kind, "session");
            let mut before = Page::default();
            for record in &records {
                encoder.push(record, &mut |_| {});
                check_settled(kind.view, &before, encoder.page());
                before = encoder.page().clone();
            }
        }
    }
}

#[test]
fn sentences_x12_a_rewrite_of_a_message_that_was_left_and_opened_again_cuts_no_character() {
    let text = |message, text: &'static str| Event::TextAppended {
        message: MessageId(message),
        text: text.into(),
    };
    let events = [
        Event::RunStarted { version: 1, dialect: "x".into(), mode: TextMode::Incremental },
        text(1, "Hello. "),
        text(1, "```\ncode\n"),
        text(0, "Hello. "),
        text(1, "żó\u{301}łw 🐢!"),
        Event::TextRewritten { message: MessageId(1), kept_bytes: 8, text: "Hello. ".into() },
    ];
    let record = |(seq, event)| Record { seq, at_ms: None, run: "r1".into(), event };
    let records: Vec<Record<'_>> = (0..).zip(events).map(record).collect();
    encode_records(StreamKind::new(ViewName::Sentences), &records);
}
