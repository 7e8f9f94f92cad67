//! The gateway as its callers see it: over real connections, on a real store.

mod commands;
mod guard;
mod resume;
mod socket;
mod support;
