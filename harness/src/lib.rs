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

mod bounded;
mod check;
mod run;

// The subcommand `cargo weft` shares these parts with this library. They are no part of its interface and can change in every
// release: `config` reads `weft.toml`, `name` demangles kernel names, `signature` finds the names of their arguments,
// `discover` finds PTX files, `case` turns kernels and launches into test cases, `cache` keeps verdicts between runs,
// `record` reads the launches that a program made,
// `saved` reads what build scripts say of PTX that they did not compile,
// `render` reads the sources that reports quote, `similar` finds the right name that is nearest to a wrong one.
#[doc(hidden)]
pub mod cache;
#[doc(hidden)]
pub mod case;
#[doc(hidden)]
pub mod config;
#[doc(hidden)]
pub mod discover;
#[doc(hidden)]
pub mod record;
#[doc(hidden)]
pub mod render;
#[doc(hidden)]
pub mod saved;
#[doc(hidden)]
pub mod signature;
#[doc(hidden)]
pub mod similar;
#[doc(hidden)]
pub use weft_core::finding::name;

pub use check::{CheckFailure, CheckedKernel, check};
#[doc(hidden)]
pub use run::main;

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
