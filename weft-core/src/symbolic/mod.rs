//! Proofs for every input and every launch, by the two-thread reduction of `GPUVerify` (OOPSLA'12): what one arbitrary thread
//! does is written as bit-vector expressions, and two copies of that thread are compared.

mod atom;
mod base;
mod constant;
mod division;
mod expr;
mod intervals;
mod invariants;
mod launched;
mod lift;
mod loops;
mod memory;
mod poly;
mod proof;
mod required;
#[allow(dead_code, unused_imports, reason = "asked in tests only")]
mod solver;
mod state;
mod system;
mod thread;
mod variance;
mod view;

pub(crate) use launched::StatedSizes;
pub(crate) use proof::{Gap, Proof, prove};
