//! What warps synchronize at and which ctas they belong to: the barriers of a cta, and groups of ctas.

pub(crate) mod barrier;
pub(crate) mod group;
