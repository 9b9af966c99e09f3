//! Turns events into happens-before while they are emitted: the paper's relation R by vector clocks, and the recycling
//! check (PLDI'15 §4, Fig. 4).
//!
//! A clock knows of each thread an epoch of its warp. Lanes of a warp that know the same share a clock, and a clock
//! holds one number for a warp whose lanes need no numbers of their own: so between cta barriers and synchronizations of
//! whole warps, a warp knows one number of each other warp. A warp that arrives without waiting passes on what it knows
//! and learns nothing.
//!
//! At an mbarrier object single lanes arrive and wait: what they release goes to a clock of the current phase, which
//! those learn that see the phase complete.
//!
//! If nothing is emitted, then in all generations so far each participant was ordered after the completion of the
//! generation before. Order never influences the run.

mod clock;
mod lane_copies;
mod lane_groups;
mod peers;
mod phases;
mod publication;
mod recycling;
mod relation;

pub use clock::Epoch;
pub use peers::{Absence, PeerAccesses, PeerFault};
pub use phases::{PhaseDoubt, PhaseIssue};
pub use recycling::Recycling;
pub use relation::{Order, SignalTag};
