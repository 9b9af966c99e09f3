//! An access as a region's cell keeps it, and when two accesses conflict.

use crate::emulate::{AccessKind, LaneMask, Nearness, WarpId, lanes};
use crate::order::{Epoch, Order};

/// Lanes of a warp that accessed a cell at one time in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RegionEntry {
    pub(super) lanes: LaneMask,
    pub(super) when: Epoch,
    pub(super) warp: WarpId,
    pub(super) kind: AccessKind,
}

/// How two unordered accesses of one byte conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Conflict {
    /// Both are strong with scopes that include each other, and meant to meet: no race, but what a load reads there is up to the
    /// schedule.
    Value,
    /// One of the two accesses might not happen.
    Possible,
    /// An access happens before one in the other proxy, and no fence between the proxies orders the two.
    Unfenced,
    /// Both are strong with scopes that include each other, and some are volatile: no data race in PTX's memory model, yet
    /// unordered.
    Strong,
    /// A data race.
    Race,
}

impl Conflict {
    /// Number of conflicts.
    pub(super) const COUNT: usize = 5;

    /// Whether accesses that conflict in this way are reported.
    pub fn is_race(self) -> bool {
        self != Self::Value
    }
}

/// How two accesses of different threads conflict if nothing orders them; `None` if they do not.
pub fn conflict(a: AccessKind, b: AccessKind, nearness: Nearness) -> Option<Conflict> {
    if !a.writes && !b.writes || a.is_shadow_copy && b.is_shadow_copy {
        return None;
    }
    match (are_morally_strong(a, b, nearness), a.is_atomic() && b.is_atomic()) {
        (true, true) => None,
        (true, false) if are_meant_to_meet(a, b) => Some(Conflict::Value),
        _ if a.may_execute || b.may_execute => Some(Conflict::Possible),
        (true, false) => Some(Conflict::Strong),
        (false, _) => Some(Conflict::Race),
    }
}

/// Whether two accesses of the same bytes are morally strong (PTX ISA §8.7): both are strong, with scopes that include each
/// other, and of one size.
pub(super) fn are_morally_strong(a: AccessKind, b: AccessKind, nearness: Nearness) -> bool {
    let are_held = a.order.scope().holds(nearness) && b.order.scope().holds(nearness);
    a.is_strong() && b.is_strong() && are_held && a.element == b.element
}

/// Whether accesses that are morally strong are meant to meet: both state their order, or one is an atomic and the other one a
/// volatile load, by which programs looked at counters before there were relaxed loads.
fn are_meant_to_meet(a: AccessKind, b: AccessKind) -> bool {
    let is_look = |load: AccessKind, other: AccessKind| !load.writes && other.is_atomic();
    let are_stated = a.states_order() && b.states_order();
    !a.is_apart() && !b.is_apart() && (are_stated || is_look(a, b) || is_look(b, a))
}

/// Whether everything that conflicts with `a` conflicts with `b` too, at least as badly.
pub(super) fn covers(b: AccessKind, a: AccessKind) -> bool {
    let is_as_weak = !b.is_strong() || a.is_strong();
    let is_as_plain = !b.is_atomic() || a.is_atomic();
    let is_as_volatile = !b.is_strong() || b.is_volatile() || !a.is_volatile();
    (b.writes || !a.writes)
        && (!b.is_shadow_copy || a.is_shadow_copy)
        && (!b.may_execute || a.may_execute)
        && (!b.is_strong() || a.element == b.element)
        && is_as_weak
        && is_as_plain
        && is_as_volatile
        && (!b.is_strong() || a.is_apart() == b.is_apart())
        && (a.order.scope().has(b.order.scope()) || !b.is_strong())
}

impl RegionEntry {
    /// An entry for what lanes of a warp do now.
    pub(super) fn new(warp: WarpId, lanes: LaneMask, kind: AccessKind, order: &Order) -> Self {
        Self { lanes, when: order.now(warp), warp, kind }
    }

    /// The conflict with a later access; `None` if there is none, or if all their lanes are ordered.
    pub(super) fn conflict(&self, later: &Self, order: &Order) -> Option<Conflict> {
        let nearness = order.nearness(self.warp, later.warp);
        let conflict = conflict(self.kind, later.kind, nearness)?;
        // How long an asynchronous copy takes is not followed here.
        (self.kind.is_asynchronous() || !self.is_ordered(later, order)).then_some(conflict)
    }

    /// Whether both write and do not race, so that what memory holds behind both is up to the schedule.
    pub(super) fn mixes_with(&self, later: &Self, order: &Order) -> bool {
        let conflict = self.conflict(later, order);
        self.kind.writes && later.kind.writes && conflict.is_some_and(|own| !own.is_race())
    }

    /// Whether every lane of this access is ordered before every other thread of the later one.
    fn is_ordered(&self, later: &Self, order: &Order) -> bool {
        let before = (self.warp, self.when, self.lanes);
        order.is_before(before, (later.warp, later.lanes))
            || order.is_own(self.warp, later.warp)
                && lanes(later.lanes)
                    .all(|lane| order.unordered_lanes(before, (later.warp, lane)) == 0)
    }

    /// Whether this entry can be dropped: whatever races with it races with the later one too.
    pub(super) fn is_covered(&self, later: &Self, order: &Order) -> bool {
        // Program order covers each lane by itself.
        let is_same_lane = self.warp == later.warp && self.lanes & !later.lanes == 0;
        let lasts = later.kind.is_asynchronous() || !self.kind.is_asynchronous();
        lasts && covers(later.kind, self.kind) && (is_same_lane || self.is_ordered(later, order))
    }

    /// Whether both entries are of one warp, of one kind and at one time, and can be merged into one with more lanes.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        self.warp == other.warp && self.when == other.when && self.kind == other.kind
    }
}

#[cfg(test)]
mod tests;
