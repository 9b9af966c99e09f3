//! Texts and launches through the library, from reading to the report. One binary: each that links the checker takes tens
//! of megabytes.

mod arguments;
mod assumptions;
mod call_trees;
mod grids;
mod instructions;
mod mutants;
mod reader;
