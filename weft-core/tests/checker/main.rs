//! Tests of the library from PTX text and launch to report. They are one binary, because each binary that links the
//! checker takes tens of megabytes.

mod advice;
mod arguments;
mod assumptions;
mod asynchronous_mutants;
mod bit_proofs;
mod buffers;
mod call_trees;
mod grids;
mod instructions;
mod matrices;
mod mutants;
mod products;
mod reader;
mod requirements;
mod tensors;
mod unstated;
