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
//! `config` reads `weft.toml`, `name` demangles kernel names, `discover` finds PTX files, `signature` finds the names of
//! arguments in the source, `case` turns kernels and launches into test cases, `render` prints reports.

mod bounded;
pub mod case;
pub mod config;
pub mod discover;
pub mod render;
mod run;
pub mod signature;
mod similar;

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
            )
        }
    };
}
