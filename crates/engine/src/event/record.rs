//! One line of the log, and the version of its events.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::Event;

/// Version of the event types, written into every `run_started`.
pub const EVENT_VERSION: u32 = 1;

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
