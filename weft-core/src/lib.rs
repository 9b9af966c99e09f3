//! Proves or refutes barrier safety and data-race freedom of GPU kernels, from their PTX, for a stated launch.
//!
//! Text and launch in, [`finding::Report`] out; no I/O, no environment, no clock. The stages are modules in pipeline
//! order, and each imports only earlier ones:
//!
//! `ptx` text to tree; `flow` tree to program; `slice` what has to run; `emulate` program and launch to events;
//! `order` events to happens-before; `race` accesses and order to races; `finding` what can be said; `explain` says
//! it of what was found; `check` wires them;
//! `mutate` weakens a clean kernel's synchronization, so that what is left over can be told.

mod check;
pub mod emulate;
mod explain;
pub mod finding;
pub mod flow;
pub mod launch;
pub mod mutate;
pub mod order;
pub mod ptx;
pub mod race;
pub mod report;
pub mod slice;

pub use check::{CheckError, check, check_placed, link};
