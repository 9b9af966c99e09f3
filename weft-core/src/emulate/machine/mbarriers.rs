//! Runs the instructions of mbarrier objects (PTX ISA §9.7.13.15). A wait that a thread can only try again holds its
//! lanes until the phase is complete; a peek fails; the result of any other test is open.

use std::rc::Rc;

use super::cluster::{Home, reaches_peers};
use super::copy_event::{AgentWork, CopyAgent, MbarrierEvent, MbarrierStep};
use super::doubt::DoubtKind;
use super::end::End;
use super::event::{Access, AccessKind, AccessManner, Events, Issuer, OrderQuery};
use super::memory_order::{MemoryOrder, MemoryScope, Ordering};
use super::peeks::Peeks;
use super::phase_state::{AgentDuty, Peeked};
use super::spin::is_spin;
use super::state::Machine;
use super::stop::{OrStop, Stop, doubt};
use super::wait::{Groups, SyncPoint};
use super::warp::{Wait, WaitFor};
use crate::emulate::sync::group::CtaRank;
use crate::emulate::sync::mbarrier::{MbarrierId, MbarrierMisuse, MbarrierNeed, Mbarriers};
use crate::emulate::value::lane::{Lane, LaneMask, lanes};
use crate::emulate::value::origin::Origin;
use crate::emulate::value::register::Value;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{Address, BlockId, Instr, PlaceId, space_of, window};
use crate::ptx::Space;
use crate::ptx::isa::{Decoded, Effect, Modifier, Opcode};

/// Counts of arrivals and of bytes have 32 bits.
const LOW_WORD: u64 = 0xffff_ffff;

/// So many phases of an object return states that differ; a state that is older cannot be told from a later one.
const TOKENS: u64 = 64;

