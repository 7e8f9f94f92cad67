//! The gateway as its callers see it: over real connections, on a real store.

mod blobs;
mod commands;
mod endings;
mod guard;
mod metrics;
mod news;
mod openapi;
mod queues;
mod resume;
mod retry;
mod schema;
mod socket;
mod support;
