//! Code that several tests of the checker share and users do not need: `files` lists the fixtures, `language` parses
//! the comments in which fixtures state the expected findings, `snapshot` compares texts with saved ones.

pub mod files;
pub mod language;
pub mod snapshot;

/// Compiles and runs the example in the checker's README.
#[cfg(doctest)]
#[doc = include_str!("../../weft-core/README.md")]
struct CoreReadme;

/// Compiles the example in the README of `weft-harness`.
#[cfg(doctest)]
#[doc = include_str!("../../harness/README.md")]
struct HarnessReadme;
