//! Tests of the engine as its users see it: bytes in, events out.

mod cli_agents;
mod fixtures;
mod support;
