//! Runs what accesses tensor memory (PTX ISA §9.7.16.8 to 10): loads and stores by warps, copies from shared memory, and
//! products of matrices. All are asynchronous. What a warp loads and stores, an agent each does: the warp knows it once it has
//! waited. What a thread makes the tensor core do, another agent does, in the order in which the thread issues it: those know
//! it that see the phase of an mbarrier object complete at which a commit of the thread arrives.
//!
//! Events state tensor memory as a part of the shared memory of its cta, behind all variables: of each column, two bytes for
//! every 16 lanes, which are accessed together. The columns of each allocation have addresses of their own. So an access in one
//! allocation meets none in an earlier one of the same columns; it is enough that what frees an allocation counts as a write
//! of all its columns, which races with accesses that are not known to be done.

use super::agents::{AgentAccess, UNIT};
use super::bulk::CopyTarget;
use super::copy_event::{AgentWork, BulkGroup, CopyAgent, CopyCommand};
use super::doubt::DoubtKind;
use super::event::{AccessKind, AccessManner, Events, OrderQuery};
use super::mbarriers::AtObject;
use super::phase_state::AgentDuty;
use super::state::Machine;
use super::stop::{OrStop, doubt, tensor_misuse};
use super::tensor_part::{HALF, OF_A_WARP, TensorPart, address_of_allocation, of_address};
use super::wait::SyncPoint;
use crate::emulate::memory::descriptor::{self, MatrixExtent};
use crate::emulate::sync::columns::{ColumnPart, TensorMisuse};
use crate::emulate::sync::group::CtaRank;
use crate::emulate::sync::mbarrier::MbarrierId;
use crate::emulate::value::lane::{LaneMask, WARP, lanes};
use crate::emulate::value::origin::Origin;
use crate::emulate::value::register::Value;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{Operand, tensor_operand};
use crate::ptx::Space;
use crate::ptx::isa::Opcode;

/// Bytes of a row of A and of a column of B that one instruction multiplies.
const LINE: u64 = 32;
/// Columns of tensor memory that hold as much.
const LINE_COLUMNS: u64 = 8;
/// Columns that a shift moves.
const SHIFTED: u64 = 8;

/// How columns are accessed.
fn kind(writes: bool) -> AccessKind {
    AccessKind { writes, manner: AccessManner::Asynchronous, element: 2, ..AccessKind::default() }
}

/// The agent that loads for a warp, or that stores.
const fn duty(warp: WarpId, writes: bool) -> AgentDuty {
    if writes { AgentDuty::TensorStores(warp) } else { AgentDuty::TensorLoads(warp) }
}

/// What an instruction descriptor says (PTX ISA §9.7.16.4.2).
struct ProductShape {
    rows: u64,
    columns: u64,
    is_a_transposed: bool,
    is_b_transposed: bool,
}

