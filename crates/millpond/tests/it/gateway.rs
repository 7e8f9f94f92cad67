//! End-to-end tests of the gateway: the real program, real connections, real signals.

mod agents;
mod client;
mod commands;
mod kills;
mod many;
mod model_network;
pub(crate) mod process;
mod source_options;
mod stop;
mod tls;
mod upgrade;
