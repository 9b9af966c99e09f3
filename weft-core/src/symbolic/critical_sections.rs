//! Critical sections of the arbitrary thread: which accesses it performs while it has a lock, and which writes could spoil the
//! locks.

use std::collections::{BTreeMap, BTreeSet};

use super::base::{self, AddressBase};
use super::compared::BasedAccess;
use super::expr::Expr;
use super::launched::LaunchedValues;
use super::locks::{BlockStep, Locks};
use super::thread::SymbolicThread;
use crate::emulate::Nearness;
use crate::flow::Program;
use crate::launch::{Atomics, ExtentBound, Launch};
use crate::ptx::Space;

/// The locks of a program, among the threads of one cta and among those of a grid.
#[derive(Default)]
pub(super) struct ProgramLocks {
    of_cta: Locks,
    of_grid: Locks,
}

impl ProgramLocks {
    /// Finds the locks of a program.
    pub(super) fn of(program: &Program, launch: &Launch, launched: &LaunchedValues) -> Self {
        if launch.options.atomics == Atomics::Off {
            return Self::default();
        }
        let is_one_cta = launched.grid.iter().all(|extent| *extent == ExtentBound::Is(1));
        let of_cta = Locks::of(program, Nearness::Cta);
        let of_grid = if is_one_cta { of_cta.clone() } else { Locks::of(program, Nearness::Grid) };
        Self { of_cta, of_grid }
    }

    /// The atomics that take locks, with their words.
    pub(super) fn takings(&self) -> BTreeMap<BlockStep, usize> {
        self.of_cta.takings()
    }

    /// The locks in a space.
    const fn within(&self, space: Space) -> &Locks {
        if matches!(space, Space::Shared) { &self.of_cta } else { &self.of_grid }
    }
}

/// A lock that a thread has: the word is so many bytes behind a base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeldLock {
    pub(super) base: AddressBase,
    pub(super) offset: Expr,
}

/// The locks in one buffer or variable.
#[derive(Clone, Debug, Default)]
pub(super) struct BaseLocks {
    /// The atomics that take them, as indices into the compared accesses.
    pub(super) takings: Vec<usize>,
    /// All other writes there but the releases.
    pub(super) strays: Vec<usize>,
    /// The words of the program that they are.
    words: BTreeSet<usize>,
    /// Whether a thread ever releases one of them. If none does, at most one thread comes into a critical section.
    is_released: bool,
}

/// The accesses in critical sections.
#[derive(Clone, Debug, Default)]
pub(super) struct CriticalSections {
    pub(super) locks: BTreeMap<AddressBase, BaseLocks>,
    /// For each access of the thread, by index, the locks that order it.
    held: BTreeMap<usize, Vec<HeldLock>>,
}

impl CriticalSections {
    /// Finds the accesses in critical sections. `all`: the accesses to memory that some thread writes.
    pub(super) fn of(
        (program, locks): (&Program, &ProgramLocks),
        thread: &mut SymbolicThread,
        all: &[BasedAccess],
    ) -> Self {
        let mut sections = Self::default();
        if locks.of_cta.words.is_empty() {
            return sections;
        }
        let bases: BTreeSet<AddressBase> = all.iter().map(|own| own.base).collect();
        for base in bases {
            let locks = locks.within(base.space(program));
            let Some(found) = of_base(locks, thread, all, base) else { continue };
            for index in 0..thread.accesses.len() {
                let held = held((program, locks), thread, index, base, &found);
                sections.held.entry(index).or_default().extend(held);
            }
            sections.locks.insert(base, found);
        }
        sections
    }

    /// The locks that two accesses of the thread are both ordered by if the words are the same: pairs of words in one base.
    pub(super) fn common(&self, a: usize, b: usize) -> Vec<[HeldLock; 2]> {
        let of = |index: usize| self.held.get(&index).map_or(&[][..], Vec::as_slice);
        let pairs = of(a).iter().flat_map(|one| of(b).iter().map(move |other| [*one, *other]));
        pairs.filter(|[one, other]| one.base == other.base).collect()
    }
}

/// The locks in a buffer or variable; `None`: there are none, or those that take them do not agree on how.
fn of_base(
    locks: &Locks,
    thread: &SymbolicThread,
    all: &[BasedAccess],
    base: AddressBase,
) -> Option<BaseLocks> {
    let step = |at: usize| -> BlockStep {
        let access = &thread.accesses[all[at].index];
        (access.block, access.pc)
    };
    let word = |at: usize| locks.taken_by(step(at));
    let there = (0..all.len()).filter(|at| all[*at].base == base);
    let (takings, others): (Vec<usize>, Vec<usize>) = there.partition(|at| word(*at).is_some());
    let words: BTreeSet<usize> = takings.iter().filter_map(|at| word(*at)).collect();
    let own = words.iter().map(|word| &locks.words[*word]);
    let free = own.clone().next()?.free;
    let are_alike = own.clone().all(|word| word.free == free && word.hands_over);
    // An atomic whose address is chosen among several bases might take either lock.
    let is_here = |at: &usize| all.iter().filter(|own| own.index == all[*at].index).count() == 1;
    if !are_alike || !takings.iter().all(is_here) {
        return None;
    }
    let is_released = own.clone().any(|word| word.is_released);
    let is_stray = |at: &usize| all[*at].kind.writes && !locks.releases_only(step(*at), &words);
    let strays = others.into_iter().filter(is_stray).collect();
    Some(BaseLocks { takings, strays, words, is_released })
}

/// The locks in a buffer or variable that order an access of the thread.
fn held(
    (program, locks): (&Program, &Locks),
    thread: &mut SymbolicThread,
    index: usize,
    base: AddressBase,
    own: &BaseLocks,
) -> Vec<HeldLock> {
    let access = &thread.accesses[index];
    let possessions = locks
        .held((access.block, access.pc))
        .iter()
        .filter(|held| own.words.contains(&held.word) && (held.is_ordered || !own.is_released));
    let words: Vec<Expr> =
        possessions.filter_map(|held| access.taken.get(&held.word).copied()).collect();
    let word = |address: Expr| match &base::bases(thread, program, address)?[..] {
        [found] if found.base == base => Some(HeldLock { base, offset: found.offset }),
        _ => None,
    };
    words.into_iter().filter_map(word).collect()
}
