//! Draws from counters: what atomics return at a location to which nothing else writes, and to which all of them add numbers of
//! one sign. No two of them return the same, as long as the counter does not wrap around.

use std::collections::BTreeSet;

use super::atom::{Atom, Expr, Variance};
use super::base::AddressBase;
use super::compared::BasedAccess;
use super::poly::gcd;
use super::thread::{SymbolicAccess, SymbolicThread};
use super::variance::Variances;
use crate::emulate::{AccessManner, signed};
use crate::flow::{BlockId, Program};
use crate::launch::{Atomics, Launch};
use crate::ptx::Space;

/// A draw of the arbitrary thread.
#[derive(Clone, Copy, Debug)]
struct CounterDraw {
    /// Where the atomic is.
    block: BlockId,
    atom: Atom,
    /// What the atomic returns, in the width of the counter.
    value: Expr,
    /// The counter: its base, and the bytes from it.
    counter: (AddressBase, Expr),
    /// A number that all draws from the counter differ by multiples of.
    stride: i128,
    /// How many numbers from the drawn one on nobody else draws, modulo the width of the counter.
    room: i128,
    /// Whether all that is added to the counter is positive.
    grows: bool,
    /// Whether each cta has a counter of its own.
    is_of_cta: bool,
}

/// Draws of two threads from one counter.
#[derive(Clone, Copy, Debug)]
pub(super) struct DrawPair {
    /// What the first and the second thread draw.
    pub(super) values: [Expr; 2],
    /// A number that they differ by a multiple of, modulo the width of the counter.
    pub(super) stride: i128,
    /// How many numbers from each of them on nobody else draws, modulo the width of the counter.
    pub(super) rooms: [i128; 2],
}

/// The draws of the arbitrary thread.
#[derive(Debug, Default)]
pub(super) struct ThreadDraws(Vec<CounterDraw>);

impl ThreadDraws {
    /// Returns the draws from counters, if the launch takes the results of counters to be distinct. `all`: the accesses to memory
    /// that some thread writes.
    pub(super) fn of(
        program: &Program,
        launch: &Launch,
        (thread, variances): (&SymbolicThread, &Variances),
        all: &[BasedAccess],
    ) -> Self {
        if !matches!(launch.options.atomics, Atomics::Auto | Atomics::Unique) {
            return Self::default();
        }
        let draws = all.iter().filter_map(|own| draw(thread, variances, own, all));
        let draws: Vec<CounterDraw> = draws.collect();
        let is_set_before = |own: &CounterDraw| {
            let of_counter = draws.iter().filter(|other| other.counter == own.counter);
            let behind = behind(program, of_counter.map(|other| other.block).collect());
            let is_store = |access: &&BasedAccess| {
                access.kind.writes
                    && access.kind.manner == AccessManner::Plain
                    && (access.base, access.offset) == own.counter
            };
            let mut stores = all.iter().filter(is_store);
            stores.all(|access| !behind.contains(&thread.accesses[access.index].block))
        };
        Self(draws.iter().copied().filter(is_set_before).collect())
    }

    /// Returns the atoms of what is drawn from counters that grow.
    pub(super) fn growing(&self) -> BTreeSet<Atom> {
        self.0.iter().filter(|own| own.grows).map(|own| own.atom).collect()
    }

    /// Returns the draws of two threads from one counter among what two expressions depend on. `is_cta`: the threads are of one
    /// cta.
    pub(super) fn pairs(
        &self,
        thread: &SymbolicThread,
        of: [Expr; 2],
        is_cta: bool,
    ) -> Vec<DrawPair> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let [first, second] = of.map(|expr| {
            let atoms: BTreeSet<Atom> = thread.exprs.atoms(expr).into_iter().collect();
            let is_there =
                |own: &&CounterDraw| atoms.contains(&own.atom) && (is_cta || !own.is_of_cta);
            self.0.iter().filter(is_there).collect::<Vec<&CounterDraw>>()
        });
        let pairs = first.iter().flat_map(|one| second.iter().map(move |other| (one, other)));
        let of_one = pairs.filter(|(one, other)| one.counter == other.counter);
        of_one
            .map(|(one, other)| DrawPair {
                values: [one.value, other.value],
                stride: one.stride,
                rooms: [one.room, other.room],
            })
            .collect()
    }
}

/// Returns the draw of an access; `None` if it is none.
fn draw(
    thread: &SymbolicThread,
    variances: &Variances,
    own: &BasedAccess,
    all: &[BasedAccess],
) -> Option<CounterDraw> {
    let access = &thread.accesses[own.index];
    let (atom, value) = access.drawn?;
    // An instruction that accesses several locations draws from any of them.
    if all.iter().filter(|other| other.index == own.index).count() > 1 {
        return None;
    }
    let step = step(access)?;
    let is_of_cta = own.space == Space::Shared;
    let shared = if is_of_cta { Variance::Cta } else { Variance::Launch };
    let is_counter = all
        .iter()
        .filter(|other| other.kind.writes && other.base == own.base)
        .all(|other| keeps_counting(thread, (own, step), other));
    let of_counter =
        all.iter().filter(|other| (other.base, other.offset) == (own.base, own.offset));
    let steps = of_counter.filter_map(|other| self::step(&thread.accesses[other.index]));
    let stride = steps.fold(0, |all, step| gcd(all, i128::from(step)));
    let is_one = variances.is_common(own.offset, shared, u64::MAX);
    (step != 0 && is_counter && is_one).then_some(CounterDraw {
        block: access.block,
        atom,
        value,
        counter: (own.base, own.offset),
        stride,
        // What an atomic adds to a counter that grows is all its own.
        room: stride.max(step.into()),
        grows: step > 0,
        is_of_cta,
    })
}

/// Whether a location stays a counter in spite of a write to its base: the write adds to it as well, goes elsewhere, or sets it
/// once in each cta, which has to be before all draws.
fn keeps_counting(
    thread: &SymbolicThread,
    (own, own_step): (&BasedAccess, i64),
    other: &BasedAccess,
) -> bool {
    let [counter, access] = [own, other].map(|of| &thread.accesses[of.index]);
    if own.offset != other.offset {
        let start = |of: &BasedAccess| thread.exprs.as_constant(of.offset);
        let ends = start(own).zip(start(other)).map(|(first, second)| {
            [
                first.saturating_add(counter.bytes.into()) <= second,
                second.saturating_add(access.bytes.into()) <= first,
            ]
        });
        return ends.is_some_and(|ends| ends.contains(&true));
    }
    match other.kind.manner {
        AccessManner::Atomic => {
            step(access).is_some_and(|step| step.signum() * own_step.signum() >= 0)
        }
        // The proof compares a weak store with the atomics, and relaxed ones with nothing.
        AccessManner::Plain => own.space == Space::Shared && !other.kind.is_strong(),
        _ => false,
    }
}

/// What an atomic adds, if it adds a number; the sign is that of the width of the counter.
fn step(access: &SymbolicAccess) -> Option<i64> {
    Some(signed(access.added?, access.bytes * 8))
}

/// Returns these blocks, and those that threads might come to from some of them.
fn behind(program: &Program, from: Vec<BlockId>) -> BTreeSet<BlockId> {
    let (mut seen, mut work) = (BTreeSet::new(), from);
    while let Some(block) = work.pop() {
        if seen.insert(block) {
            work.extend(program.blocks[block.index()].terminator.successors());
        }
    }
    seen
}
