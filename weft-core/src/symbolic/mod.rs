//! Proofs for every input and every launch, by the two-thread reduction of `GPUVerify` (OOPSLA'12): what one arbitrary thread
//! does is written as bit-vector expressions, and two copies of that thread are compared.

#![allow(
    dead_code,
    unused_imports,
    reason = "the proofs that use it are not part of the library yet"
)]

mod atom;
mod expr;
mod solver;
