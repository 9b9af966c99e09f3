//! What the tests of the checker share, and no user needs: `files` lists the fixtures, `language` reads the comments in which
//! they state what must be found, `snapshot` compares texts with saved ones.

pub mod files;
pub mod language;
pub mod snapshot;

/// The example of the checker's README is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../weft-core/README.md")]
struct CoreReadme;

/// Likewise.
#[cfg(doctest)]
#[doc = include_str!("../../harness/README.md")]
struct HarnessReadme;
