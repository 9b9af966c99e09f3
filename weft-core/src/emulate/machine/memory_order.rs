//! How accesses and fences order memory: their semantics (PTX ISA §8.4) and their scope (§8.5).

use crate::ptx::isa::{Decoded, Effect, Modifier, Opcode};

/// The semantics of an access or a fence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ordering {
    /// Not strong: a conflict with it is a data race.
    #[default]
    Weak,
    /// Strong, and orders nothing by itself. `.volatile` and `.mmio` are relaxed.
    Relaxed,
    /// Later operations stay behind it.
    Acquire,
    /// Earlier operations stay before it.
    Release,
    /// Acquire and release.
    AcquireRelease,
    /// Acquire and release, in one order for all such fences.
    SequentiallyConsistent,
}

/// The threads that an access or a fence is strong for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemoryScope {
    /// The threads of its cta.
    Cta,
    /// The threads of its cluster.
    Cluster,
    /// All threads of the device.
    #[default]
    Gpu,
    /// All threads of the device and of other devices, and the host.
    System,
}

impl Ordering {
    /// The semantics that a memory access states; an atomic that states nothing is relaxed (PTX ISA §9.7.13.5).
    pub(super) fn of_access(decoded: &Decoded) -> Self {
        const STATED: [Modifier; 6] = [
            Modifier::Volatile,
            Modifier::Relaxed,
            Modifier::Acquire,
            Modifier::Release,
            Modifier::AcqRel,
            Modifier::Mmio,
        ];
        match decoded.modifiers.first_of(&STATED) {
            Some(Modifier::Acquire) => Self::Acquire,
            Some(Modifier::Release) => Self::Release,
            Some(Modifier::AcqRel) => Self::AcquireRelease,
            Some(_) => Self::Relaxed,
            None if decoded.row.effect == Effect::Atomic => Self::Relaxed,
            None => Self::Weak,
        }
    }

    /// The semantics that a fence states; `membar` is `fence.sc`, and a fence that states nothing is `acq_rel` (PTX ISA
    /// §9.7.13.4).
    pub(super) fn of_fence(decoded: &Decoded) -> Self {
        const STATED: [Modifier; 4] =
            [Modifier::Acquire, Modifier::Release, Modifier::AcqRel, Modifier::Sc];
        match decoded.modifiers.first_of(&STATED) {
            Some(Modifier::Acquire) => Self::Acquire,
            Some(Modifier::Release) => Self::Release,
            Some(Modifier::AcqRel) => Self::AcquireRelease,
            None if decoded.row.opcode != Opcode::Membar => Self::AcquireRelease,
            _ => Self::SequentiallyConsistent,
        }
    }

    /// Whether an access is strong.
    pub const fn is_strong(self) -> bool {
        !matches!(self, Self::Weak)
    }
}

impl MemoryScope {
    /// The scope that an access or a fence states: the device for `.gl`, and if it states none.
    pub(super) fn of(decoded: &Decoded) -> Self {
        const STATED: [Modifier; 4] =
            [Modifier::Cta, Modifier::Cluster, Modifier::Gpu, Modifier::Sys];
        match decoded.modifiers.first_of(&STATED) {
            Some(Modifier::Cta) => Self::Cta,
            Some(Modifier::Cluster) => Self::Cluster,
            Some(Modifier::Sys) => Self::System,
            _ => Self::Gpu,
        }
    }

    /// Whether it contains no threads of other groups of ctas. A cluster of one cta contains none; larger clusters are
    /// not modelled.
    pub const fn is_within_group(self) -> bool {
        matches!(self, Self::Cta | Self::Cluster)
    }
}
