//! Tests of the engine as its users see it: bytes in, events out.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may fail, and says what it skips"
)]

mod agents;
mod anthropic;
mod asks;
mod bedrock;
mod bounds;
mod broken_off;
mod bubbles;
mod claude_code;
mod cli_agents;
mod codex;
mod cohere;
mod control_words;
mod corpus;
mod cursor_agent;
mod cuts;
mod drafts;
mod extractor;
mod finishing;
mod fixture;
mod fixtures;
mod gemini;
mod goldens;
mod grammar;
mod hiding;
mod kept_views;
mod labels;
mod latest;
mod linear;
mod log;
mod ollama;
mod openai_chat;
mod openai_responses;
mod pictures;
mod protocol;
mod qwen_code;
mod replies;
mod reply;
mod rules;
mod scalars;
mod schema;
mod sentences;
mod sentences_view;
mod sse;
mod status;
mod steps;
mod support;
mod thinking;
mod told;
mod traces;
mod transcript;
mod traps;
mod unfinished;
mod views;
mod views_hostile;
