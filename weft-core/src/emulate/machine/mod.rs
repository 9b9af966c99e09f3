//! A machine that runs the ctas of a group, a warp at a time, in the sort order of its blocks.
//!
//! - [`state`] is what the machine is made of, [`warp`] one warp of it. [`scheduler`] decides which warp runs, [`run`] runs
//!   warps until all have ended, [`stop`] is why it stops before. [`step`] runs one instruction, [`operand`] gives operands.
//! - Accesses: [`access`] finds the state space of each lane ([`piece`]) and whether the access is in bounds ([`bounds`],
//!   [`fit`], [`needs`]); [`contents`], [`atomic`], [`forgotten`] and [`unwritten`] are what it reads and leaves; [`emit`]
//!   emits it, with its [`memory_order`]. [`event`] lists all that is emitted.
//! - Synchronization: [`wait`] is where lanes wait, [`warp_sync`] what releases them, [`exchange`] what they exchange.
//!   Barrier divergence: [`divergence`] with [`loop_counters`], [`bypass`] with [`partings`].
//! - Open conditions: [`sides`] runs both sides of a branch as [`may_execute`].
//! - Loops with an open trip count: [`induction`] proves them from a general state ([`open_loop`], [`carried`]),
//!   [`counted`] asks whether they end, [`handed`] and [`draws`] follow the counter values that iterations hand on.

mod access;
mod atomic;
mod bounds;
mod bypass;
mod carried;
mod contents;
mod counted;
mod divergence;
mod draws;
mod emit;
pub(crate) mod event;
pub(crate) mod exchange;
mod fit;
mod forgotten;
mod handed;
mod induction;
mod loop_counters;
mod may_execute;
pub(crate) mod memory_order;
mod needs;
mod open_loop;
mod operand;
mod partings;
mod piece;
pub(crate) mod run;
mod scheduler;
mod sides;
pub(crate) mod state;
mod step;
pub(crate) mod stop;
mod unwritten;
mod wait;
mod warp;
mod warp_sync;
