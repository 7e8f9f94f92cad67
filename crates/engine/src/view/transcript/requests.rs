//! Requests to the model. From a source that lists them one in progress is an item, and blocks;
//! elsewhere a round becomes an item when it has ended, and blocks nothing.

use std::borrow::Cow;

use serde::Serialize;

use crate::event::{Event, Millis, Record, Usage, UsageScope};
use crate::view::item::{Item, Key, Kind, State};
use crate::view::patch::Patch;

use super::settling::Growth;
use super::{LEFT_OPEN, Transcript};

#[derive(Clone, Debug, Default)]
pub(super) struct Requests {
    listing: Listing,
    open: Vec<Listed>,
    round: Option<Round>,
}

/// Whether the source lists its requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Listing {
    #[default]
    No,
    Yes,
}

#[derive(Clone, Debug)]
struct Listed {
    key: Key,
    request: String,
    at_ms: Option<Millis>,
    /// The round it is the call of.
    round: Option<u32>,
}

#[derive(Clone, Debug)]
struct Round {
    number: u32,
    at_ms: Option<Millis>,
    model: Option<String>,
    usage: Usage,
    /// Whether its request has been told of.
    listing: Listing,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
enum Cost {
    /// There is no price; `null`.
    Unpriced,
    Usd(f64),
}

impl From<Option<f64>> for Cost {
    fn from(usd: Option<f64>) -> Cost {
        usd.map_or(Cost::Unpriced, Cost::Usd)
    }
}

/// What is known of a request that has ended, in the words of its document.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Account<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<Cost>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens_in: Option<u64>,
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

impl Account<'_> {
    fn of(usage: &Usage) -> Account<'static> {
        Account {
            cost: Some(usage.cost_usd.into()),
            tokens_in: usage.input_tokens,
            tokens_out: usage.output_tokens,
            cache_reads: usage.cache_read_tokens,
            cache_writes: usage.cache_write_tokens,
            ..Account::default()
        }
    }

    fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl Transcript {
    pub(super) fn request_event<'r>(
        &mut self,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        match &record.event {
            Event::RoundStarted { round, model, .. } => {
                self.end_round(record, State::Done, out);
                self.going.requests.round = Some(Round {
                    number: *round,
                    at_ms: record.at_ms,
                    model: model.as_deref().map(str::to_owned),
                    usage: Usage::default(),
                    listing: self.going.requests.listing,
                });
            }
            Event::RoundEnded { incomplete, .. } => {
                let state = if *incomplete { LEFT_OPEN } else { State::Done };
                self.end_round(record, state, out);
            }
            Event::RequestStarted { request } => self.start_request(request, record, out),
            Event::RequestEnded { .. } => self.end_request(record, out),
            Event::UsageReported { scope: UsageScope::Run, usage } => {
                self.going.usage.get_or_insert_default().update(*usage);
            }
            Event::UsageReported { scope: UsageScope::Round, usage } => {
                match &mut self.going.requests.round {
                    Some(round) => round.usage.update(*usage),
                    None => self.tell_usage(usage, record, out),
                }
            }
            _ => {}
        }
    }

    fn start_request<'r>(
        &mut self,
        request: &'r str,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        self.going.requests.listing = Listing::Yes;
        if let Some(round) = &mut self.going.requests.round {
            round.listing = Listing::Yes;
        }
        if self.going.requests.open.iter().any(|open| open.request == request) {
            return;
        }
        let mut item = Item::new(Kind::Request, &*record.run, request);
        item.at_ms = record.at_ms;
        item.text = "{}".into();
        let key = self.put(None, item, Growth::MayChange, out);
        let round = self.going.requests.round.as_ref().map(|round| round.number);
        let listed = Listed { key, request: request.to_owned(), at_ms: record.at_ms, round };
        self.going.requests.open.push(listed);
    }

    fn end_request<'r>(&mut self, record: &'r Record<'_>, out: &mut impl FnMut(Patch<'r>)) {
        let Event::RequestEnded { request, cost_usd, failure, cancel_reason } = &record.event
        else {
            return;
        };
        let requests = &mut self.going.requests;
        let at = requests.open.iter().position(|open| Some(&*open.request) == request.as_deref());
        let listed = at.map(|at| requests.open.swap_remove(at));
        let told = cost_usd.is_some() || (failure.is_none() && cancel_reason.is_none());
        let round = requests.round.as_ref().filter(|round| {
            listed.as_ref().is_none_or(|listed| listed.round == Some(round.number))
        });
        let account = Account {
            cost: told.then(|| (*cost_usd).into()),
            streaming_failed_message: failure.as_deref(),
            cancel_reason: cancel_reason.as_deref(),
            ..round.map_or_else(Account::default, |round| Account::of(&round.usage))
        };
        let state = match (failure, cancel_reason, cost_usd) {
            (Some(_), _, _) => State::Failed,
            (None, None, Some(_)) => State::Done,
            (None, Some(_), _) | (None, None, None) => State::Incomplete,
        };
        let mut id = Cow::Borrowed(request.as_deref().unwrap_or_default());
        if let Some(round) = requests.round.as_mut().filter(|_| request.is_none()) {
            round.listing = Listing::Yes;
            id = Cow::Owned(format!("r{}", round.number));
        }
        let mut item = Item::new(Kind::Request, &*record.run, id);
        item.state = state;
        item.text = account.text().into();
        item.at_ms = listed.as_ref().map_or(record.at_ms, |listed| listed.at_ms);
        match listed {
            Some(Listed { key, .. }) => self.replace(key, item, out),
            None => {
                self.put(None, item, Growth::MayChange, out);
            }
        }
    }

    fn end_round<'r>(
        &mut self,
        record: &'r Record<'_>,
        state: State,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        let Some(round) = self.going.requests.round.take() else { return };
        if round.listing == Listing::Yes {
            return;
        }
        let account = Account { model: round.model.as_deref(), ..Account::of(&round.usage) };
        let mut item = Item::new(Kind::Request, &*record.run, format!("r{}", round.number));
        item.round = Some(round.number);
        item.at_ms = round.at_ms;
        item.state = state;
        item.text = account.text().into();
        self.put(None, item, Growth::MayChange, out);
    }

    /// Nothing more will be known of requests that are under way.
    pub(super) fn end_requests<'r>(
        &mut self,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        self.end_round(record, LEFT_OPEN, out);
        for Listed { key, request, at_ms, .. } in std::mem::take(&mut self.going.requests.open) {
            let mut item = Item::new(Kind::Request, &*record.run, request);
            item.at_ms = at_ms;
            item.state = LEFT_OPEN;
            item.text = Account { cost: Some(Cost::Unpriced), ..Account::default() }.text().into();
            self.replace(key, item, out);
        }
        if let Some(usage) = self.going.usage.take() {
            self.tell_usage(&usage, record, out);
        }
    }

    fn tell_usage<'r>(
        &mut self,
        usage: &Usage,
        record: &'r Record<'_>,
        out: &mut impl FnMut(Patch<'r>),
    ) {
        self.notice(Kind::Notice, "usage", Account::of(usage).text(), record, out);
    }
}
