//! The special registers that the program reads.

/// A special register or a value that only the hardware knows (PTX ISA §10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the manual's; dimensions count from 0")]
pub enum Special {
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    Laneid,
    LanemaskEq,
    LanemaskLe,
    LanemaskLt,
    LanemaskGe,
    LanemaskGt,
    DynamicSharedSize,
    /// Of clusters of several ctas: the place of the cta in its cluster, by dimension.
    ClusterCtaid(u8),
    /// Its linear index there.
    ClusterCtarank,
    /// The peer address of the start of the shared memory of the cta with the even rank of its pair.
    PairLeader,
    Clusterid(u8),
    Nclusterid(u8),
    /// A clock, an SM number, a warp's slot in the SM or an environment register: open.
    Other,
}
