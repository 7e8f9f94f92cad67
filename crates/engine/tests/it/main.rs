//! Tests of the engine as its users see it: bytes in, events out.

mod bedrock;
mod cohere;
mod fixture;
mod fixtures;
mod gemini;
mod ollama;
mod support;
