//! Model API requests, from sources that list them, and the model of rounds.

use crate::event::Event;
use crate::limits::OPEN_REQUESTS_MAX;

use super::Writer;

impl Writer<'_> {
    /// Declares the model of the rounds that start from now on and name none.
    pub(crate) fn declare_model(&mut self, model: &str) {
        if !model.is_empty() && self.state.declared_model.as_deref() != Some(model) {
            self.state.declared_model = Some(model.to_owned());
        }
    }

    /// Starts a request; does nothing if it is open. Ends the oldest at the limit.
    pub fn start_request_unless_open(&mut self, request: &str) {
        if self.is_request_open(request) {
            return;
        }
        if OPEN_REQUESTS_MAX <= self.state.open_requests.len()
            && let Some(oldest) = self.state.open_requests.pop_front()
        {
            self.emitter.emit_after_deferred_ends(build_unfinished_model_request_end(oldest));
        }
        self.state.open_requests.push_back(request.to_owned());
        self.emitter.emit_after_deferred_ends(Event::RequestStarted { request: request.into() });
    }

    /// True if the request is open.
    pub fn is_request_open(&self, request: &str) -> bool {
        self.state.open_requests.iter().any(|open| open == request)
    }

    /// Ends a request. One that is not open is ended without an id.
    pub fn end_open_or_unlisted_request(
        &mut self,
        request: &str,
        cost_usd: Option<f64>,
        failure: Option<&str>,
        cancel_reason: Option<&str>,
    ) {
        let at = self.state.open_requests.iter().position(|open| open == request);
        let listed = at.and_then(|at| self.state.open_requests.remove(at));
        self.emitter.emit_after_deferred_ends(Event::RequestEnded {
            request: listed.map(Into::into),
            cost_usd,
            failure: failure.map(Into::into),
            cancel_reason: cancel_reason.map(Into::into),
        });
    }
}

/// Returns the end event of a request whose end was never reported.
pub(in crate::run) fn build_unfinished_model_request_end(request: String) -> Event<'static> {
    let request = Some(request.into());
    Event::RequestEnded { request, cost_usd: None, failure: None, cancel_reason: None }
}
