//! A fixed selection of the trials.

mod extremes;
mod mutations;
mod properties;
