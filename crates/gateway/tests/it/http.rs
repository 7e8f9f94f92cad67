//! The gateway as its callers see it: over real connections, on a real store.

mod blobs;
mod commands;
mod endings;
mod giants;
mod guard;
mod matrix;
mod metrics;
mod news;
mod openapi;
mod patience;
mod queues;
mod raw;
mod resume;
mod retry;
mod schema;
mod site;
mod socket;
mod storage;
mod support;
mod theatre;
