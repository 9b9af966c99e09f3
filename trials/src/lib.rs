//! Inputs that try the checker's robustness: extreme ones, mutated ones, random ones. What is asserted of all of them
//! is that the checker neither panics nor hangs, and that its memory stays bounded; verdicts are tried elsewhere.
//!
//! `extreme` are texts that are huge, deep or absurd; `target` are the functions that are tried, for libFuzzer (`fuzz/`
//! beside the workspace) and for the tests here alike; `kernel` makes random kernels of bytes; `mutation` changes saved
//! inputs; `corpus` finds these.

pub mod corpus;
pub mod dice;
pub mod extreme;
pub mod kernel;
pub mod mutation;
pub mod target;
