//! The gateway as its callers see it: over real connections, on a real store.

mod commands;
mod giants;
mod guard;
mod matrix;
mod patience;
mod raw;
mod resume;
mod storage;
mod support;
