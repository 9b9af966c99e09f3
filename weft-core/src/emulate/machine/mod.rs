//! The machine runs the ctas of a cluster. One warp runs at a time, and runs its blocks in their sort order.
//!
//! - [`state`] holds the state of the machine, [`warp`] that of one warp. [`scheduler`] decides which warp runs next,
//!   [`run`] runs warps until all have ended, [`stop`] says why a run stops earlier. [`step`] runs a block, [`operand`]
//!   evaluates operands.
//! - Accesses: [`access`] splits an access by state space ([`piece`]); [`faults`], [`fit`] and [`needs`] check that it
//!   is in bounds and aligned; [`contents`], [`atomic`], [`forgotten`] and [`unwritten`] determine what it reads and
//!   what it leaves in memory; [`emit`] emits it, with its [`memory_order`]. [`event`] lists all events.
//!   [`bulk`] runs bulk copies, [`tensor`] those of tensors, whose sizes [`boxes`] finds out, and [`wgmma`] products of
//!   matrices: [`agents`] do their accesses.
//! - Synchronization: [`wait`] makes lanes wait, [`warp_sync`] releases them, [`exchange`] computes the values that
//!   they exchange, [`lane_groups`] where it is not known which lanes are together. [`mbarriers`] runs mbarrier objects, at which lanes wait if their wait is a [`spin`]; a test that only
//!   decides whether a wait is left out is one of the [`peeks`], which fail ([`peeking`]); [`phase_state`] holds what is
//!   known of all these. [`following`] makes asynchronous copies arrive at objects, and [`object_checks`] checks
//!   what might reach objects otherwise. [`cluster`] tells apart the memory of the ctas of a cluster and runs its barrier,
//!   [`registers`] changes of the number of registers, for which warps can wait. Barrier
//!   divergence: [`divergence`] with [`divergence_state`], [`bypass`] with [`partings`].
//! - Open conditions: [`sides`] runs both sides of a branch, each as [`may_execute`].
//! - Loops with an open trip count: [`induction`] proves them from a general state ([`open_loop`], [`carried`]),
//!   [`counted`] decides whether they count to a bound, [`handed`] and [`draws`] follow the counter values that
//!   iterations pass on to later ones.

mod access;
mod agents;
mod asking;
mod atomic;
mod awaiting;
mod boxes;
mod bulk;
mod bypass;
mod carried;
mod cluster;
mod contents;
mod copies;
pub(crate) mod copy_event;
mod copying;
mod counted;
mod divergence;
mod divergence_state;
pub(crate) mod doubt;
mod draws;
mod emit;
pub(crate) mod end;
pub(crate) mod event;
pub(crate) mod exchange;
mod faults;
mod fit;
mod following;
mod forgotten;
mod handed;
mod implied;
mod induction;
mod lane_groups;
mod launch_control;
mod may_execute;
mod mbarriers;
pub(crate) mod memory_order;
mod needs;
mod object_checks;
mod open_loop;
mod operand;
mod partings;
mod peeking;
mod peeks;
mod phase_state;
pub(super) mod piece;
mod registers;
pub(crate) mod run;
mod scheduler;
mod sides;
pub(crate) mod signal_state;
mod signals;
mod spin;
pub(crate) mod state;
mod step;
pub(crate) mod stop;
mod tensor;
mod tensor_core;
pub(super) mod tensor_part;
mod tensor_pool;
mod unwritten;
mod wait;
mod warp;
mod warp_sync;
mod wgmma;
