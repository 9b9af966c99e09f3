//! Proves or refutes barrier safety and data-race freedom of GPU kernels, from their PTX, for a stated launch.
//!
//! The checker takes text and a launch and returns a [`finding::Report`]; it does no I/O and reads neither environment
//! nor clock. The stages are modules in pipeline order, and each imports only earlier ones:
//!
//! `ptx` parses text to a tree; `flow` builds a program from the tree; `slice` finds what has to run; `emulate` turns
//! program and launch into events; `order` turns events into happens-before; `race` finds races from accesses and their
//! order; `symbolic` proves a kernel for every input without running it; `finding` defines what a report can say;
//! `explain` puts what was found into words; `check` runs the stages; `mutate` weakens a clean kernel's synchronization,
//! which shows what of the synchronization is superfluous; `repair` finds the cheapest barriers that make a kernel clean;
//! `chart` draws up what a run of a kernel does at its barriers.

mod chart;
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
pub mod repair;
pub mod report;
pub mod slice;
mod symbolic;

pub use chart::{ChartError, ChartedKernel};
pub use check::{
    BlockSource, CheckError, KnownBlock, RequirementMisfit, applied, check, check_placed,
    check_with, known_block, link, prove_every_input,
};
pub use symbolic::SmtSolver;
