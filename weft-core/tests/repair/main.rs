//! The repair of kernels by barriers: the shapes of the paper by Anand and Polikarpova, and random kernels whose placements are all
//! checked.

#![allow(
    clippy::float_cmp,
    reason = "costs are products of powers of 100 and of 0.5, which are exact"
)]

mod claims;
mod copies;
mod inputs;
mod random;
mod shapes;
mod support;
