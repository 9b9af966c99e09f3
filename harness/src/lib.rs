//! Checks the GPU kernels of a crate in its own test suite.
//!
//! In `Cargo.toml`:
//!
//! ```toml
//! [[test]]
//! name = "weft"
//! harness = false
//! ```
//!
//! and in `tests/weft.rs`:
//!
//! ```no_run
//! weft_harness::main!();
//! ```
//!
//! PTX that a program generates, or compiles while it runs, is checked by [`check()`] in an ordinary test.
//!
//! `config` reads `weft.toml`, `name` demangles kernel names, `signature` finds the names of their arguments, `discover`
//! finds PTX files, `case` turns kernels and launches into test cases, `cache` keeps verdicts between runs, `render`
//! reads the sources that reports quote.
//!
//! A program of its own can use these parts, for example to read a configuration:
//!
//! ```
//! use std::path::Path;
//! use weft_harness::config::Config;
//!
//! let text = "[[kernel]]\nname = '^saxpy$'\nblock = 128\n";
//! assert!(Config::parse(text, Path::new("weft.toml")).is_ok());
//!
//! let mistake = Config::parse("[[kernel]]\nnam = '^saxpy$'\n", Path::new("weft.toml"));
//! assert!(mistake.unwrap_err().to_string().contains("nam"));
//! ```

mod bounded;
pub mod cache;
pub mod case;
mod check;
pub mod config;
pub mod discover;
pub mod render;
mod run;
pub mod signature;
pub mod similar;

pub use check::{CheckFailure, check};
pub use run::main;
pub use weft_core::finding::name;

/// Expands to the whole of a `tests/weft.rs` with `harness = false`: checks the PTX that the package's build script
/// wrote and that its `weft.toml` names.
#[macro_export]
macro_rules! main {
    () => {
        fn main() -> ::std::process::ExitCode {
            $crate::main(
                ::std::env!("CARGO_MANIFEST_DIR"),
                ::std::env!("CARGO_PKG_NAME"),
                ::std::option_env!("OUT_DIR"),
                ::std::option_env!("CARGO_TARGET_TMPDIR"),
            )
        }
    };
}
