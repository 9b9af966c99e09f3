//! The state of one warp: its registers and local memory, and where its lanes are.

use std::cell::Cell;
use std::ops::Index;
use std::rc::Rc;
use std::sync::Arc;

use super::partings::Partings;
use crate::emulate::facts::inherited::General;
use crate::emulate::memory::pages::Memory;
use crate::emulate::sync::barrier::{BarrierId, BarrierUse};
use crate::emulate::sync::group::CtaRank;
use crate::emulate::sync::mbarrier::MbarrierId;
use crate::emulate::value::lane::{LaneMask, WARP};
use crate::emulate::value::register::Value;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{BlockId, Operand, Pc, Reg};
use crate::slice::Slice;

/// Lanes at the start of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Front {
    pub(super) block: BlockId,
    pub(super) lanes: LaneMask,
}

/// Lanes whose turn ended within a block, before the instruction `pc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Paused {
    pub(super) front: Front,
    pub(super) pc: Pc,
}

/// What waiting lanes wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitFor {
    /// The other lanes of the warp, with which they arrive at a cta barrier.
    Warp { name: u64, count: Option<u64>, how: BarrierUse },
    /// The lanes of a mask, at any `bar.warp.sync`.
    Members(LaneMask),
    /// The lanes of a mask, at the same exchange.
    Exchange(LaneMask),
    /// So many registers for each thread.
    Registers(u32),
    /// So many columns of tensor memory.
    Columns(u64),
    /// The completion of the current phase of an mbarrier object, by its number from 0.
    Phase { object: MbarrierId, phase: u64 },
}

/// Lanes that wait at an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wait {
    pub(super) pc: Pc,
    pub(super) block: BlockId,
    pub(super) lanes: LaneMask,
    pub(super) what: WaitFor,
}

/// A warp that has arrived at a barrier and waits until its generation is complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BarrierWait {
    pub(super) barrier: BarrierId,
    /// Where its lanes wait.
    pub(super) sides: Vec<Wait>,
}

/// What a warp has to do next at the barrier of its cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ClusterTurn {
    /// To arrive.
    #[default]
    Arrive,
    /// To wait for the generation in which it has arrived.
    Wait,
    /// The same, and that generation is complete.
    See,
}

/// The registers of a warp that something depends on. Other registers are never written.
#[derive(Clone, Debug)]
pub(super) struct Registers {
    /// For each register, its index in `values`; 0 for registers that nothing depends on.
    places: Arc<[u32]>,
    /// The last index of a register that is used across blocks.
    lasting: u32,
    values: Vec<Value>,
    /// For each index, the number of the last write.
    versions: Vec<u64>,
    /// Number of writes so far. Copies of the registers share the count.
    writes: Rc<Cell<u64>>,
}

impl Registers {
    fn new(slice: &Slice, unwritten: &Value) -> Self {
        let count = slice.registers as usize + 1;
        Self {
            places: slice.places.clone(),
            lasting: slice.lasting,
            values: vec![unwritten.clone(); count],
            versions: vec![0; count],
            writes: Rc::default(),
        }
    }

    /// A number that changes with each write of a register: as long as it stays the same, each lane holds the same
    /// value.
    pub(super) fn version(&self, register: Reg) -> u64 {
        self.versions[self.places[register.index()] as usize]
    }

    /// The value of an operand, if it is a register that can be used as it is. `None` if it is no register, or if it is
    /// open only in lanes outside of `lanes`: the caller makes a known value of it.
    pub(super) fn operand(&self, operand: &Operand, lanes: LaneMask) -> Option<&Value> {
        let Operand::Register(register) = operand else { return None };
        let value = &self[*register];
        let open = value.open_lanes();
        (open == 0 || open & lanes != 0).then_some(value)
    }

    /// Whether something depends on a register.
    pub(super) fn has(&self, register: Reg) -> bool {
        self.places[register.index()] > 0
    }

    /// The value of a register that is about to be written, and whether the register is used across blocks. `None` if
    /// nothing depends on the register.
    pub(super) fn get_mut(&mut self, register: Reg) -> Option<(&mut Value, bool)> {
        let place = self.places[register.index()];
        let value = self.values.get_mut(place as usize).filter(|_| place > 0)?;
        self.writes.set(self.writes.get() + 1);
        self.versions[place as usize] = self.writes.get();
        Some((value, place <= self.lasting))
    }
}

impl Index<Reg> for Registers {
    type Output = Value;

    fn index(&self, register: Reg) -> &Value {
        &self.values[self.places[register.index()] as usize]
    }
}

