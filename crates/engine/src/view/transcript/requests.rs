//! Requests to the model. If the source lists them, an open request is an item and blocks settling;
//! otherwise a round becomes an item when it has ended, and blocks nothing.

use serde::Serialize;

use crate::event::{CacheCounting, Event, Millis, Record, Usage, UsageScope};
use crate::event_family;
use crate::view::item::{Item, ItemKey, ItemKind, ItemState};
use crate::view::patch::Patch;

use super::settling::TextGrowth;
use super::{Transcript, UNFINISHED_STATE};

/// Open requests of the active run, and its open round.
#[derive(Clone, Debug, Default)]
pub(super) struct RequestItems {
    listing: RequestListing,
    open_requests: Vec<OpenRequest>,
    open_round: Option<OpenRound>,
    /// The source's counting of cached tokens, if it is known.
    cache_counting: Option<CacheCounting>,
}

impl RequestItems {
    /// Creates the state of a run of this dialect.
    pub(super) fn of_dialect(dialect: &str) -> RequestItems {
        let cache_counting = CacheCounting::of_dialect(dialect);
        RequestItems { cache_counting, ..RequestItems::default() }
    }
}

/// `Yes` if the source lists its requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum RequestListing {
    #[default]
    No,
    Yes,
}

/// A listed request that is open.
#[derive(Clone, Debug)]
struct OpenRequest {
    key: ItemKey,
    id: String,
    at_ms: Option<Millis>,
    /// Round of the request.
    round: Option<u32>,
}

/// The open round, for a source that lists no requests.
#[derive(Clone, Debug)]
struct OpenRound {
    number: u32,
    at_ms: Option<Millis>,
    model: Option<String>,
    usage: Usage,
    /// `Yes` if its request was listed.
    listing: RequestListing,
}

/// Cost of a request as serialized.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
enum Cost {
    /// There is no price; `null`.
    Unpriced,
    Usd(f64),
}

impl From<Option<f64>> for Cost {
    fn from(usd: Option<f64>) -> Cost {
        usd.map_or(Cost::Unpriced, |usd| Cost::Usd(round_cost(usd)))
    }
}

/// Rounds a cost to a billionth of a dollar, so that a sum of prices has no digits that only the
/// addition made.
fn round_cost(usd: f64) -> f64 {
    const BILLION: f64 = 1e9;
    let rounded = (usd * BILLION).round() / BILLION;
    // Too large to be rounded so.
    if rounded.is_finite() { rounded } else { usd }
}

/// Summary of an ended request, as JSON in the view's specified form.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct RequestSummary<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<Cost>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens_in: Option<u64>,
    /// Tokens in, cached ones included; only if there are cached ones and it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens_in_total: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens_out: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_reads: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_writes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    streaming_failed_message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancel_reason: Option<&'a str>,
}

impl RequestSummary<'_> {
    /// Summary of usage alone.
    fn from_usage(usage: &Usage, counting: Option<CacheCounting>) -> RequestSummary<'static> {
        let is_cached = |count: Option<u64>| count.is_some_and(|count| 0 < count);
        let has_cached = is_cached(usage.cache_read_tokens) || is_cached(usage.cache_write_tokens);
        let counting = counting.filter(|_| has_cached);
        RequestSummary {
            cost: Some(usage.cost_usd.into()),
            tokens_in: usage.input_tokens,
            tokens_in_total: counting.and_then(|known| known.total_input_tokens(usage)),
            tokens_out: usage.output_tokens,
            cache_reads: usage.cache_read_tokens,
            cache_writes: usage.cache_write_tokens,
            ..RequestSummary::default()
        }
    }

    /// Returns the summary as JSON text.
    fn to_json(self) -> String {
        serde_json::to_string(&self).unwrap_or_default()
    }
}

