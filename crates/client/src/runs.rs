//! Runs: outcome, cancellation, retry, and answers to asks.

use millpond_engine::event::Outcome;
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::request::send_and_require_success;
use crate::{GatewayClient, RequestError};

/// Error of cancelling a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CancelError {
    #[error("the run has ended")]
    RunEnded,
    #[error(transparent)]
    Request(RequestError),
}

/// Error of answering an ask.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    #[error("already answered elsewhere")]
    AnsweredAlready,
    #[error(transparent)]
    Request(RequestError),
}

/// State of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// It waits in the queue, or does not exist.
    NotStarted,
    Active,
    Ended(Outcome),
}

#[derive(Deserialize)]
struct RunResponse {
    outcome: Option<Outcome>,
}

impl GatewayClient {
    /// Fetches the state of a run.
    pub async fn fetch_run_state(&self, run: &str) -> Result<RunState, RequestError> {
        match self.get_json::<RunResponse>(&format!("/v1/runs/{run}")).await {
            Ok(RunResponse { outcome: Some(outcome) }) => Ok(RunState::Ended(outcome)),
            Ok(RunResponse { outcome: None }) => Ok(RunState::Active),
            Err(RequestError::NotFound(_)) => Ok(RunState::NotStarted),
            Err(error) => Err(error),
        }
    }

    /// Cancels a run.
    pub async fn cancel_run(&self, run: &str) -> Result<(), CancelError> {
        let cancelled =
            self.post_json::<Value>(&format!("/v1/runs/{run}/cancel"), &json!({})).await;
        cancelled.map(drop).map_err(|error| {
            if error.is_conflict_with_code("run_ended") {
                CancelError::RunEnded
            } else {
                CancelError::Request(error)
            }
        })
    }

    /// Starts the run's prompt again, as a new run.
    pub async fn retry_run(&self, run: &str) -> Result<(), RequestError> {
        self.post_json::<Value>(&format!("/v1/runs/{run}/retry"), &json!({})).await.map(drop)
    }

    /// Answers an ask of a run.
    pub async fn answer_ask(&self, run: &str, ask: &str, answer: &str) -> Result<(), AnswerError> {
        let request =
            self.build_timed_request(Method::POST, &format!("/v1/runs/{run}/asks/{ask}/answer"));
        let answered = send_and_require_success(request.json(&json!({ "answer": answer }))).await;
        answered.map(drop).map_err(|error| {
            if error.is_conflict_with_code("answered_already") {
                AnswerError::AnsweredAlready
            } else {
                AnswerError::Request(error)
            }
        })
    }
}