/// The state of one warp.
#[derive(Clone, Debug)]
pub(super) struct Warp {
    pub(super) id: WarpId,
    pub(super) cta: CtaRank,
    /// Its place among the warps of its cta.
    pub(super) place: usize,
    /// Its lanes; fewer than 32 in the last warp of some ctas.
    pub(super) all: LaneMask,
    /// Lanes that have not ended.
    pub(super) live: LaneMask,
    /// Lanes that can run, each group at the start of another block.
    pub(super) fronts: Vec<Front>,
    /// The current block.
    pub(super) block: BlockId,
    /// The lanes that run the current block.
    pub(super) front: LaneMask,
    /// Where its last turn ended within a block, if it did. The next turn goes on there.
    pub(super) paused: Option<Paused>,
    /// Lanes that wait. When the warp arrives at a cta barrier, they move to `held`.
    pub(super) waits: Vec<Wait>,
    /// The cta barrier at which the warp has arrived and waits.
    pub(super) held: Option<BarrierWait>,
    pub(super) cluster_turn: ClusterTurn,
    pub(super) registers: Registers,
    /// How often it has come to wait for the barrier of the cluster.
    pub(super) awaits: u32,
    /// The registers written on a side of an open condition, with what they held before each write, so that the side
    /// can be undone; `None` elsewhere. Registers that are not used across blocks are left out.
    pub(super) log: Option<Vec<(Reg, Value)>>,
    /// The branches at which lanes parted that might bypass an aligned barrier.
    pub(super) partings: Partings,
    /// The general state that it entered last, in some loop.
    pub(super) general: Option<General>,
    /// Local memory of each lane; empty until one of them is used.
    pub(super) local: Rc<Vec<Memory>>,
}

impl Warp {
    /// A warp whose lanes are all at the entry. `threads` is the number of threads of a cta.
    pub(super) fn new(
        id: WarpId,
        threads: u64,
        entry: BlockId,
        slice: &Slice,
        unwritten: &Value,
    ) -> Self {
        let warps = usize::try_from(threads.div_ceil(WARP as u64)).expect("a cta has few warps");
        let (cta, place) = CtaRank::of_warp(id.index(), warps);
        let count = threads.saturating_sub((place * WARP) as u64).min(WARP as u64);
        let live = if count == WARP as u64 { LaneMask::MAX } else { (1 << count) - 1 };
        Self {
            id,
            cta,
            place,
            all: live,
            live,
            fronts: vec![Front { block: entry, lanes: live }],
            block: entry,
            front: live,
            paused: None,
            waits: Vec::new(),
            held: None,
            cluster_turn: ClusterTurn::default(),
            registers: Registers::new(slice, unwritten),
            awaits: 0,
            log: None,
            partings: Partings::default(),
            general: None,
            local: Rc::default(),
        }
    }

    /// Puts lanes at the start of a block, where they converge with lanes that are there already.
    pub(super) fn place(&mut self, block: BlockId, lanes: LaneMask) {
        match self.fronts.iter_mut().find(|front| front.block == block) {
            Some(front) => front.lanes |= lanes,
            None => self.fronts.push(Front { block, lanes }),
        }
    }

    /// Whether the warp is runnable: some lane does not wait.
    pub(super) fn can_run(&self) -> bool {
        self.paused.is_some() || !self.fronts.is_empty()
    }

    /// Takes the lanes that are at the least block in the sort order (ESOP'13 §4).
    pub(super) fn least(&mut self) -> Option<Front> {
        let (at, _) = self.fronts.iter().enumerate().min_by_key(|(_, front)| front.block)?;
        Some(self.fronts.swap_remove(at))
    }

    /// Writes a register in some lanes; does nothing if nothing depends on the register.
    pub(super) fn write(&mut self, register: Reg, value: Value, lanes: LaneMask) {
        let (live, front) = (self.live, self.front);
        if let Some((old_value, is_lasting)) = self.registers.get_mut(register) {
            if !is_lasting {
                return old_value.blend(value, lanes, front);
            }
            if let Some(log) = &mut self.log {
                log.push((register, old_value.clone()));
            }
            old_value.blend(value, lanes, live);
        }
    }

    /// The local memory of a lane.
    pub(super) fn local(&mut self, lane: usize) -> &mut Memory {
        let all = Rc::make_mut(&mut self.local);
        if all.is_empty() {
            *all = vec![Memory::default(); WARP];
        }
        &mut all[lane]
    }
}
