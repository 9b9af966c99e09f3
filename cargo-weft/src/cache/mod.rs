//! Verdicts that are kept from run to run, in the folder `weft` of the workspace's target directory.
//!
//! What is kept is the report, before any `allow`; a kernel that could not be checked is checked again. An entry is
//! found by a hash of all that a report depends on, and believed only if its checksum holds: whatever else lies there is
//! checked anew and replaced.

mod folder;
mod key;
mod verdicts;

pub(crate) use verdicts::{Cache, CacheError};
