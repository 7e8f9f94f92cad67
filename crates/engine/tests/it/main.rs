//! Tests of the engine as its users see it: bytes in, events out.

mod agents;
mod fixtures;
mod support;
