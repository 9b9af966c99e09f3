//! Finds races from accesses and their order, in two passes.
//!
//! The deciding pass keeps a shadow of each accessed byte: the last accesses that later ones might race with. An access
//! that happens before a later one which covers it is dropped: whatever conflicts with it conflicts as much with the
//! later one, so for each byte it is exact whether a race exists. The explaining pass keeps all accesses of the
//! bytes found to race, and records every racing pair of instructions.
//!
//! Two accesses race if they are of different threads, or one is a copy in flight, and they overlap in a byte, at least one writes, nothing orders them, and
//! they are not both atomic with one size and scopes that include each other. If no race is found, no two accesses at known addresses race; accesses at open addresses are
//! reported separately.
//!
//! - `rows` cuts an access into what its lanes access in each page; `pages` keeps something for each page.
//! - `copies`: asynchronous copies in flight, which conflict with all other accesses.
//! - Deciding: `shadow` within a cta, `ctas` between ctas, `open` for accesses at open addresses with its `entry`,
//!   where it is also said when two accesses conflict.
//! - Explaining: `history` within a cta, `cta_history` between ctas, `pairs` of racing instructions, what racing
//!   stores leave (`stored`), and which accesses threads might order through memory (`hand_over`).

mod copies;
mod cta_history;
mod ctas;
mod entry;
mod hand_over;
mod history;
mod open;
mod pages;
mod pairs;
#[cfg(test)]
mod random;

mod rows;
mod shadow;
mod stored;

pub use copies::{CopiesInFlight, CopyInFlight, CopyMeeting};
pub use cta_history::{LaunchHistory, PerhapsOrdered};
pub use ctas::{Footprint, LaunchShadow};
pub use entry::{Conflict, conflict};
pub use hand_over::HandOvers;
pub use history::{CtaHistory, Watched};
pub use open::OpenAccesses;
pub use pairs::{Example, MAX_PAIRS, Pair, Pairs, RacingAccess};
pub use rows::KnownRows;
pub use shadow::{Shadow, Unwritten};
