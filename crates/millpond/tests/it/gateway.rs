//! The gateway as an operator runs it: the real program, real connections, real signals.

mod agents;
mod client;
mod commands;
mod kills;
mod many;
mod nets;
pub(crate) mod process;
mod stop;
mod tls;
