//! The view `transcript`, as a terminal that prints what is settled sees it.

mod frames;
mod hostile;
mod items;
mod screen;
mod seed;
mod settling;
