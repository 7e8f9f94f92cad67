//! Tests of the engine as its users see it: bytes in, events out.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may fail, and says what it skips"
)]

mod actions;
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
mod control_words_and_thoughts;
mod corpus;
mod cursor_agent;
mod cuts;
mod drafts;
mod event_queries;
mod examples;
mod extractor;
mod failures;
mod finishing;
mod fixtures;
mod gemini;
mod goldens;
mod grammar;
mod heartbeats;
mod hiding;
mod images;
mod implied_thoughts;
mod interleaving;
mod item_ids;
mod kept_views;
mod labels;
mod latest;
mod linear;
mod log;
mod markdown;
mod ollama;
mod open_items;
mod open_messages;
mod openai_chat;
mod openai_responses;
mod protocol;
mod qwen_code;
mod replay;
mod replies;
mod reply;
mod rules;
mod run_writer;
mod scalars;
mod schema;
mod sentences;
mod sentences_view;
mod separate_messages;
mod settled;
mod sse;
mod status;
mod steps;
mod support;
mod texts;
mod thinking;
mod tool_descriptions;
mod traces;
mod transcript;
mod traps;
mod unfinished;
mod unfinished_items;
mod views;
mod views_hostile;