impl Transcript {
    /// Applies a round, request or usage event.
    pub(super) fn apply_request_event<'r>(
        &mut self,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        match &record.event {
            Event::RoundStarted { round, model, .. } => {
                self.close_round_and_put_unlisted_request(record, ItemState::Done, out);
                self.active_run.requests.open_round = Some(OpenRound {
                    number: *round,
                    at_ms: record.at_ms,
                    model: model.as_deref().map(str::to_owned),
                    usage: Usage::default(),
                    listing: self.active_run.requests.listing,
                });
            }
            Event::RoundEnded { incomplete, .. } => {
                let state = if *incomplete { UNFINISHED_STATE } else { ItemState::Done };
                self.close_round_and_put_unlisted_request(record, state, out);
            }
            Event::RequestStarted { request } => {
                self.put_request_item_unless_open(request, record, out);
            }
            Event::RequestEnded { .. } => self.complete_or_put_request_item(record, out),
            Event::UsageReported { scope: UsageScope::Run, usage } => {
                self.active_run
                    .run_usage
                    .get_or_insert_default()
                    .overwrite_reported_numbers(*usage);
            }
            Event::UsageReported { scope: UsageScope::Round, usage } => {
                match &mut self.active_run.requests.open_round {
                    Some(round) => round.usage.overwrite_reported_numbers(*usage),
                    None => self.put_usage_notice(usage, record, out),
                }
            }
            // Not of a request.
            Event::ImageReceived { .. }
            | Event::Withdrawn { .. }
            | event_family!(Run)
            | event_family!(Prompt)
            | event_family!(Message)
            | event_family!(Reasoning)
            | event_family!(Tool)
            | event_family!(Ask)
            | event_family!(Notice)
            | event_family!(Internal) => {}
        }
    }

    /// Puts the item of a listed request and tracks it as open.
    fn put_request_item_unless_open<'r>(
        &mut self,
        request: &'r str,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        self.active_run.requests.listing = RequestListing::Yes;
        if let Some(round) = &mut self.active_run.requests.open_round {
            round.listing = RequestListing::Yes;
        }
        if self.active_run.requests.open_requests.iter().any(|open| open.id == request) {
            return;
        }
        let id = self.base.ids().of_source(request);
        let mut item = Item::new(ItemKind::Request, &*record.run, id);
        item.at_ms = record.at_ms;
        item.text = "{}".into();
        let key = self.put_item(None, item, TextGrowth::Mutable, out);
        let round = self.active_run.requests.open_round.as_ref().map(|round| round.number);
        let listed = OpenRequest { key, id: request.to_owned(), at_ms: record.at_ms, round };
        self.active_run.requests.open_requests.push(listed);
    }

    /// Completes the item of a listed request, or puts one.
    fn complete_or_put_request_item<'r>(
        &mut self,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let Event::RequestEnded { request, cost_usd, failure, cancel_reason } = &record.event
        else {
            return;
        };
        let ids = self.base.ids();
        let requests = &mut self.active_run.requests;
        let cache_counting = requests.cache_counting;
        let at =
            requests.open_requests.iter().position(|open| Some(&*open.id) == request.as_deref());
        let listed = at.map(|at| requests.open_requests.swap_remove(at));
        let told = cost_usd.is_some() || (failure.is_none() && cancel_reason.is_none());
        let round = requests.open_round.as_ref().filter(|round| {
            listed.as_ref().is_none_or(|listed| listed.round == Some(round.number))
        });
        let model = round.and_then(|round| round.model.clone());
        let account = RequestSummary {
            model: model.as_deref(),
            cost: told.then(|| (*cost_usd).into()),
            streaming_failed_message: failure.as_deref(),
            cancel_reason: cancel_reason.as_deref(),
            ..round.map_or_else(RequestSummary::default, |round| {
                RequestSummary::from_usage(&round.usage, cache_counting)
            })
        };
        let state = match (failure, cancel_reason, cost_usd) {
            (Some(_), _, _) => ItemState::Failed,
            (None, None, Some(_)) => ItemState::Done,
            (None, Some(_), _) | (None, None, None) => ItemState::Incomplete,
        };
        let mut id = ids.of_source(request.as_deref().unwrap_or_default());
        if let Some(round) = requests.open_round.as_mut().filter(|_| request.is_none()) {
            round.listing = RequestListing::Yes;
            id = ids.round(round.number);
        }
        let mut item = Item::new(ItemKind::Request, &*record.run, id);
        item.state = state;
        item.text = account.to_json().into();
        item.at_ms = listed.as_ref().map_or(record.at_ms, |listed| listed.at_ms);
        match listed {
            Some(OpenRequest { key, .. }) => self.replace_and_complete_if_live(key, item, out),
            None => {
                self.put_item(None, item, TextGrowth::Mutable, out);
            }
        }
    }

    /// Clears the open round and puts its item, unless its requests are listed.
    fn close_round_and_put_unlisted_request<'r>(
        &mut self,
        record: &'r Record<'_>,
        state: ItemState,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let Some(round) = self.active_run.requests.open_round.take() else { return };
        if round.listing == RequestListing::Yes {
            return;
        }
        let cache_counting = self.active_run.requests.cache_counting;
        let account = RequestSummary {
            model: round.model.as_deref(),
            ..RequestSummary::from_usage(&round.usage, cache_counting)
        };
        let mut item =
            Item::new(ItemKind::Request, &*record.run, self.base.ids().round(round.number));
        item.round = Some(round.number);
        item.at_ms = round.at_ms;
        item.state = state;
        item.text = account.to_json().into();
        self.put_item(None, item, TextGrowth::Mutable, out);
    }

    /// Closes the open round and requests at the end of the run, and puts the run's usage.
    pub(super) fn end_requests_and_put_usage<'r>(
        &mut self,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        self.close_round_and_put_unlisted_request(record, UNFINISHED_STATE, out);
        for OpenRequest { key, id: request, at_ms, .. } in
            std::mem::take(&mut self.active_run.requests.open_requests)
        {
            let id = self.base.ids().of_source(&request);
            let mut item = Item::new(ItemKind::Request, &*record.run, id);
            item.at_ms = at_ms;
            item.state = UNFINISHED_STATE;
            item.text = RequestSummary { cost: Some(Cost::Unpriced), ..RequestSummary::default() }
                .to_json()
                .into();
            self.replace_and_complete_if_live(key, item, out);
        }
        if let Some(usage) = self.active_run.run_usage.take() {
            self.put_usage_notice(&usage, record, out);
        }
    }

    /// Puts a notice with usage.
    fn put_usage_notice<'r>(
        &mut self,
        usage: &Usage,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let cache_counting = self.active_run.requests.cache_counting;
        self.put_notice(
            ItemKind::Notice,
            "usage",
            RequestSummary::from_usage(usage, cache_counting).to_json(),
            record,
            out,
        );
    }
}
