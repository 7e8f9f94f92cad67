//! Numbers the events of a stream as records, and keeps counts and the ending.

use millpond_engine::event::{Ending, Event, Millis, Record, Trace, UnrecognisedReason};
use millpond_engine::view::{Item, ItemKind, ItemState, Page};

use super::print_to_stderr;
use crate::args::InputArgs;

/// Run ID of a stream that is shown without a gateway.
const RUN_ID: &str = "r1";

/// Session ID of such a stream.
pub(crate) const SESSION_ID: &str = "show";

/// Characters of the first line of an unrecognised input that are printed.
const FIRST_LINE_CHARS_MAX: usize = 60;

/// Presence of a run's content in the output, apart from what the person wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrintedContent {
    /// Nothing, or only what the person wrote.
    Nothing,
    /// Text, steps or notices; or the output is not for a person.
    Something,
}

impl PrintedContent {
    /// Returns `Something` if the page has an item that is neither withdrawn nor the person's.
    pub(crate) fn of_page(page: &Page) -> PrintedContent {
        let is_content =
            |item: &Item<'_>| item.kind != ItemKind::User && item.state != ItemState::Withdrawn;
        if page.items.values().any(is_content) {
            PrintedContent::Something
        } else {
            PrintedContent::Nothing
        }
    }
}

/// Event count, unreadable frame count and ending of one stream.
#[derive(Debug)]
pub(crate) struct StreamSummary {
    pub(crate) event_count: u64,
    /// Frames that could not be parsed.
    pub(crate) unreadable_count: usize,
    /// Start of the first unrecognised frame.
    pub(crate) first_unrecognised: Option<String>,
    pub(crate) ending: Option<Ending<'static>>,
    pub(crate) printed: PrintedContent,
    reports_dialect: bool,
}

impl StreamSummary {
    pub(crate) fn new(args: &InputArgs) -> StreamSummary {
        let reports_dialect = !args.quiet && args.explicit_dialect().is_none();
        StreamSummary {
            event_count: 0,
            unreadable_count: 0,
            first_unrecognised: None,
            ending: None,
            printed: PrintedContent::Nothing,
            reports_dialect,
        }
    }

    /// Counts the event and returns it as a record with the next seq.
    pub(crate) fn count_and_number_event<'e>(
        &mut self,
        at_ms: Option<Millis>,
        event: Event<'e>,
    ) -> Record<'e> {
        // Only JSON counts as damaged: agents print other lines besides their stream.
        if let Event::Unrecognised { reason: UnrecognisedReason::Unreadable, raw } = &event
            && raw.starts_with('{')
        {
            self.unreadable_count += 1;
        }
        if let Event::Unrecognised { raw, .. } = &event
            && self.first_unrecognised.is_none()
        {
            let line = raw.lines().next().unwrap_or_default();
            self.first_unrecognised = Some(line.chars().take(FIRST_LINE_CHARS_MAX).collect());
        }
        if let Event::RunEnded { ending } = &event {
            self.ending = Some(ending.clone().into_owned());
        }
        let seq = self.event_count;
        self.event_count += 1;
        Record { seq, at_ms, run: RUN_ID.into(), event }
    }

    /// Prints the detected dialect, unless `--from` or `--quiet` was given.
    pub(crate) fn print_detected_dialect_unless_quiet(&self, trace: &Trace<'_>) {
        if let (true, Trace::DialectChosen { dialect, .. }) = (self.reports_dialect, trace)
            && *dialect != "unknown"
        {
            print_to_stderr(&format!("reading {dialect}"));
        }
    }
}
