//! Self-test by mutation: weakens the synchronization of a clean kernel in one place at a time.
//!
//! A mutant replaces the text of one instruction; mutants are made from a module, a kernel and its report. Checking a
//! mutant should find something. If it does not, either the kernel has synchronization that this launch does not need,
//! or the checker has a hole. These are weakened: each cta barrier (deleted; an arrival if it waits and has a count;
//! one warp less in its count; without a count), each warp barrier (deleted; the two halves of its mask separately), each
//! atomic (a load and a store), each wait for asynchronous copies (deleted; one group more in flight) and each group of
//! them (deleted, so that the copies belong to the next one).
//!
//! A mutant is valid PTX. The result of a deleted reduction is open, so that nothing is concluded from its value.
//!
//! These are not weakened: instructions that no thread reaches, atomics of vectors and of 16 bytes, atomics if the
//! launch already takes them for plain accesses, fences, and whatever the checker does not model.

mod asm;
mod atomic;
mod barrier;
mod change;
mod copies;
mod mutant;
mod warp;

pub use change::Weakening;
pub use mutant::{Mutant, Mutants, mutants};
