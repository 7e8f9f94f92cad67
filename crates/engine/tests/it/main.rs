//! Tests of the engine as its users see it: bytes in, events out.

mod corpus;
mod extractor;
mod fixtures;
mod rules;
mod sse;
mod openai_responses;
mod support;
mod thinking;
