//! What orders an access of a cta with those of others: what the cta signals behind it, and what it has waited for in front of it.

use crate::emulate::SignalKey;

/// Ways in which what happens before a signal can be ordered before what follows the last one; a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Strength(pub(super) u8);

impl Strength {
    /// The access is the signal itself, or follows the last signal.
    pub(super) const SIGNAL: Self = Self(1);
    /// By a release pattern, or an acquire pattern.
    pub(super) const PATTERN: Self = Self(2);
    /// By a `fence.sc` of any thread.
    pub(super) const FENCE_SC: Self = Self(4);
    /// By a fence that might not happen.
    pub(super) const PERHAPS: Self = Self(8);

    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The part of it that is a pattern.
    pub(super) const fn pattern(self) -> Self {
        Self(self.0 & Self::PATTERN.0)
    }

    /// Whether it is surely a pattern.
    pub(super) const fn is_pattern(self) -> bool {
        self.pattern().0 != 0
    }

    /// Whether both ends of the order have some way in common.
    pub(super) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 & !Self::PERHAPS.0 != 0
    }

    /// The same, by fences that might not happen.
    pub(super) const fn perhaps(self) -> Self {
        Self::PERHAPS.when(self.0 != 0)
    }

    /// Whether memory is surely ordered by it, if the other end is as well.
    pub(super) const fn surely_orders(self) -> bool {
        self.0 & (Self::PATTERN.0 | Self::FENCE_SC.0) != 0
    }

    /// Whether memory might be ordered by it, if the other end is as well.
    pub(super) const fn orders(self) -> bool {
        self.0 & !Self::SIGNAL.0 != 0
    }

    pub(super) const fn when(self, holds: bool) -> Self {
        if holds { self } else { Self(0) }
    }
}

/// What orders accesses of a cta with those of others.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SignalTag {
    /// The location whose last signal the cta is known to have sent, and how what it did before is acquired.
    pub seen: Option<(u64, Strength)>,
    /// What the cta signals after the access, and how the access is released.
    pub released: Vec<(SignalKey, Strength)>,
    /// What the cta has waited for before the access, and how that is acquired.
    pub awaited: Vec<(SignalKey, Strength)>,
    /// Whether the access is one of those by which threads wait for each other.
    pub synchronizes: bool,
    /// The locations at which the cta has signalled before the access, and how what it saw there is acquired.
    pub acquired: Vec<(u64, Strength)>,
    /// Whether something orders the access perhaps that is not followed.
    pub is_open: bool,
}

impl SignalTag {
    /// Whether nothing conflicts between two ctas at these accesses: one is ordered before the other, or only one of the two
    /// happens. `are_strong`: both are strong, which need no fence behind the last signal to see what is in memory.
    pub fn excludes(&self, other: &Self, are_strong: bool) -> bool {
        let is_before = |before: &Self, after: &Self| {
            let seen = after.seen.map(|(location, by)| (SignalKey::all(location), by));
            seen.into_iter().chain(after.awaited.iter().copied()).any(|(key, acquired)| {
                let mut all = before.released.iter().filter(|(own, _)| *own == key);
                all.any(|(_, released)| {
                    released.meets(acquired)
                        || are_strong
                            && released.surely_orders()
                            && acquired.meets(Strength::SIGNAL)
                })
            })
        };
        // Two that are morally strong are no data race; these are there to be in no order.
        if are_strong && self.synchronizes && other.synchronizes {
            return true;
        }
        let is_one =
            matches!((self.seen, other.seen), (Some(own), Some(others)) if own.0 == others.0);
        is_one || is_before(self, other) || is_before(other, self)
    }

    /// Whether signals might order these accesses of two ctas, in some schedule.
    pub fn might_be_ordered(&self, other: &Self) -> bool {
        let might = |before: &Self, after: &Self| {
            before.released.iter().any(|(at, released)| {
                let mut there = after.acquired.iter().filter(|(own, _)| *own == at.location);
                there.any(|(_, acquired)| released.orders() && acquired.orders())
            })
        };
        self.is_open || other.is_open || might(self, other) || might(other, self)
    }
}
