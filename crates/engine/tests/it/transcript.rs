//! The view `transcript`, as a terminal that prints what is settled sees it.

mod approvals;
mod frames;
mod hostile;
mod items;
pub(crate) mod print_client;
mod requests;
mod seed;
mod settling;
mod tool_items;
