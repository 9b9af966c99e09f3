//! Events to happens-before, online: the paper's relation R by clocks, and the recycling check (PLDI'15 §4, Fig. 4).
//!
//! All lanes of a warp come to every cta barrier together, so what one warp knows of another is one number: the last of
//! the other's arrivals that happens before. Lanes of one warp are also ordered by warp-level synchronization, which
//! has numbers of its own. An arrive gives what its warp knows and learns nothing.
//!
//! Silence means: of the generations seen so far each participant was ordered after the completion of the generation
//! before. Order never influences the run.

mod clock;
mod recycling;

pub use clock::{Epoch, Order};
pub use recycling::Recycling;
