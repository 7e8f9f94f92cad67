//! Tests of the engine as its users see it: bytes in, events out.

mod claude_code;
mod corpus;
mod cursor_agent;
mod extractor;
mod fixtures;
mod qwen_code;
mod support;