impl ProductShape {
    /// Reads a descriptor. `None`: the product is sparse, or one whose layout in tensor memory is not followed.
    fn of(bits: u64, ctas: u64, is_of_halves: bool) -> Option<Self> {
        let own = Self {
            rows: (bits >> 24 & 0x1f) * 16,
            columns: (bits >> 17 & 0x3f) * 8,
            is_a_transposed: bits >> 15 & 1 == 1,
            is_b_transposed: bits >> 16 & 1 == 1,
        };
        let is_sparse = bits >> 2 & 1 == 1;
        let is_size = matches!((own.rows, ctas), (64 | 128, 1) | (128 | 256, 2))
            && (8..=256).contains(&own.columns);
        let is_transposed = own.is_a_transposed || own.is_b_transposed;
        (!is_sparse && is_size && (is_of_halves || !is_transposed)).then_some(own)
    }
}

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Runs an instruction of tensor memory. Returns the lanes that wait there.
    pub(super) fn tensor_memory(&mut self, at: SyncPoint<'_>) -> OrStop<LaneMask> {
        if let Some(side) = &self.may_execute {
            return Err(side.undecided());
        }
        self.facts.assumed.tensor_cores = true;
        let opcode = at.decoded.row.opcode;
        if matches!(opcode, Opcode::TensorProduct | Opcode::TensorFill | Opcode::TensorShift) {
            for lane in lanes(at.lanes) {
                self.on_tensor_core(SyncPoint { lanes: 1 << lane, ..at })?;
            }
            return Ok(0);
        }
        if at.lanes != LaneMask::MAX {
            return Err(doubt(DoubtKind::Warp, at.instr.place, None));
        }
        match opcode {
            Opcode::TensorAlloc => return self.allocate_columns(at),
            Opcode::TensorDealloc => self.free_columns(at)?,
            Opcode::TensorRelinquish => self.close_columns(at)?,
            Opcode::TensorLoad => self.move_columns(at, false)?,
            Opcode::TensorStore => self.move_columns(at, true)?,
            Opcode::TensorWaitLoad => self.wait_for_columns(at.warp, at.lanes, false),
            _ => self.wait_for_columns(at.warp, at.lanes, true),
        }
        Ok(0)
    }

    /// The value of an operand that all lanes have to give alike.
    pub(super) fn one_value(&mut self, at: SyncPoint<'_>, operand: usize) -> OrStop<u64> {
        let operand = at.instr.sources.get(operand).copied().unwrap_or(Operand::Opaque);
        let bits = self.alike(at, &operand)?;
        bits.ok_or_else(|| doubt(DoubtKind::Warp, at.instr.place, None))
    }

    /// Runs a load from tensor memory, or a store.
    fn move_columns(&mut self, at: SyncPoint<'_>, writes: bool) -> OrStop<()> {
        let SyncPoint { warp, pc, instr, decoded, lanes, .. } = at;
        let (column, lane) = of_address(self.one_value(at, 0)?);
        let form = decoded.tensor;
        let (count, columns) = (u64::from(form.lanes), u64::from(form.columns));
        let first = self.warps[warp].place as u64 % 4 * OF_A_WARP;
        let is_own = lane == first || count == HALF && !form.is_split && lane == first + HALF;
        if !is_own {
            return Err(tensor_misuse(TensorMisuse::Lanes(lane), (warp, lanes, pc)));
        }
        let mut parts = vec![TensorPart::of_lanes((column, columns), lane, count)];
        if form.is_split {
            let second = if writes { 1 } else { instr.sources.len() - 1 };
            let off = self.one_value(at, second)?;
            let (column, _) = of_address(column.wrapping_add(off));
            parts.push(TensorPart::of_lanes((column, columns), lane + HALF, HALF));
        }
        self.access_as_warp(at, writes, &parts)?;
        if !writes {
            let open = Value::open(self.facts.symbolics.any_number(Origin::Unsupported(pc)));
            for dest in instr.dests.iter().flatten() {
                self.warps[warp].write(*dest, open.clone(), lanes);
            }
        }
        Ok(())
    }

    /// Emits that the loads or the stores of a warp access tensor memory.
    fn access_as_warp(
        &mut self,
        at: SyncPoint<'_>,
        writes: bool,
        parts: &[TensorPart],
    ) -> OrStop<()> {
        let home = self.warps[at.warp].cta;
        let agent = self.lend(at, duty(at.warp, writes), AgentWork::Grouped);
        parts.iter().try_for_each(|part| self.access_columns(at, (agent, home), *part, writes))
    }

    /// Lets the agent for a duty take over work from lanes. Returns the agent.
    pub(super) fn lend(&mut self, at: SyncPoint<'_>, duty: AgentDuty, work: AgentWork) -> WarpId {
        let agent = self.phases.agent(duty, self.warps.count());
        self.events.lend(CopyAgent { agent, work, warp: at.warp, lanes: at.lanes });
        agent
    }

    /// Lets a warp know what its loads from tensor memory, or its stores, have done.
    fn wait_for_columns(&mut self, warp: WarpId, lanes: LaneMask, writes: bool) {
        self.wait_for_agent(warp, lanes, duty(warp, writes));
    }

    /// Lets a warp know all that an agent has done.
    pub(super) fn wait_for_agent(&mut self, warp: WarpId, lanes: LaneMask, duty: AgentDuty) {
        let Some(number) = self.phases.agents.get(&duty) else { return };
        let agent = WarpId::new(self.warps.count() + number);
        for step in [CopyCommand::Commit, CopyCommand::Wait(0)] {
            self.events.bulk_group(BulkGroup { agent, warp, lanes, step });
        }
    }

    /// Emits that an agent accesses columns of the tensor memory of a cta.
    pub(super) fn access_columns(
        &mut self,
        at: SyncPoint<'_>,
        (agent, home): (WarpId, CtaRank),
        part: TensorPart,
        writes: bool,
    ) -> OrStop<()> {
        let TensorPart { column, columns, bytes: (first, bytes) } = part;
        let outside =
            tensor_misuse(TensorMisuse::Outside(column, columns), (at.warp, at.lanes, at.pc));
        let Some(parts) = self.ctas[home.index()].columns.parts(column, columns) else {
            return Err(outside);
        };
        let kind = kind(writes);
        let own = AgentAccess { point: at, home, space: Space::Shared, kind, bytes };
        for ColumnPart { number, begin, is_held, first: column, columns } in parts {
            // Where nothing orders the access behind what freed the columns, it races with that. What the other cta of a pair has
            // allocated is not looked at: the two allocate together.
            let is_near = home == self.warps[at.warp].cta;
            let is_wrong = if is_held {
                is_near && !self.knows(at, AgentDuty::TensorAllocates(home, begin))
            } else {
                self.knows(at, AgentDuty::TensorFrees(home, begin))
            };
            if is_wrong {
                return Err(outside);
            }
            let base = address_of_allocation(number) + first;
            for start in (column..column + columns).step_by(WARP) {
                let count = (column + columns - start).min(WARP as u64);
                let count = usize::try_from(count).expect("at most 32");
                let addresses = Value::affine(base + start * UNIT, UNIT);
                self.access_units(own, agent, (&addresses, count), None)?;
            }
        }
        Ok(())
    }

    /// Whether lanes know all that an agent has done.
    pub(super) fn knows(&self, at: SyncPoint<'_>, duty: AgentDuty) -> bool {
        let agent = self.phases.agents.get(&duty).map(|number| self.warps.count() + number);
        agent.is_none_or(|agent| self.events.knows_work(WarpId::new(agent), at.warp, at.lanes))
    }

    /// Runs what a thread makes the tensor core do.
    fn on_tensor_core(&mut self, at: SyncPoint<'_>) -> OrStop<()> {
        let homes = self.tensor_homes(at)?;
        let agent = self.lend(at, AgentDuty::Tensor(at.warp, at.lanes), AgentWork::InOrder);
        if at.decoded.row.opcode == Opcode::TensorProduct {
            return self.tensor_product(at, agent, &homes);
        }
        let (column, _) = of_address(self.one_value(at, 0)?);
        let form = at.decoded.tensor;
        let (columns, rows) = (u64::from(form.columns), u64::from(form.lanes));
        let is_fill = at.decoded.row.opcode == Opcode::TensorFill;
        for home in homes {
            if is_fill {
                let source = self.one_value(at, 1)?;
                let extent = MatrixExtent { lines: rows, bytes: columns * 4, is_transposed: false };
                self.read_matrix(at, (agent, home), (source, extent))?;
            }
            let columns = if is_fill { columns } else { SHIFTED };
            self.access_columns(at, (agent, home), TensorPart::whole(column, columns), true)?;
        }
        Ok(())
    }

    /// Makes what lanes made the tensor core do arrive at an object, or at that of the same address in several ctas.
    pub(super) fn commit(&mut self, at: SyncPoint<'_>, named: MbarrierId) -> OrStop<()> {
        for lane in lanes(at.lanes) {
            let point = SyncPoint { lanes: 1 << lane, ..at };
            self.lend(point, AgentDuty::Tensor(point.warp, point.lanes), AgentWork::InOrder);
            for CopyTarget { cta, object } in self.targets(point, named)? {
                let object = cta.map_or(object, |cta| MbarrierId { cta, ..object });
                self.act(AtObject { point, object }, 0)?;
            }
        }
        Ok(())
    }

    /// The agent that does for a thread what the tensor core does.
    pub(super) fn tensor_agent(&mut self, at: SyncPoint<'_>) -> WarpId {
        self.phases.agent(AgentDuty::Tensor(at.warp, at.lanes), self.warps.count())
    }

    /// The ctas whose tensor memory an instruction acts on: that of the thread, and its neighbour if there are two.
    fn tensor_homes(&self, at: SyncPoint<'_>) -> OrStop<Vec<CtaRank>> {
        let own = self.warps[at.warp].cta;
        if at.decoded.tensor.ctas < 2 {
            return Ok(vec![own]);
        }
        let first = own.index() as u64 & !1;
        let both = [first, first + 1].map(|rank| CtaRank::among(rank, self.ctas.len()));
        match both {
            [Some(first), Some(second)] => Ok(vec![first, second]),
            _ => Err(doubt(DoubtKind::Unsupported, at.instr.place, None)),
        }
    }

    /// Runs a product of matrices, of which each cta has as many rows as the others, and as many columns of B.
    fn tensor_product(
        &mut self,
        at: SyncPoint<'_>,
        agent: WarpId,
        homes: &[CtaRank],
    ) -> OrStop<()> {
        let unsupported = || doubt(DoubtKind::Unsupported, at.instr.place, None);
        for mask in tensor_operand::MASKS..at.instr.sources.len() {
            if self.one_value(at, mask)? != 0 {
                return Err(unsupported());
            }
        }
        let ctas = homes.len() as u64;
        let shape = self.one_value(at, tensor_operand::SHAPE)?;
        let shape = ProductShape::of(shape, ctas, at.decoded.tensor.is_of_halves);
        let Some(ProductShape { rows, columns, is_a_transposed, is_b_transposed }) = shape else {
            return Err(unsupported());
        };
        let own_rows = rows / ctas;
        // Half of the columns of a product with 64 rows in each of two ctas lie in the other half of the lanes.
        let (own_columns, lanes) =
            if ctas == 2 && own_rows == 64 { (columns / 2, 128) } else { (columns, own_rows) };
        // Half of the lanes of each warp have 64 rows: the lower half, or the upper one.
        let is_half = own_rows == 64 && ctas == 1;
        let rows_at = |address: u64| match of_address(address) {
            (_, lane) if lane != 0 && !(is_half && lane == HALF) => {
                Err(tensor_misuse(TensorMisuse::Rows(lane), (at.warp, at.lanes, at.pc)))
            }
            part => Ok(part),
        };
        let (product, lane) = rows_at(self.one_value(at, tensor_operand::PRODUCT)?)?;
        let a = self.one_value(at, tensor_operand::A)?;
        let b = self.one_value(at, tensor_operand::B)?;
        let is_a_near = at.instr.sources.get(tensor_operand::IS_A_NEAR);
        let is_a_near = is_a_near == Some(&Operand::Constant(1));
        let extent = |lines, is_transposed| MatrixExtent { lines, bytes: LINE, is_transposed };
        for home in homes {
            let by = (agent, *home);
            if is_a_near {
                let (column, lane) = rows_at(a)?;
                for part in TensorPart::of_rows((column, LINE_COLUMNS), lane, lanes) {
                    self.access_columns(at, by, part, false)?;
                }
            } else {
                self.read_matrix(at, by, (a, extent(own_rows, is_a_transposed)))?;
            }
            self.read_matrix(at, by, (b, extent(columns / ctas, is_b_transposed)))?;
            for part in TensorPart::of_rows((product, own_columns), lane, lanes) {
                self.access_columns(at, by, part, true)?;
            }
        }
        Ok(())
    }

    /// Emits that an agent reads a matrix in the shared memory of a cta.
    fn read_matrix(
        &mut self,
        at: SyncPoint<'_>,
        by: (WarpId, CtaRank),
        (bits, extent): (u64, MatrixExtent),
    ) -> OrStop<()> {
        let units = descriptor::tensor_units(bits, extent);
        let units = units.ok_or_else(|| doubt(DoubtKind::Unsupported, at.instr.place, None))?;
        self.read_units(at, by, &units)
    }
}
