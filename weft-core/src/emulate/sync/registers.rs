//! The registers of a cta (PTX ISA §9.7.19.5): each warp holds some, and those that warps have released form a pool.
//!
//! A warp that asks for more waits until no other warp can go on (that is a schedule like any other): whatever the other
//! warps release without any warp being given registers, they have then released. If that is enough for all that is ever
//! asked for, it is in every schedule. If it is not, but some warps can be given what they ask for, then what happens
//! depends on which of them are given it first.

use std::collections::BTreeMap;

use crate::emulate::value::lane::WARP;
use crate::emulate::value::warp_id::WarpId;

/// The registers of a cta.
#[derive(Clone, Debug)]
pub(crate) struct RegisterPool {
    /// For each thread, when the kernel starts.
    launched: u32,
    /// For each thread of a warp that has changed its number.
    held: BTreeMap<WarpId, u32>,
    /// Registers that nobody holds.
    free: u64,
    /// Registers that warps had released before the first was given some.
    sure: Option<u64>,
    /// Registers that warps were given.
    given: u64,
}

/// What a warp that waits for registers lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterNeed {
    /// Registers that the warp asks for, for all its threads.
    pub asked: u64,
    /// Registers that the pool of the cta has.
    pub free: u64,
}

/// Registers of a warp that has so many for each thread.
const fn of_warp(count: u32) -> u64 {
    count as u64 * WARP as u64
}

impl RegisterPool {
    /// The registers of a cta whose kernel starts with so many for each thread.
    pub(crate) const fn new(launched: u32) -> Self {
        Self { launched, held: BTreeMap::new(), free: 0, sure: None, given: 0 }
    }

    /// Registers that each thread of a warp has.
    pub(crate) fn held(&self, warp: WarpId) -> u32 {
        self.held.get(&warp).copied().unwrap_or(self.launched)
    }

    /// Registers that all threads of a warp have.
    pub(crate) fn held_by_all(&self, warp: WarpId) -> u64 {
        of_warp(self.held(warp))
    }

    /// Lets a warp keep so many registers for each thread. Returns whether it had as many.
    pub(crate) fn release(&mut self, warp: WarpId, count: u32) -> bool {
        let held = self.held(warp);
        if count > held {
            return false;
        }
        self.free += of_warp(held - count);
        self.held.insert(warp, count);
        true
    }

    /// What a warp lacks that asks for so many registers for each thread.
    pub(crate) fn need(&self, warp: WarpId, count: u32) -> RegisterNeed {
        let asked = of_warp(count.saturating_sub(self.held(warp)));
        RegisterNeed { asked, free: self.free }
    }

    /// Gives warps that wait as many registers as they ask for, in the order of the list, as far as there are enough. No
    /// other warp can go on. Returns for each whether it is given them, and whether it depends on the schedule who is.
    pub(crate) fn give(&mut self, waiting: &[(WarpId, u32)]) -> (Vec<bool>, bool) {
        let sure = *self.sure.get_or_insert(self.free);
        let asked: u64 = waiting.iter().map(|(warp, count)| self.need(*warp, *count).asked).sum();
        let is_sure = self.given + asked <= sure;
        let mut give = |&(warp, count): &(WarpId, u32)| {
            let RegisterNeed { asked, free } = self.need(warp, count);
            let is_enough = asked <= free;
            if is_enough {
                self.free -= asked;
                self.given += asked;
                self.held.insert(warp, count);
            }
            is_enough
        };
        let given: Vec<bool> = waiting.iter().map(&mut give).collect();
        let is_any = given.contains(&true);
        (given, is_any && !is_sure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warps(first: usize, count: u32) -> Vec<(WarpId, u32)> {
        (first..first + 4).map(|warp| (WarpId::new(warp), count)).collect()
    }

    #[test]
    fn what_warps_release_others_are_given() {
        let mut pool = RegisterPool::new(168);
        for (warp, count) in warps(0, 40) {
            assert!(pool.release(warp, count));
        }
        assert!(!pool.release(WarpId::new(0), 48), "it has 40");
        let all = [warps(4, 232), warps(8, 232)].concat();
        assert_eq!(pool.give(&all), (vec![true; 8], false));
        assert_eq!(pool.need(WarpId::new(4), 240), RegisterNeed { asked: 256, free: 0 });
    }

    #[test]
    fn too_few_registers_are_given_to_some() {
        let mut pool = RegisterPool::new(168);
        for (warp, count) in warps(0, 40) {
            assert!(pool.release(warp, count));
        }
        let all = [warps(4, 240), warps(8, 240)].concat();
        let (given, depends) = pool.give(&all);
        assert_eq!(given.iter().filter(|given| **given).count(), 7);
        assert!(depends);
        assert_eq!(pool.give(&all[7..]), (vec![false], false), "nobody else is given any");
    }

    #[test]
    fn what_is_released_late_is_not_sure() {
        let mut pool = RegisterPool::new(100);
        assert!(pool.release(WarpId::new(0), 80));
        assert_eq!(pool.give(&[(WarpId::new(1), 120)]), (vec![true], false));
        assert!(pool.release(WarpId::new(0), 60));
        let (given, depends) = pool.give(&[(WarpId::new(2), 120)]);
        assert_eq!((given, depends), (vec![true], true));
    }
}
