//! Asks: a question or approval request for the user, and its answer.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::event::{AnsweredBy, AskKind, AskOption, Millis};

use super::into_owned_cow;

/// A question or approval request for the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Ask<'a> {
    /// Id of its run.
    pub run: Cow<'a, str>,
    /// Id of the ask.
    pub id: Cow<'a, str>,
    /// Subject of the ask.
    pub kind: AskKind,
    /// The question.
    pub text: Cow<'a, str>,
    /// The answers it offers; none for a free-form answer.
    pub options: Vec<AskOption<'a>>,
    /// Digest of exactly what an approval would run.
    #[cfg_attr(feature = "schema", schemars(extend("nullable" = true)))]
    pub digest: Option<Cow<'a, str>>,
    /// Milliseconds since the epoch.
    #[cfg_attr(feature = "schema", schemars(extend("nullable" = true)))]
    pub expires_at: Option<Millis>,
}

/// The answer to an ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResolvedAsk<'a> {
    /// Id of its run.
    pub run: Cow<'a, str>,
    /// Id of the ask.
    pub id: Cow<'a, str>,
    /// The answer.
    pub answer: Cow<'a, str>,
    /// Party that answered.
    pub by: AnsweredBy,
}

impl Ask<'_> {
    /// Converts to owned texts.
    #[must_use]
    pub fn into_owned(self) -> Ask<'static> {
        Ask {
            run: into_owned_cow(self.run),
            id: into_owned_cow(self.id),
            kind: self.kind,
            text: into_owned_cow(self.text),
            options: self.options.into_iter().map(AskOption::into_owned).collect(),
            digest: self.digest.map(into_owned_cow),
            expires_at: self.expires_at,
        }
    }
}

impl ResolvedAsk<'_> {
    /// Converts to owned texts.
    #[must_use]
    pub fn into_owned(self) -> ResolvedAsk<'static> {
        ResolvedAsk {
            run: into_owned_cow(self.run),
            id: into_owned_cow(self.id),
            answer: into_owned_cow(self.answer),
            by: self.by,
        }
    }
}
