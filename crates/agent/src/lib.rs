//! Agents: the model and tool loop, and drivers for installed agent CLIs.
//!
//! The gateway gives an agent a run; the agent appends events to its log. This crate does not
//! decide what a person sees, and stores nothing outside the log (checkpoints aside).

pub mod agent_loop;
pub mod approval;
pub mod checkpoint;
pub mod conversation;
pub mod demo;
pub mod external;
pub mod heartbeat;
pub mod http_client;
mod images;
pub mod limits;
pub mod mcp;
pub mod model;
pub mod policy;
pub mod process;
pub mod profile;
pub mod provider;
pub mod request;
pub mod run_writer;
pub mod session_history;
pub mod stop_signal;
pub mod switchable_agent;
pub mod tool_output;
pub mod tools;
