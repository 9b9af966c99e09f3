//! Compares all pairs of accesses of all threads and decides which of them race (PTX ISA §8.7), with this project's
//! levels for what is open.

use std::collections::{BTreeMap, BTreeSet};

use weft_core::emulate::{AccessKind, AccessManner, Ordering, WARP};
use weft_core::finding::ThreadPairs;
use weft_core::flow::Pc;

use super::record::{Record, Touch};

/// The level of a race, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Both accesses are strong and meant to meet: only what is read there depends on the schedule.
    Value,
    /// At least one of the two accesses might not happen.
    Possible,
    /// They are ordered, but not for the other proxy.
    Unfenced,
    /// Both accesses are strong, one of them is volatile, and nothing orders them.
    Strong,
    Race,
}

/// A racing pair of instructions: whether it is on global memory, then the instructions, the lower one first.
pub(crate) type Pair = (bool, Pc, Pc);

/// An instruction and a thread of the launch, as cta and thread.
type Place = (Pc, (usize, usize));

/// All races of a launch.
#[derive(Debug, Default)]
pub(crate) struct Races {
    pub(crate) worst: BTreeMap<Pair, Level>,
    /// For each racing pair of instructions, the racing pairs of threads, each thread with its instruction.
    threads: BTreeMap<Pair, BTreeSet<(Place, Place)>>,
    /// The bytes that race, or whose value depends on the schedule: whether the byte is in global memory, and its address.
    pub(crate) bytes: BTreeSet<(bool, u64)>,
}

/// Returns how two unordered accesses of different threads conflict; `None` if they do not. The caller has made sure
/// that they overlap.
fn level(a: &Touch, b: &Touch, is_one_cta: bool) -> Option<Level> {
    let (one, other) = (a.kind, b.kind);
    if !(one.writes || other.writes) {
        return None;
    }
    // Shadow copies stand for accesses at known addresses: they are compared with other accesses, not with each other.
    if one.is_shadow_copy && other.is_shadow_copy {
        return None;
    }
    let holds_both = |kind: AccessKind| is_one_cta || !kind.is_cta_scoped();
    let is_whole = one.element == other.element;
    let are_strong =
        one.is_strong() && other.is_strong() && is_whole && holds_both(one) && holds_both(other);
    if are_strong && one.is_atomic() && other.is_atomic() {
        return None;
    }
    if are_strong && are_meant(one, other) {
        return Some(Level::Value);
    }
    if one.may_execute || other.may_execute {
        return Some(Level::Possible);
    }
    Some(if are_strong { Level::Strong } else { Level::Race })
}

/// Whether two strong accesses, not both atomics, are meant to meet: an mbarrier object, or what bulk copies reduce to, is for
/// no others; stores are relaxed for that, or more; loads may be volatile beside atomics.
fn are_meant(one: AccessKind, other: AccessKind) -> bool {
    if [one, other].iter().any(|own| own.manner == AccessManner::AtomicApart) {
        return false;
    }
    let has_atomic = one.is_atomic() || other.is_atomic();
    let is_stated = |own: &AccessKind| match own.order.ordering() {
        Ordering::Weak => false,
        Ordering::Volatile => has_atomic && !own.writes,
        _ => true,
    };
    [one, other].iter().all(is_stated)
}

/// Whether a fence lies between two accesses if the first one is not of the async proxy, and the second one is (PTX ISA
/// §8.9.5). Copies by `cp.async` are left out: whether they need a fence PTX does not say.
fn is_fenced(record: &Record<'_>, a: &Touch, b: &Touch) -> bool {
    let relation = &record.relation;
    let needs = |first: &Touch, last: &Touch| {
        last.is_in_async
            && !first.is_in_async
            && first.done == first.point
            && relation.holds(first.done, last.point)
    };
    let has = |first: &Touch, last: &Touch| {
        let is_between = |fence: &usize| {
            relation.holds(first.done, *fence) && relation.holds(*fence, last.point)
        };
        record.fences.iter().any(is_between)
    };
    [(a, b), (b, a)].iter().all(|(first, last)| !needs(first, last) || has(first, last))
}

/// Returns for each byte the accesses to it, without those that race with the same accesses as another one.
fn by_byte(touches: &[Touch]) -> BTreeMap<(bool, u64), Vec<Touch>> {
    let mut bytes: BTreeMap<(bool, u64), BTreeSet<Touch>> = BTreeMap::new();
    for touch in touches {
        // Equal accesses of one thread at one point have the same races.
        let same = Touch { address: 0, bytes: 0, ..*touch };
        for at in touch.address..touch.address + u64::from(touch.bytes) {
            bytes.entry((touch.is_global, at)).or_default().insert(same);
        }
    }
    bytes.into_iter().map(|(at, own)| (at, own.into_iter().collect())).collect()
}

impl Races {
    /// Adds the races within a cta, and those between its accesses to global memory and those of the ctas before.
    pub(crate) fn add(&mut self, records: &[Record<'_>], cta: usize) {
        let own = by_byte(&records[cta].touches);
        let relation = &records[cta].relation;
        for ((is_global, at), touches) in &own {
            for (index, b) in touches.iter().enumerate() {
                for a in &touches[..index] {
                    // Program order does not order the copies of a thread.
                    let are_plain = a.done == a.point && b.done == b.point;
                    let is_ordered = a.thread == b.thread && are_plain
                        || relation.holds(a.done, b.point)
                        || relation.holds(b.done, a.point);
                    let is_fenced = is_fenced(&records[cta], a, b);
                    let level = level(a, b, true).filter(|_| !is_ordered || !is_fenced);
                    let unfenced = |level: Level| level.min(Level::Unfenced);
                    if let Some(level) = level {
                        let level = if is_ordered { unfenced(level) } else { level };
                        self.bytes.insert((*is_global, *at));
                        self.insert((cta, a), (cta, b), level);
                    }
                }
            }
        }
        for (before, other) in records[..cta].iter().enumerate() {
            let other = by_byte(&other.touches);
            for ((is_global, at), touches) in own.iter().filter(|((is_global, _), _)| *is_global) {
                for a in other.get(&(*is_global, *at)).into_iter().flatten() {
                    for b in touches {
                        if let Some(level) = level(a, b, false) {
                            self.bytes.insert((true, *at));
                            self.insert((before, a), (cta, b), level);
                        }
                    }
                }
            }
        }
    }

    /// Counts the racing pairs of threads of a pair of instructions.
    pub(crate) fn pairs(&self, pair: &Pair) -> ThreadPairs {
        let mut pairs = ThreadPairs { within_warps: 0, between_warps: 0, between_ctas: 0 };
        for ((_, a), (_, b)) in &self.threads[pair] {
            let count = match (a.0 == b.0, a.1 / WARP == b.1 / WARP) {
                (true, true) => &mut pairs.within_warps,
                (true, false) => &mut pairs.between_warps,
                (false, _) => &mut pairs.between_ctas,
            };
            *count += 1;
        }
        pairs
    }

    fn insert(&mut self, a: (usize, &Touch), b: (usize, &Touch), level: Level) {
        if level == Level::Value {
            return;
        }
        let place = |(cta, touch): (usize, &Touch)| (touch.pc, (cta, touch.thread));
        let (a_place, b_place) = (place(a), place(b));
        let (low, high) = (a_place.min(b_place), a_place.max(b_place));
        let pair = (a.1.is_global, low.0, high.0);
        let worst = self.worst.entry(pair).or_insert(level);
        *worst = (*worst).max(level);
        self.threads.entry(pair).or_default().insert((low, high));
    }
}
