//! Pure folds of events into what a person sees. No clock, no look-up, no provider's words.

pub mod reply;
pub mod text;
