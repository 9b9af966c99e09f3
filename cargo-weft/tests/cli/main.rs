//! Tests of the binary from outside: command line in, output and exit code out.

mod accepted;
mod bad_input;
mod cache;
#[cfg(unix)]
mod capture;
mod ci;
mod command_line;
mod dump;
mod files;
mod filters;
mod forms;
mod graph;
mod hostile;
mod init;
mod json;
mod mutate;
mod packages;
mod pages;
#[cfg(target_os = "linux")]
mod record;
#[cfg(target_os = "linux")]
mod recorded;
mod repair;
mod report;
mod saved;
mod schema;
#[cfg(unix)]
mod solver;
mod support;
mod surroundings;
mod weft_toml;
