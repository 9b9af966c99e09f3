//! What warps synchronize at and which ctas they belong to: the barriers and mbarrier objects of a cta, its registers, and
//! groups of ctas.

pub(crate) mod barrier;
pub(crate) mod group;
pub(crate) mod mbarrier;
pub(crate) mod registers;
