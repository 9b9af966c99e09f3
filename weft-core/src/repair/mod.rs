//! Repair: the cheapest barriers that make a kernel clean (Anand, Polikarpova: `AutoSync`, FMCAD 2018).
//!
//! A kernel is cut into segments between the accesses that race (`points`): a barrier has the same effect wherever it
//! stands in a segment, so there is one *point* for each. Every barrier has a *cost* by the loops and conditions around
//! it (`costs`). A racing pair of accesses shows which points could separate the two (`cuts`): of these, a clean
//! placement has at least one. The cheapest placement with a barrier in every such set is found by a SAT solver
//! (`hitting`) and checked (`placement_report`); what still races gives further sets (`search`).
//!
//! A clean placement is in the PTX. Its places in the source follow from the lines of the accesses that it separates
//! (`locate`). The copies of one place get a barrier together (`groups`): those in an unrolled loop have the same accesses next
//! to them at their level of nesting (`levels`, `slot`).
//!
//! The cost is the least if a barrier more never adds a race, which holds of barriers that all threads of a cta reach.
//! Points whose barrier the check finds fault with are left out. A barrier more can leave a question open, though, so that an
//! open placement excludes only itself, and cheaper ones that are known not to be clean.

mod advice;
mod copies;
mod costs;
mod counterexamples;
mod cuts;
mod dominator_tree;
mod existing;
mod faults;
mod frames;
mod groups;
mod hitting;
mod kernel;
mod kind;
mod level_entry;
mod levels;
mod locate;
mod mend;
mod moves;
mod outcome;
mod patch;
mod placement_report;
mod points;
mod request;
mod search;
mod search_end;
mod slot;
mod source_place;
mod space;
mod statements;

pub use copies::SourceCopies;
pub use costs::{Cost, Costs};
pub use counterexamples::Counterexamples;
pub use existing::{Barrier, barriers};
pub use kernel::{cost, repair};
pub use kind::BarrierKind;
pub use outcome::{Action, Change, KernelRepair, Mend, Obstacle, RepairOutcome, Side};
pub use patch::{Edit, edited};
pub use request::{Aim, CheckDepth, RepairCheck, RepairRequest, Uniformity};
pub use source_place::{BetweenLines, IterationPlace, SourcePlace};