/// Lanes at an instruction of an mbarrier object.
#[derive(Clone, Copy)]
pub(super) struct AtObject<'a> {
    pub(super) point: SyncPoint<'a>,
    pub(super) object: MbarrierId,
}

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Runs an instruction that acts on mbarrier objects without waiting.
    pub(super) fn mbarrier(&mut self, point: SyncPoint<'_>) -> OrStop<()> {
        for (object, lanes) in self.objects(point)? {
            let point = SyncPoint { lanes, ..point };
            if point.decoded.row.opcode == Opcode::TensorCommit {
                self.commit(point, object)?;
                continue;
            }
            let count = self.known(point, 0)?;
            for (count, lanes) in count {
                let at = AtObject { point: SyncPoint { lanes, ..point }, object };
                self.act(at, count & LOW_WORD)?;
            }
        }
        Ok(())
    }

    /// Groups lanes by the object that their address names, and emits their accesses to it.
    pub(super) fn objects(&mut self, point: SyncPoint<'_>) -> OrStop<Groups<MbarrierId>> {
        let SyncPoint { warp, instr, decoded, lanes: mask, .. } = point;
        if let Some(side) = &self.may_execute {
            return Err(side.undecided());
        }
        let is_modelled = !decoded.is_strange && !self.is_ordered_by_fences(decoded);
        let Some(address) = instr.address.filter(|_| is_modelled) else {
            return Err(doubt(DoubtKind::Unsupported, instr.place, None));
        };
        let addresses = self.object_addresses(warp, (&address, instr.place), mask)?;
        self.assume_scope(decoded);
        let homes = self.homes(warp, (&addresses, mask), reaches_peers(decoded, &address));
        let Some(homes) = homes else {
            return Err(doubt(DoubtKind::Unsupported, instr.place, None));
        };
        let mut all = Groups::new();
        for Home { cta, lanes, addresses } in homes {
            // The state of the phase of another cta's object cannot be had (PTX ISA §9.7.13.15.13).
            let is_remote = cta != self.warps[warp].cta;
            if is_remote && instr.dests.iter().any(Option::is_some) {
                return Err(doubt(DoubtKind::Unsupported, instr.place, None));
            }
            self.access_objects(SyncPoint { lanes, ..point }, cta, &addresses);
            let own = super::wait::groups(&addresses, lanes).into_iter();
            all.extend(own.map(|(address, lanes)| (MbarrierId { cta, address }, lanes)));
        }
        Ok(all)
    }

    /// Emits accesses of lanes to mbarrier objects of a cta.
    fn access_objects(&mut self, point: SyncPoint<'_>, home: CtaRank, addresses: &Value) {
        let SyncPoint { warp, pc, decoded, lanes: mask, .. } = point;
        let bytes = Mbarriers::BYTES;
        // That an object is initialized has to happen before any use of it.
        let is_first = matches!(decoded.row.opcode, Opcode::MbarrierInit | Opcode::MbarrierInval);
        let kind = AccessKind {
            writes: true,
            manner: if is_first { AccessManner::Plain } else { AccessManner::AtomicApart },
            order: if is_first {
                MemoryOrder::default()
            } else {
                MemoryOrder::new(Ordering::Relaxed, MemoryScope::Cluster)
            },
            element: 8,
            ..AccessKind::default()
        };
        let variable = |lane: usize| {
            let first = addresses.bits_of(lane);
            self.program.shared_variable(first, first + u64::from(bytes))
        };
        let first = variable(mask.trailing_zeros() as usize);
        let access = Access {
            warp,
            lanes: mask,
            pc,
            issuer: None,
            space: Space::Shared,
            addresses,
            bytes,
            kind,
            reads: false,
            stored: &[],
            condition: None,
            variable: first.filter(|_| lanes(mask).all(|lane| variable(lane) == first)),
            is_representative: false,
            class: None,
            decides: false,
            seen: None,
            synchronizes: false,
        };
        self.check_bounds(&access);
        match decoded.row.opcode {
            // What arrives for copies does so later, and so are bytes counted: that is the access.
            Opcode::CpAsyncArrive | Opcode::TensorCommit => {}
            _ if matches!(decoded.row.effect, Effect::BulkCopy | Effect::TakeOver) => {}
            Opcode::MbarrierInit if self.publishes() => {
                let agent = self.phases.agent(AgentDuty::Inits(warp), self.warps.count());
                let work = AgentWork::Inits;
                self.events.lend(CopyAgent { agent, work, warp, lanes: mask });
                let issuer = Some(Issuer::Lanes(warp));
                self.emit_at(home, Access { warp: agent, issuer, ..access });
            }
            _ => self.emit_at(home, access),
        }
    }

    /// Whether fences might publish initializations.
    fn publishes(&mut self) -> bool {
        let program = self.program;
        *self.phases.publishes.get_or_insert_with(|| program.publishes())
    }

    /// Whether fences might make an arrival or a wait order memory that orders none by itself (PTX ISA §8.8).
    fn is_ordered_by_fences(&mut self, decoded: &Decoded) -> bool {
        // These two are `.relaxed` always, and no wait observes them.
        let is_of_bytes =
            matches!(decoded.row.opcode, Opcode::MbarrierExpect | Opcode::MbarrierComplete);
        if !decoded.modifiers.has(Modifier::Relaxed) || is_of_bytes {
            return false;
        }
        let mut all = self.program.code.iter().filter_map(Instr::decoded);
        *self.phases.has_fence.get_or_insert_with(|| all.any(Decoded::is_memory_fence))
    }

    /// The addresses of objects in shared memory. Fails if one is open, or of another space.
    fn object_addresses(
        &self,
        warp: WarpId,
        (address, place): (&Address, PlaceId),
        mask: LaneMask,
    ) -> OrStop<Value> {
        let addresses = self.addresses(warp, address);
        let open = addresses.open_lanes() & mask;
        if open != 0 {
            let symbol = addresses.symbol(open);
            let origin = symbol.and_then(|symbol| self.facts.symbolics.origin(symbol));
            return Err(doubt(DoubtKind::Address, place, origin));
        }
        if address.space == Space::Shared {
            return Ok(addresses);
        }
        let is_shared = |lane| space_of(addresses.bits_of(lane)).0 == Space::Shared;
        if !lanes(mask).all(is_shared) {
            return Err(doubt(DoubtKind::Unsupported, place, None));
        }
        Ok(addresses.plus(window(Space::Shared).wrapping_neg(), 64))
    }

    /// Initializes an object, ends its use, or arrives at it. `count`: the first operand behind the address; 0 if there is
    /// none.
    pub(super) fn act(&mut self, at: AtObject<'_>, count: u64) -> OrStop<()> {
        self.count_commands(at.point.lanes);
        let of = |lanes| AtObject { point: SyncPoint { lanes, ..at.point }, ..at };
        // Lanes act one by one, and those that act in one phase are emitted together.
        let mut together = 0;
        for lane in lanes(at.point.lanes) {
            let phase = self.mbarriers(at).phase(at.object).unwrap_or_default();
            let acted = self.act_alone(of(1 << lane), count);
            if acted.is_err() {
                self.emit_acts(of(together), count);
            }
            let is_complete = acted?;
            together |= 1 << lane;
            self.write_token(of(1 << lane), phase);
            let need = self.mbarriers(at).need(at.object);
            if is_complete || need.is_some_and(|need| need.arrivals == 0) {
                self.emit_acts(of(std::mem::take(&mut together)), count);
                self.settle_phase(of(1 << lane), is_complete)?;
            }
        }
        self.emit_acts(of(together), count);
        let might_overflow = self.mbarriers(at).might_overflow(at.object);
        if might_overflow { Err(unsupported(at)) } else { Ok(()) }
    }

    /// The objects of the cta.
    fn mbarriers(&mut self, at: AtObject<'_>) -> &mut Mbarriers {
        &mut self.ctas[at.object.cta.index()].mbarriers
    }

    /// Makes one lane act at an object. Returns whether that completes the phase.
    fn act_alone(&mut self, at: AtObject<'_>, count: u64) -> OrStop<bool> {
        let has = |modifier| at.point.decoded.modifiers.has(modifier);
        let acted = match at.point.decoded.row.opcode {
            Opcode::MbarrierArrive | Opcode::MbarrierDrop if has(Modifier::ExpectTx) => {
                // Whether the bytes alone may complete the phase before the arrival is not said (PTX ISA §9.7.13.15.13).
                let bytes = i64::try_from(count).expect("32 bits");
                match self.mbarriers(at).expect(at.object, bytes) {
                    Ok(true) => return Err(unsupported(at)),
                    Ok(false) => self.arrive_alone(at, 1),
                    Err(misuse) => Err(misuse),
                }
            }
            Opcode::CpAsyncArrive | Opcode::TensorCommit => self.follow_copies(at.point, at.object),
            Opcode::MbarrierArrive | Opcode::MbarrierDrop => {
                self.arrive_alone(at, if at.point.instr.sources.is_empty() { 1 } else { count })
            }
            _ => self.change_alone(at, count),
        };
        acted.map_err(|misuse| misused(at, misuse))
    }

    /// As `act_alone`, for an arrival that counts as this many.
    fn arrive_alone(&mut self, at: AtObject<'_>, count: u64) -> Result<bool, MbarrierMisuse> {
        let drops = at.point.decoded.row.opcode == Opcode::MbarrierDrop;
        let is_complete = self.mbarriers(at).arrive(at.object, count, drops)?;
        let is_wrong = is_complete && at.point.decoded.modifiers.has(Modifier::NoComplete);
        if is_wrong { Err(MbarrierMisuse::Completes) } else { Ok(is_complete) }
    }

    /// As `act_alone`, for an instruction that is no arrival.
    fn change_alone(&mut self, at: AtObject<'_>, count: u64) -> Result<bool, MbarrierMisuse> {
        let AtObject { point: SyncPoint { decoded, pc, .. }, object } = at;
        let bytes = i64::try_from(count).expect("32 bits");
        match decoded.row.opcode {
            Opcode::MbarrierInit => {
                self.forget_peeks(object);
                self.mbarriers(at).init(object, count)?;
                if self.slice.contents.has(Space::Shared) {
                    let opaque = Lane::open(self.facts.symbolics.any_number(Origin::Hardware(pc)));
                    let shared = &mut self.ctas[object.cta.index()].shared;
                    shared.store(object.address, Mbarriers::BYTES, opaque);
                }
                Ok(false)
            }
            Opcode::MbarrierInval => self.mbarriers(at).invalidate(object).map(|()| false),
            Opcode::MbarrierExpect => self.mbarriers(at).expect(object, bytes),
            _ => self.mbarriers(at).expect(object, -bytes),
        }
    }

    /// Emits what lanes have done. `count`: as in `act`.
    fn emit_acts(&mut self, at: AtObject<'_>, count: u64) {
        let has = |modifier| at.point.decoded.modifiers.has(modifier);
        // The scope of a cta does not hold the threads that wait for an object of another one.
        let is_near = at.object.cta == self.warps[at.point.warp].cta;
        let step = match at.point.decoded.row.opcode {
            Opcode::MbarrierInit => MbarrierStep::Init,
            Opcode::MbarrierInval => return,
            Opcode::MbarrierExpect => MbarrierStep::Expect,
            Opcode::MbarrierComplete => MbarrierStep::Copied,
            Opcode::CpAsyncArrive => {
                MbarrierStep::Follow { is_expected: has(Modifier::NoInc), by: None }
            }
            Opcode::TensorCommit => {
                MbarrierStep::Follow { is_expected: true, by: Some(self.tensor_agent(at.point)) }
            }
            _ => MbarrierStep::Arrive {
                releases: !has(Modifier::Relaxed) && (is_near || !has(Modifier::Cta)),
                completes: !has(Modifier::NoComplete),
                expects: has(Modifier::ExpectTx) && count > 0,
            },
        };
        if at.point.lanes != 0 {
            self.emit_step(at, step);
        }
    }

    /// Writes the state that an arrival in a phase returns. Nothing is known of its bits.
    fn write_token(&mut self, at: AtObject<'_>, phase: u64) {
        let Some(Some(dest)) = at.point.instr.dests.first() else { return };
        let key = (at.object, phase % TOKENS);
        let origin = Origin::Hardware(at.point.pc);
        let object = at.object.cta.first() + at.object.address;
        let symbol = self.facts.symbolics.token(origin, object, key.1);
        self.phases.tokens.insert(symbol, key);
        self.warps[at.point.warp].write(*dest, Value::open(symbol), at.point.lanes);
    }

    /// Groups lanes by the phase that they wait for: by its parity, or by the state that an arrival returned, as a number of
    /// phases before the current one, which has the number `current`.
    fn awaited_phases(&mut self, at: AtObject<'_>, current: u64) -> OrStop<Groups<u64>> {
        let SyncPoint { warp, pc, instr, decoded, lanes: mask, .. } = at.point;
        if decoded.modifiers.has(Modifier::Parity) {
            let parities = self.known(at.point, 0)?.into_iter();
            return Ok(parities.map(|(parity, lanes)| ((parity ^ current) & 1, lanes)).collect());
        }
        let state = self.source(warp, pc, 0);
        let mut groups = Groups::new();
        for lane in lanes(mask) {
            let own = state.whole(lane);
            let token =
                own.symbol.filter(|_| own.bits == 0).and_then(|own| self.phases.tokens.get(&own));
            let Some((object, number)) = token else {
                let origin = own.symbol.and_then(|symbol| self.facts.symbolics.origin(symbol));
                return Err(doubt(DoubtKind::Barrier, instr.place, origin));
            };
            let ago = current.wrapping_sub(*number) % TOKENS;
            let wait = AtObject { point: SyncPoint { lanes: 1 << lane, ..at.point }, ..at };
            if *object != at.object || ago > 1 || ago > current {
                return Err(misused(wait, MbarrierMisuse::Stale));
            }
            match groups.iter_mut().find(|(known, _)| *known == ago) {
                Some((_, group)) => *group |= 1 << lane,
                None => groups.push((ago, 1 << lane)),
            }
        }
        Ok(groups)
    }

    /// Completes the phase of an object, or finds out whether schedules agree on it if it has all its arrivals.
    fn settle_phase(&mut self, at: AtObject<'_>, is_complete: bool) -> OrStop<()> {
        if is_complete {
            return self.complete_phase(at);
        }
        if let Some(MbarrierNeed { arrivals: 0, bytes }) = self.mbarriers(at).need(at.object) {
            self.emit_step(at, MbarrierStep::Full { has_excess: bytes < 0 });
        }
        Ok(())
    }

    /// Counts the bytes that a bulk copy of a lane has copied.
    pub(super) fn copied(
        &mut self,
        point: SyncPoint<'_>,
        object: MbarrierId,
        bytes: u64,
    ) -> OrStop<()> {
        let at = AtObject { point, object };
        let objects = &mut self.ctas[object.cta.index()].mbarriers;
        let bytes = i64::try_from(bytes).expect("32 bits");
        let is_complete = objects.expect(object, -bytes).map_err(|misuse| misused(at, misuse))?;
        self.access_later(point, object);
        self.emit_step(at, MbarrierStep::Copied);
        if self.mbarriers(at).might_overflow(object) {
            return Err(unsupported(at));
        }
        self.settle_phase(at, is_complete)
    }

    /// Runs a test whether a phase is complete. Returns the lanes that wait until it is.
    pub(super) fn wait_for_phase(&mut self, point: SyncPoint<'_>) -> OrStop<LaneMask> {
        let is_spin = self.is_spin(point.block);
        let mut waiting = 0;
        for (object, lanes) in self.objects(point)? {
            let at = AtObject { point: SyncPoint { lanes, ..point }, object };
            let current = self.mbarriers(at).phase(object).map_err(|misuse| misused(at, misuse))?;
            for (ago, lanes) in self.awaited_phases(at, current)? {
                let at = AtObject { point: SyncPoint { lanes, ..point }, object };
                let phase = current.wrapping_sub(ago);
                let acquires = !point.decoded.modifiers.has(Modifier::Relaxed);
                let awaited = Peeked { object: Some(object), phase, acquires, pc: point.pc };
                if !is_spin {
                    self.test(at, awaited, ago == 1);
                    continue;
                }
                self.check_left_out(at.point, awaited)?;
                self.begin_wait(at, ago == 0);
                if ago == 1 {
                    self.see_complete(at);
                    continue;
                }
                waiting |= lanes;
                let (SyncPoint { warp, pc, block, .. }, what) =
                    (point, WaitFor::Phase { object, phase });
                self.warps[warp].waits.push(Wait { pc, block, lanes, what });
            }
        }
        Ok(waiting)
    }

    /// Runs a test that is no wait: it succeeds for those that know that the phase is complete, in every schedule.
    fn test(&mut self, at: AtObject<'_>, awaited: Peeked, is_complete: bool) {
        let AtObject { point, object } = at;
        let SyncPoint { warp, block, pc, instr, lanes, .. } = point;
        let knowing =
            if is_complete { self.events.knows_completion(object, warp, lanes) } else { 0 };
        let of = |lanes| AtObject { point: SyncPoint { lanes, ..point }, ..at };
        if knowing != 0 {
            self.begin_wait(of(knowing), false);
            self.see_complete(of(knowing));
        }
        let others = of(lanes & !knowing);
        if others.point.lanes == 0 {
            return;
        }
        if self.peeks().tests.contains(&block) {
            self.begin_wait(others, !is_complete);
            self.peek(others.point, awaited);
            return;
        }
        let open = self.facts.symbolics.any_number(Origin::Hardware(pc));
        for dest in instr.dests.iter().flatten() {
            self.warps[warp].write(*dest, Value::open(open), others.point.lanes);
        }
    }

    /// The peeks of the program.
    fn peeks(&mut self) -> Rc<Peeks> {
        let program = self.program;
        Rc::clone(self.phases.peeks.get_or_insert_with(|| Rc::new(Peeks::of(program))))
    }

    /// Whether the wait at the end of a block is only ever tried again.
    fn is_spin(&mut self, block: BlockId) -> bool {
        let program = self.program;
        *self.phases.spins.entry(block).or_insert_with(|| is_spin(program, block))
    }

    /// Begins to wait for a phase: for the current one, or for the one before.
    fn begin_wait(&mut self, at: AtObject<'_>, sees_current: bool) {
        if at.point.decoded.modifiers.has(Modifier::Parity) {
            self.emit_step(at, MbarrierStep::Begin { sees_current });
        }
    }

    /// Lets lanes see that a phase is complete.
    fn see_complete(&mut self, at: AtObject<'_>) {
        let SyncPoint { warp, instr, decoded, lanes, .. } = at.point;
        if let Some(Some(dest)) = instr.dests.first() {
            self.warps[warp].write(*dest, Value::uniform(1), lanes);
            self.carry(warp, instr, lanes);
        }
        let acquires = !decoded.modifiers.has(Modifier::Relaxed);
        let of_cta = self.has_peers() && decoded.modifiers.has(Modifier::Cta);
        self.emit_step(at, MbarrierStep::Wait { acquires, of_cta });
    }

    /// Releases the lanes that wait for a phase, which lanes have just completed.
    fn complete_phase(&mut self, by: AtObject<'_>) -> OrStop<()> {
        self.emit_step(by, MbarrierStep::Complete);
        let program = self.program;
        for warp in self.warps.ids() {
            let is_here = |wait: &Wait| matches!(wait.what, WaitFor::Phase { object, .. } if object == by.object);
            for wait in self.take(warp, is_here) {
                let Wait { pc, block, lanes, .. } = wait;
                let instr = &program.code[pc.index()];
                let Some(decoded) = instr.decoded() else { continue };
                let point = SyncPoint { warp, block, pc, instr, decoded, lanes };
                self.see_complete(AtObject { point, ..by });
                self.resume(warp, &wait)?;
            }
        }
        Ok(())
    }

    fn emit_step(&mut self, at: AtObject<'_>, step: MbarrierStep) {
        let AtObject { point: SyncPoint { warp, pc, lanes, .. }, object } = at;
        self.events.mbarrier(MbarrierEvent { warp, lanes, pc, object, step });
    }
}

/// Stops because what an instruction does to an object is not modelled.
fn unsupported(at: AtObject<'_>) -> Stop {
    doubt(DoubtKind::Unsupported, at.point.instr.place, None)
}

/// Stops because an object was used wrongly.
fn misused(at: AtObject<'_>, misuse: MbarrierMisuse) -> Stop {
    let AtObject { point: SyncPoint { warp, pc, lanes, .. }, object } = at;
    End::MbarrierMisuse { misuse, object, warp, lanes, pc }.into()
}
