//! What warps wait at, and who waits together: the barriers of a cta, and groups of ctas.

pub(crate) mod barrier;
pub(crate) mod group;
