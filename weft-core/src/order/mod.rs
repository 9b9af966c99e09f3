//! Turns events into happens-before while they are emitted: the paper's relation R by vector clocks, and the recycling
//! check (PLDI'15 §4, Fig. 4).
//!
//! All lanes of a warp arrive at every cta barrier together, so what one warp knows of another is one number: the
//! other's last arrival that happens before. Lanes of one warp are also ordered by warp synchronization, which has
//! numbers of its own. A warp that arrives without waiting passes on what it knows and learns nothing.
//!
//! If nothing is emitted, then in all generations so far each participant was ordered after the completion of the
//! generation before. Order never influences the run.

mod clock;
mod recycling;

pub use clock::{Epoch, Order};
pub use recycling::Recycling;
