//! The binary as its users meet it: what goes in on the command line, what comes out, and with which exit code.

mod bad_input;
mod cache;
mod dump;
mod files;
mod forms;
mod hostile;
mod json;
mod mutate;
mod packages;
mod support;
mod surroundings;
