//! Branches on open conditions: both sides run, for the lanes concerned, as *maybe*.
//!
//! Each side starts from the state at the branch and runs up to the branch's post-dominator, where the sides are joined:
//! what differs between them becomes open. If the branch may go round a loop that the post-dominator is outside of, all
//! that the loop assigns or stores is open before, and the loop runs once from its header: this stands for every iteration.
//! Accesses on the way are marked; nothing on the way may wait for other threads.

use std::collections::BTreeSet;

use super::event::{DoubtKind, Events};
use super::machine::{Machine, Step, doubt};
use super::memory::Memory;
use super::term::Origin;
use super::value::{LaneMask, Value, lanes};
use super::warp::Front;
use crate::flow::{BlockId, PlaceId, Program};
use crate::ptx::Space;
use crate::ptx::isa::Effect;
use crate::slice::Keep;

/// Branches on open conditions within each other.
const MAX_DEPTH: u32 = 128;

/// The machine runs what may not happen.
#[derive(Clone, Debug)]
pub(super) struct Maybe {
    /// Where the open condition comes from.
    pub(super) origin: Origin,
    /// The branch.
    pub(super) place: PlaceId,
    /// Branches on open conditions around it, itself included.
    depth: u32,
    /// Blocks at which the sides end.
    stops: Vec<BlockId>,
    /// Headers of loops whose every iteration is run at once.
    widened: Vec<BlockId>,
}

impl Maybe {
    /// A single instruction under an open guard.
    pub(super) const fn guard(origin: Origin, place: PlaceId) -> Self {
        Self { origin, place, depth: 0, stops: Vec::new(), widened: Vec::new() }
    }

    /// Whether only one instruction is concerned.
    pub(super) const fn is_guard(&self) -> bool {
        self.depth == 0
    }

    /// Whether a side ends at a block.
    pub(super) fn stops_at(&self, block: BlockId) -> bool {
        self.stops.contains(&block)
    }
}

/// The part of a warp's state that belongs to its lanes.
#[derive(Clone)]
struct State {
    registers: Vec<Value>,
    local: Vec<Memory>,
}

impl<E: Events> Machine<'_, E> {
    /// Lanes whose condition is open go to all of `sides`, and meet again at the branch's post-dominator.
    pub(super) fn either(
        &mut self,
        warp: usize,
        branch: BlockId,
        sides: &[BlockId],
        mask: LaneMask,
        origin: Origin,
    ) -> Step<()> {
        let program = self.program;
        let block = &program.blocks[branch.index()];
        let Some(merge) = block.post_dominator else { return Ok(()) };
        let depth = self.maybe.as_ref().map_or(0, |outer| outer.depth) + 1;
        if depth > MAX_DEPTH {
            return Err(doubt(DoubtKind::Branch, block.place, Some(origin)));
        }
        // Each side starts from a copy of the state.
        self.spend(u64::from(program.registers) / 16, block.place)?;
        let outer = self.maybe.take();
        let (mut stops, mut widened) = outer
            .as_ref()
            .map_or_else(Default::default, |outer| (outer.stops.clone(), outer.widened.clone()));
        stops.push(merge);
        let mut rounds = None;
        let goes_round = |header: &&BlockId| {
            !program.blocks[merge.index()].loops.contains(header) && !widened.contains(header)
        };
        if let Some(&header) = block.loops.iter().find(goes_round) {
            self.forget_loop(warp, header, mask, origin);
            stops.push(header);
            widened.push(header);
            rounds = Some(header);
        }
        // A side that ends at once changes nothing.
        let (ended, mut entries): (Vec<_>, Vec<_>) =
            BTreeSet::from_iter(sides).into_iter().partition(|side| stops.contains(side));
        entries.extend(rounds);
        let maybe = Maybe { origin, place: block.place, depth, stops, widened };
        let saved = self.state(warp);
        let mut joined = (!ended.is_empty()).then(|| saved.clone());
        for entry in entries {
            self.restore(warp, saved.clone());
            self.run_side(warp, entry, mask, maybe.clone())?;
            joined = Some(match joined {
                None => self.state(warp),
                Some(before) => self.join(warp, before, mask, origin),
            });
        }
        self.restore(warp, joined.unwrap_or(saved));
        self.maybe = outer;
        self.go(warp, branch, merge, mask)
    }

    fn run_side(&mut self, warp: usize, entry: BlockId, lanes: LaneMask, maybe: Maybe) -> Step<()> {
        let fronts =
            std::mem::replace(&mut self.warps[warp].fronts, vec![Front { block: entry, lanes }]);
        self.maybe = Some(maybe);
        while let Some(front) = self.warps[warp].least() {
            self.block(warp, front.block, front.lanes)?;
        }
        self.warps[warp].fronts = fronts;
        Ok(())
    }

    fn state(&self, warp: usize) -> State {
        let own = &self.warps[warp];
        State { registers: own.registers.clone(), local: own.local.clone() }
    }

    fn restore(&mut self, warp: usize, state: State) {
        self.warps[warp].registers = state.registers;
        self.warps[warp].local = state.local;
    }

    /// The state after either of two sides.
    fn join(&mut self, warp: usize, before: State, mask: LaneMask, origin: Origin) -> State {
        let unknown = Value::open(self.terms.unclear(origin));
        let now = self.state(warp);
        let mut joined = before;
        for (own, other) in joined.registers.iter_mut().zip(&now.registers) {
            let differs = own.differs(other) & mask;
            if differs != 0 {
                own.blend(unknown.clone(), differs, LaneMask::MAX);
            }
        }
        if joined.local != now.local {
            joined.local.clear();
        }
        joined
    }

    /// What any iteration of a loop may assign is open.
    fn forget_loop(&mut self, warp: usize, header: BlockId, mask: LaneMask, origin: Origin) {
        let unknown = Value::open(self.terms.unclear(origin));
        for pc in inside(self.program, header) {
            let instr = &self.program.code[pc];
            for dest in instr.dests.iter().flatten() {
                self.warps[warp].write(*dest, unknown.clone(), mask);
            }
            if !matches!(instr.effect(), Effect::Store | Effect::Atomic)
                || self.slice.keep[pc] != Keep::Value
            {
                continue;
            }
            let space = instr.address.map_or(Space::Generic, |address| address.space);
            if matches!(space, Space::Shared | Space::Generic) {
                self.shared.forget();
            }
            if matches!(space, Space::Global | Space::Generic) {
                self.global.forget();
            }
            if matches!(space, Space::Local | Space::Generic) {
                lanes(mask).for_each(|lane| self.warps[warp].local(lane).forget());
            }
        }
    }
}

/// The instructions of a loop.
fn inside(program: &Program, header: BlockId) -> impl Iterator<Item = usize> {
    let blocks = program.blocks.iter().filter(move |block| block.loops.contains(&header));
    blocks.flat_map(|block| block.first.index()..block.end.index())
}
