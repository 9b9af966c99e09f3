//! The barriers of a repair.

/// The barriers that can stand at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BarrierKind {
    /// `bar.sync 0`, which all threads of the cta wait at.
    Cta,
    /// `bar.warp.sync 0xffffffff`, which the lanes of a warp wait at.
    Warp,
}

impl BarrierKind {
    /// The instruction in PTX.
    pub const fn ptx(self) -> &'static str {
        match self {
            Self::Cta => "bar.sync 0;",
            Self::Warp => "bar.warp.sync 0xffffffff;",
        }
    }
}
