//! What warps synchronize at and which ctas they belong to: the barriers and mbarrier objects of a cta, its registers, and
//! the ctas of a cluster.

pub(crate) mod barrier;
pub(crate) mod columns;
pub(crate) mod group;
pub(crate) mod mbarrier;
pub(crate) mod registers;
