//! Tests of the binary as a person or a script uses it.

mod bounded;
mod recording;
mod show;
mod support;
