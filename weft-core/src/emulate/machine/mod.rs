//! A machine that runs one cta, a warp at a time, in the sort order of its blocks.
//!
//! [`state`] is what it is made of, [`run`] decides which warp runs, [`step`] what its next instruction does. Accesses:
//! [`access`] finds the state space of each lane ([`piece`]), [`contents`], [`atomic`], [`forgotten`] and [`unwritten`] what
//! is read and left, [`bounds`], [`fit`] and [`needs`] whether it may, [`tell`] what is emitted. Lanes and warps that wait:
//! [`rendezvous`], [`exchange`], [`divergence`], [`iterations`], [`bypass`] and [`partings`]. Open conditions: [`maybe`] and
//! [`sides`]. Loops with an open trip count: [`in_loop`], [`rounds`], [`counted`], [`carried`], [`handed`] and [`draws`].

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
mod warp;
mod warp_sync;
