//! Finds races from accesses and their order, in two passes.
//!
//! The deciding pass keeps a shadow of each accessed byte: the last accesses that later ones might race with. An access
//! that happens before a later one of at least the same strength is dropped: whatever races with it races with the
//! later one too, so for each byte it is exact whether a race exists. The explaining pass keeps all accesses of the
//! bytes found to race, and records every racing pair of instructions.
//!
//! Two accesses race if they are of different threads, overlap in a byte, at least one writes, not both are atomic, and
//! nothing orders them. If no race is found, no two accesses at known addresses race; accesses at open addresses are
//! reported separately.

mod cta_history;
mod ctas;
mod entry;
mod history;
mod open;
mod pages;
mod pairs;
#[cfg(test)]
mod random;

mod rows;
mod shadow;
mod stored;

pub use cta_history::CtaHistory;
pub use ctas::{Ctas, Footprint};
pub use entry::{Conflict, conflict};
pub use history::{History, Watched};
pub use open::OpenAccesses;
pub use pairs::{Example, MAX_PAIRS, Pair, Pairs, RacingAccess};
pub use rows::KnownRows;
pub use shadow::{Shadow, Unwritten};
