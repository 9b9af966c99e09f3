//! Proofs for every input and every launch, by the two-thread reduction of `GPUVerify` (OOPSLA'12): what one arbitrary thread
//! does is written as bit-vector expressions, and two copies of that thread are compared.

mod assumption;
mod atom;
mod base;
mod binary_operator;
mod candidate;
mod carried;
mod choice;
mod combination;
mod compared;
mod compiled_division;
mod constant;
mod copies;
mod counterexample;
mod critical_sections;
mod division;
mod draws;
mod early_exits;
mod edges;
mod expr;
mod fitted;
mod flips;
mod intervals;
mod invariants;
mod iteration_fact;
mod launched;
mod lift;
mod linear_program;
mod locks;
mod loop_facts;
mod loops;
mod meetings;
mod memory;
mod number_use;
mod ordinary;
mod ordinary_loop;
mod ordinary_range;
mod outcome;
mod overlap;
mod padded;
mod pair_query;
mod passed_loops;
mod poly;
mod positive;
mod predicate;
mod proof;
mod proof_budget;
mod proof_scope;
mod refutation;
mod required;
mod required_bits;
mod result_source;
mod solver;
#[cfg(test)]
mod split_mix;
mod state;
mod system;
#[cfg(test)]
mod system_laws;
mod thread;
mod trips;
mod turns;
mod unrolled;
mod var_bounds;
mod variance;
mod view;
mod warp_value;
mod warp_values;

use std::collections::BTreeSet;

use crate::flow::Program;

pub(crate) use assumption::ArithmeticAssumption;
pub(crate) use candidate::CandidateLaunch;
pub(crate) use launched::StatedSizes;
pub(crate) use locks::{has_global_lock, has_lock};
pub(crate) use outcome::{Gap, Proof, Unproved};
pub(crate) use proof::{ProofTask, prove};
pub(crate) use proof_budget::ProofBudget;
pub(crate) use proof_scope::ProofScope;
pub use solver::SmtSolver;

/// Returns the positions of the parameters through which a program might write memory; `None` if it might write any global memory.
/// What it
/// writes through a parameter is taken to lie in the buffer that the parameter points into.
pub(crate) fn written_parameters(program: &Program) -> Option<BTreeSet<usize>> {
    constant::ConstantMemory::of(program).written_parameters(program)
}
