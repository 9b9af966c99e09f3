//! Inputs that test the robustness of the checker: extreme, mutated and random ones. The checker must neither panic nor
//! hang on them, and its memory must stay bounded; the verdicts are not tested here.
//!
//! `extreme` generates texts that are huge, deep or absurd. `target` has the functions under test, for libFuzzer
//! (`fuzz/` beside the workspace) and for the tests here. `kernel` generates random kernels from bytes, `mutation`
//! changes saved inputs, `corpus` finds the saved inputs.

pub mod corpus;
pub mod dice;
pub mod extreme;
pub mod kernel;
pub mod mutation;
pub mod target;
