//! How accesses and fences order memory: their semantics (PTX ISA §8.4) and their scope (§8.5).

use std::fmt;

use crate::ptx::isa::{Decoded, Effect, Modifier, Opcode};

/// The semantics of an access or a fence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ordering {
    /// Not strong: a conflict with it is a data race.
    #[default]
    Weak,
    /// `.volatile`: strong, and orders nothing by itself, as a relaxed access. It does not say that other threads are meant to
    /// access the memory at the same time.
    Volatile,
    /// Strong, and orders nothing by itself. `.mmio` is relaxed.
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

/// The ordering and the scope of an access, in one byte: shadow memory keeps many.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryOrder(u8);

impl MemoryOrder {
    const ORDERINGS: [Ordering; 7] = [
        Ordering::Weak,
        Ordering::Volatile,
        Ordering::Relaxed,
        Ordering::Acquire,
        Ordering::Release,
        Ordering::AcquireRelease,
        Ordering::SequentiallyConsistent,
    ];
    const SCOPES: [MemoryScope; 4] =
        [MemoryScope::Cta, MemoryScope::Cluster, MemoryScope::Gpu, MemoryScope::System];

    /// An ordering for the threads of a scope.
    pub const fn new(ordering: Ordering, scope: MemoryScope) -> Self {
        Self((ordering as u8) << 2 | scope as u8)
    }

    /// The same ordering for the threads of another scope.
    #[must_use]
    pub const fn within(self, scope: MemoryScope) -> Self {
        Self::new(self.ordering(), scope)
    }

    /// The ordering.
    pub const fn ordering(self) -> Ordering {
        Self::ORDERINGS[(self.0 >> 2) as usize]
    }

    /// The threads for which the access is strong.
    pub const fn scope(self) -> MemoryScope {
        Self::SCOPES[(self.0 & 3) as usize]
    }

    /// Whether an access is strong.
    pub const fn is_strong(self) -> bool {
        self.0 >> 2 != Ordering::Weak as u8
    }
}

impl Default for MemoryOrder {
    fn default() -> Self {
        Self::new(Ordering::default(), MemoryScope::default())
    }
}

impl fmt::Debug for MemoryOrder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?}.{:?}", self.ordering(), self.scope())
    }
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
            Some(Modifier::Volatile) => Self::Volatile,
            Some(Modifier::Acquire) => Self::Acquire,
            Some(Modifier::Release) => Self::Release,
            Some(Modifier::AcqRel) => Self::AcquireRelease,
            Some(_) => Self::Relaxed,
            None if decoded.row.effect == Effect::Atomic => Self::Relaxed,
            None => Self::Weak,
        }
    }

    /// Whether later operations stay behind it.
    pub(crate) const fn acquires(self) -> bool {
        matches!(self, Self::Acquire | Self::AcquireRelease | Self::SequentiallyConsistent)
    }

    /// Whether earlier operations stay before it.
    pub(crate) const fn releases(self) -> bool {
        matches!(self, Self::Release | Self::AcquireRelease | Self::SequentiallyConsistent)
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

    /// Whether it contains no threads of other clusters.
    pub const fn is_within_group(self) -> bool {
        matches!(self, Self::Cta | Self::Cluster)
    }

    /// Whether it contains every thread that is as near.
    pub const fn holds(self, nearness: Nearness) -> bool {
        match nearness {
            Nearness::Cta => true,
            Nearness::Cluster => !matches!(self, Self::Cta),
            Nearness::Grid => !self.is_within_group(),
        }
    }

    /// Whether it contains every thread that another scope contains.
    pub const fn has(self, other: Self) -> bool {
        match other {
            Self::Cta => true,
            Self::Cluster => self.holds(Nearness::Cluster),
            Self::Gpu | Self::System => self.holds(Nearness::Grid),
        }
    }
}

/// The ordering and the scope of a fence.
pub(crate) fn fence_order(decoded: &Decoded) -> MemoryOrder {
    MemoryOrder::new(Ordering::of_fence(decoded), MemoryScope::of(decoded))
}

/// How near two threads are to each other: the smallest group that both are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nearness {
    /// One cta.
    Cta,
    /// Two ctas of one cluster.
    Cluster,
    /// Two clusters of the grid.
    Grid,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orderings_and_scopes_come_back() {
        for ordering in MemoryOrder::ORDERINGS {
            for scope in MemoryOrder::SCOPES {
                let order = MemoryOrder::new(ordering, scope);
                assert_eq!((order.ordering(), order.scope()), (ordering, scope));
                assert_eq!(order.is_strong(), ordering != Ordering::Weak);
            }
        }
    }
}
