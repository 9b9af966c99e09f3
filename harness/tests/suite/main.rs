//! Tests of the library: from `weft.toml` and the files of a package to its test cases.

mod buffers;
mod cases;
mod config;
mod memory;
mod record;
mod saved;
mod signature;
