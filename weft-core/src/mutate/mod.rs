//! Self-test by mutation: weakens the synchronization of a clean kernel in one place at a time.
//!
//! A mutant replaces the text of one instruction; mutants are made from a module, a kernel and its report. Checking a
//! mutant should find something. If it does not, either the kernel has synchronization that this launch does not need,
//! or the checker has a hole. These are weakened:
//!
//! - each cta barrier (deleted; an arrival if it waits and has a count; one warp less in its count; without a count), and each
//!   warp barrier (deleted; the two halves of its mask separately);
//! - each barrier of a cluster (deleted with all its arrivals and waits; the last wait deleted; `.relaxed` arrivals);
//! - each mbarrier (one less in its count), each arrival (deleted; `.relaxed`; with the scope of the cta), the bytes that a phase
//!   expects (16 fewer; none), and each wait for a phase (it passes at once; it is for the other parity; `.relaxed`; with the
//!   scope of the cta);
//! - each group of asynchronous copies or of products (deleted, so that they belong to the next one), each wait for groups
//!   (deleted; one group more in flight; only until sources are read), and what makes copies arrive at an mbarrier;
//! - each fence between the proxies (deleted), and each fence of memory or of initializations, if a `.relaxed` arrival at the
//!   barrier of the cluster or an atomic can hand on what it orders (deleted; with the scope of the cta);
//! - each atomic (a load and a store).
//!
//! A mutant is valid PTX. Results of deleted reductions and arrivals are open, so that nothing is concluded from their values.
//!
//! These are not weakened: instructions that no thread reaches, atomics of vectors and of 16 bytes, atomics if the
//! launch already takes them for plain accesses, groups of products that registers might need, fences of memory that order nothing
//! for the checker, and whatever it does not model.

mod asm;
mod atomic;
mod barrier;
mod change;
mod cluster;
mod context;
mod copies;
mod fence;
mod mbarrier;
mod mutant;
mod paths;
mod products;
mod warp;

pub use change::Weakening;
pub use mutant::{Mutant, Mutants, mutants};
