//! Tests of the engine as its users see it: bytes in, events out.

mod fixtures;
mod openai_responses;
mod support;
