//! Requests to a model, as a source lists them.

use crate::event::Event;
use crate::limits::OPEN_REQUESTS_MAX;

use super::Writer;

impl Writer<'_> {
    /// A request is under way; one that is already has no second beginning.
    pub fn request(&mut self, request: &str) {
        if self.is_request_open(request) {
            return;
        }
        if OPEN_REQUESTS_MAX <= self.ledger.open_requests.len()
            && let Some(oldest) = self.ledger.open_requests.pop_front()
        {
            self.out.event(unfinished(oldest));
        }
        self.ledger.open_requests.push_back(request.to_owned());
        self.out.event(Event::RequestStarted { request: request.into() });
    }

    pub fn is_request_open(&self, request: &str) -> bool {
        self.ledger.open_requests.iter().any(|open| open == request)
    }

    /// A request is over. One that was not listed has no name.
    pub fn end_request(
        &mut self,
        request: &str,
        cost_usd: Option<f64>,
        failure: Option<&str>,
        cancel_reason: Option<&str>,
    ) {
        let at = self.ledger.open_requests.iter().position(|open| open == request);
        let listed = at.and_then(|at| self.ledger.open_requests.remove(at));
        self.out.event(Event::RequestEnded {
            request: listed.map(Into::into),
            cost_usd,
            failure: failure.map(Into::into),
            cancel_reason: cancel_reason.map(Into::into),
        });
    }
}

/// The end of a request that nobody told the end of.
pub(in crate::run) fn unfinished(request: String) -> Event<'static> {
    let request = Some(request.into());
    Event::RequestEnded { request, cost_usd: None, failure: None, cancel_reason: None }
}
