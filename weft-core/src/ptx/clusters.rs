//! What a kernel states of clusters (PTX ISA §11.7).

/// The directives of a kernel about the ctas of a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClusterDirectives {
    /// `.reqnctapercluster`: the ctas in each dimension.
    pub required: Option<[u32; 3]>,
    /// `.maxclusterrank`: the most ctas.
    pub most: Option<u32>,
    /// `.explicitcluster`: the launch states clusters.
    pub is_explicit: bool,
}
