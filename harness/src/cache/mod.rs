//! Keeps verdicts between runs, in the folder `weft` of the workspace's target directory.
//!
//! The kept report contains all findings, before any `allow`. A kernel that could not be checked has no entry. An entry
//! is found by the hash of everything that the report depends on, and used only if its checksum matches; otherwise the
//! kernel is checked again and the entry replaced.

mod folder;
mod key;
mod verdicts;

pub use verdicts::{Cache, CacheError};
