//! Agents: models, tools and existing agents behind one loop, writing one log.
//!
//! The gateway gives an agent a run; the agent writes events. Nothing here decides what a person
//! sees, and nothing here keeps anything but through the log.

pub mod approval;
pub mod checkpoint;
pub mod chooser;
pub mod conversation;
pub mod demo;
pub mod driven;
pub mod heartbeat;
pub mod limits;
pub mod mcp;
pub mod memory;
pub mod model;
pub mod net;
pub mod output;
pub mod pen;
mod pictures;
pub mod policy;
pub mod process;
pub mod profile;
pub mod provider;
pub mod request;
pub mod rounds;
pub mod stop;
pub mod tools;
