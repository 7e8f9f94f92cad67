//! One line of the log.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::Event;

/// Milliseconds since the Unix epoch, from the provider or the shell.
pub type Millis = u64;

/// One line of the log: an event with its position, time and run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Record<'a> {
    /// Dense number within the session, from 0.
    pub seq: u64,
    /// The provider's time, else the time of arrival, else missing.
    pub at_ms: Option<Millis>,
    /// Id of the run that the event belongs to.
    pub run: Cow<'a, str>,
    /// The fact itself.
    #[serde(flatten)]
    pub event: Event<'a>,
}
