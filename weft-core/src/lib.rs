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
//!
//! # Example
//!
//! Every thread stores its index to the same word, so that the threads race:
//!
//! ```
//! use weft_core::finding::{Code, Verdict};
//! use weft_core::launch::{Dim3, Launch};
//!
//! let module = weft_core::ptx::parse(
//!     ".version 8.0
//!      .target sm_80
//!      .address_size 64
//!      .visible .entry last() {
//!          .shared .align 4 .u32 word;
//!          .reg .u32 %r<2>;
//!          mov.u32        %r0, %tid.x;
//!          st.shared.u32  [word], %r0;
//!          ret;
//!      }",
//! );
//! let kernel = module.kernel("last").expect("it stands in the text");
//! let launch = Launch { block: Some(Dim3::line(64).into()), ..Launch::default() };
//! let report = weft_core::check(&module, kernel, &launch)?;
//! assert_eq!(report.verdict(), Verdict::Defect);
//! assert_eq!(report.findings[0].code, Code::SharedRace);
//! # Ok::<(), weft_core::CheckError>(())
//! ```

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
    check_with, known_block, link, prove_every_input, watches_memory, written_parameters,
};
pub use symbolic::SmtSolver;
