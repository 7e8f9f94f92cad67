//! The gateway as its callers see it: over real connections, on a real store.

mod access;
mod access_matrix;
mod all_views;
mod attach;
mod blobs;
mod commands;
mod cursor_epochs;
mod endings;
mod metrics;
mod openapi;
mod oversized_requests;
mod queues;
mod raw_requests;
mod resume;
mod retry;
mod schema;
mod session_list_stream;
mod site;
mod socket;
mod store_failures;
mod support;
mod timeouts;
