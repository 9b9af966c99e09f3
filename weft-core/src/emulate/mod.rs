//! A program and a launch to events: a machine that runs one cta, a warp at a time, in the sort order of its blocks.
//!
//! Only what the slice kept runs. Accesses, arrivals and completions go to an [`Events`] as they happen; nothing is
//! recorded here. A warp stops where it cannot go on without guessing; the others go on, and the machine says why.

mod access;
mod anchor;
mod arguments;
mod atomic;
mod barrier;
mod bounds;
mod bypass;
pub(crate) mod bytes;
mod carried;
mod contention;
mod contents;
mod counted;
mod divergence;
mod draw_order;
mod event;
mod exchange;
mod facts;
mod fit;
mod guard;
mod handed;
mod inherited;
mod inputs;
#[cfg(test)]
mod law;
mod machine;
mod maybe;
mod memory;
mod number;
mod offsets;
mod operand;
mod ops;
mod origin;
mod passed_on;
mod reach;
mod rendezvous;
mod rounds;
mod split;
mod step;
mod support;
mod tell;
mod term;
mod ticket;
mod turns;
mod value;
mod warp;

pub use anchor::{Root, anchor_of};
pub use barrier::{Barriers, Misuse, Need, Use};
pub use contention::Loaded;
pub use event::{
    Access, Arrival, BarrierExit, Divergence, Doubt, DoubtKind, End, Events, Fault, FaultKind,
    Kind, OpenAccess, Side, Stuck,
};
pub use facts::{Assumed, Facts, Told};
pub use inputs::{Cta, InputError, Inputs, is_sized, pointers};
pub use machine::{MAX_REGISTERS, Run, run};
pub(crate) use offsets::Offsets;
pub use origin::{Origin, Region};
pub use rounds::Round;
pub use split::{Choice, Splits};
pub use support::{Support, Supported, support_of_form, support_table};
pub use term::{Symbolics, TermId};
pub use ticket::{Drawn, Queue};
pub use value::{LaneMask, Value, WARP, lanes};
