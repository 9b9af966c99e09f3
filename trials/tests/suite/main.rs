//! A share of the trials, the same ones each time.

mod extremes;
mod mutations;
mod properties;
