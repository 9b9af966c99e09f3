//! cuBLAS, cuBLASLt and cuRAND: what frameworks call beside the driver. Programs find them under the names of these libraries, in the
//! same file as the driver, so that all share one device.
//!
//! Handles, streams, modes and descriptors are as the manuals say. What a call would compute is unknown afterwards: the memory
//! that it writes, by exact ranges where the parameters tell them. Sizes that a library refuses are refused with its error, and results
//! beyond the end of an allocation too, where the device would fail. Functions that are not here are not in the file: a program that
//! looks for one by its name is told that there is none.
//!
//! Sources: the manuals of cuBLAS and cuRAND 13.0 (functions, error codes, which sizes are refused).

mod codes;
mod elements;
#[macro_use]
mod table;
mod checks;
mod own;

mod arrays;
mod batches;
mod blas;
mod descriptors;
mod extended;
mod factors;
mod light;
mod matrices;
mod random;
mod rows;
mod transfers;
mod vectors;
