//! Tests of the documentation: consoles are run and their output compared, configurations parse, files that pages show are
//! those that the crates are built from, and links lead somewhere.

#[cfg(unix)]
mod consoles;
mod examples;
mod links;
mod page;
#[cfg(unix)]
mod scratch;
