//! What warps wait at: the barriers of a cta.

pub(crate) mod barrier;
