//! Self-test by mutation: a clean kernel with its synchronization weakened in one place at a time.
//!
//! Takes a module, a kernel and its report; gives the mutants, each the text of one instruction in another's place.
//! Checking a mutant must find something. Where it does not, either the kernel has synchronization that this launch
//! does not need, or the checker has a hole. What is weakened: each cta barrier (deleted; an arrival where it waits and
//! has a count; a warp less in its count; without a count), each warp barrier (deleted; each half of its mask by itself)
//! and each atomic (a load and a store).
//!
//! A mutant is valid PTX. The result of a deleted reduction is open, so that nothing is made of its value.
//!
//! Not weakened: instructions that no thread reaches, atomics of vectors and of 16 bytes, atomics where the launch takes
//! them for plain accesses already, fences, and whatever the checker does not model.

mod asm;
mod atomic;
mod barrier;
mod change;
mod mutant;
mod warp;

pub use change::Weakening;
pub use mutant::{Mutant, Mutants, mutants};
