//! What to repair, and how placements are checked.

use super::costs::Costs;
use crate::explain::doubts::says_too_long;
use crate::finding::Report;
use crate::ptx::Module;

/// What a repair is to do with the barriers of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// Make the kernel clean with the cheapest barriers beside those that it has.
    Insert,
    /// Find the cheapest barriers with which the kernel is clean, whether it has them or not.
    Minimize,
}

/// Which threads have to reach a barrier together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uniformity {
    /// All threads of the cta, as CUDA asks of `__syncthreads`.
    Cta,
    /// Those that the launch says.
    Launch,
}

/// How far a check goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckDepth {
    /// To the first input with a defect.
    FirstDefect,
    /// Until all inputs are examined.
    Whole,
}

/// What to repair.
#[derive(Clone, Copy)]
pub struct RepairRequest<'m> {
    /// The module.
    pub module: &'m Module,
    /// The name of the kernel in the PTX.
    pub kernel: &'m str,
    /// What can change.
    pub aim: Aim,
    /// What a barrier costs.
    pub costs: Costs,
    /// The most placements to check.
    pub most_checks: usize,
    /// Whether the author can change a file, which the compiler calls by this name. Instructions of one line of such a file
    /// get a barrier together: loops are unrolled and functions inlined.
    pub is_source: &'m dyn Fn(&str) -> bool,
}

/// Checks a changed module: returns the reports about it, one for each launch.
pub type RepairCheck<'c, E> =
    dyn FnMut(&Module, Uniformity, CheckDepth) -> Result<Vec<Report>, E> + 'c;

/// Checks placements, and counts them.
pub(super) struct Oracle<'c, E> {
    check: &'c mut RepairCheck<'c, E>,
    pub(super) checks: usize,
    /// The checks that reached the limit of instructions.
    endless: usize,
    most: usize,
}

/// Most checks that reach the limit of instructions: each takes seconds, and tells little.
const MOST_ENDLESS: usize = 3;

impl<'c, E> Oracle<'c, E> {
    pub(super) fn new(check: &'c mut RepairCheck<'c, E>, most: usize) -> Self {
        Self { check, checks: 0, endless: 0, most }
    }

    /// Returns the reports about a changed module.
    pub(super) fn reports(
        &mut self,
        module: &Module,
        uniformity: Uniformity,
        depth: CheckDepth,
    ) -> Result<Vec<Report>, E> {
        self.checks += 1;
        let reports = (self.check)(module, uniformity, depth)?;
        let is_endless = reports.iter().flat_map(|report| &report.findings).any(says_too_long);
        self.endless += usize::from(is_endless);
        Ok(reports)
    }

    pub(super) fn is_spent(&self) -> bool {
        self.checks >= self.most || self.is_endless()
    }

    /// Whether several checks reached the limit of instructions.
    pub(super) const fn is_endless(&self) -> bool {
        self.endless >= MOST_ENDLESS
    }
}
