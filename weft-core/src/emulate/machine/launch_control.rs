//! Runs requests to take over the work of ctas that have not begun (`clusterlaunchcontrol`, PTX ISA §9.7.13.17), and what
//! reads the answers. Which requests succeed is up to the device: [`Inputs::taken_over`] says it here.
//!
//! [`Inputs::taken_over`]: crate::emulate::Inputs::taken_over

use super::bulk::CopySide;
use super::doubt::DoubtKind;
use super::event::{Events, OrderQuery};
use super::phase_state::AgentDuty;
use super::piece::Piece;
use super::state::Machine;
use super::stop::{OrStop, doubt};
use super::wait::SyncPoint;
use crate::emulate::sync::group::CtaRank;
use crate::emulate::sync::mbarrier::MbarrierId;
use crate::emulate::value::lane::{Lane, LaneMask, lanes};
use crate::emulate::value::origin::Origin;
use crate::emulate::value::register::Value;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{Instr, Pc, PlaceId};
use crate::ptx::Space;
use crate::ptx::isa::{Effect, Opcode};

/// Bytes of an answer, and of each of its halves, both of which hold what is known of it.
const ANSWER: u64 = 16;
const KNOWN: u32 = 8;

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Runs the requests of lanes.
    pub(super) fn take_over(&mut self, at: SyncPoint<'_>) -> OrStop<()> {
        if let Some(side) = &self.may_execute {
            return Err(side.undecided());
        }
        self.facts.assumed.takeovers = true;
        let is_to_all = at.decoded.row.opcode == Opcode::TryCancelForAll;
        for (named, mask) in self.objects(at)? {
            for lane in lanes(mask) {
                let own = SyncPoint { lanes: 1 << lane, ..at };
                let first = self.known(own, 0)?[0].0;
                let cluster = self.inputs.clustering().number(self.ctas[0].cta);
                let taken = self.inputs.taken_over(cluster, self.requests.count);
                self.requests.count += 1;
                let all = CtaRank::all(self.ctas.len());
                for cta in all.filter(|cta| is_to_all || *cta == named.cta) {
                    self.answer(own, MbarrierId { cta, ..named }, (first, taken))?;
                }
            }
        }
        Ok(())
    }

    /// Fails if all threads have ended, but have not asked for all the work that they could take over: then other ctas run.
    pub(super) fn check_takeovers(&self) -> OrStop<()> {
        let cluster = self.inputs.clustering().number(self.ctas[0].cta);
        if self.inputs.taken_over(cluster, self.requests.count).is_none() {
            return Ok(());
        }
        let mut all = self.program.code.iter();
        let asks = all.find(|instr| instr.effect() == Effect::TakeOver);
        let place = asks.map_or(PlaceId(0), |instr| instr.place);
        Err(doubt(DoubtKind::Takeovers, place, None))
    }

    /// Emits that an answer is written to the shared memory of the cta of an object, at an address: the number of the cluster
    /// whose work is taken over, or none.
    fn answer(
        &mut self,
        at: SyncPoint<'_>,
        object: MbarrierId,
        (first, taken): (u64, Option<u64>),
    ) -> OrStop<()> {
        let (duty, home) = (AgentDuty::Object(object), object.cta);
        let (space, bytes, align) = (Space::Shared, ANSWER, ANSWER);
        self.copy_side(at, CopySide { duty, writes: true, home, space, first, bytes, align })?;
        if self.slice.contents.has(Space::Shared) {
            let address = home.first() + first;
            let symbol = self.facts.symbolics.token(
                Origin::Unsupported(at.pc),
                address,
                self.requests.count,
            );
            self.requests.answers.insert(symbol, taken);
            let shared = &mut self.ctas[home.index()].shared;
            shared.store(first, KNOWN, Lane::open(symbol));
            shared.store(first + u64::from(KNOWN), KNOWN, Lane::open(symbol));
        }
        self.copied(at, object, ANSWER)
    }

    /// Runs a load of 128 bits, where there are answers. Returns whether there are.
    pub(super) fn load_answers(&mut self, piece: &Piece<'_>) -> bool {
        if self.requests.answers.is_empty() || piece.space != Space::Shared {
            return false;
        }
        let known = self.load_row(piece, 0, KNOWN);
        let upper = self.load_row(piece, KNOWN.into(), KNOWN);
        let is_whole = |lane: usize| known.whole(lane) == upper.whole(lane);
        let are_whole = lanes(piece.lanes).all(is_whole);
        let value = if are_whole && self.are_answers(&known, piece.lanes) {
            known
        } else {
            self.open_like(&known, piece.pc, piece.lanes)
        };
        if let Some(Some(dest)) = piece.instr.dests.first() {
            self.warps[piece.warp].write(*dest, value, piece.lanes);
        }
        true
    }

    /// An open value that is open because lanes of another one are, or because of an instruction.
    fn open_like(&mut self, value: &Value, pc: Pc, mask: LaneMask) -> Value {
        let source = value.symbol(mask).and_then(|own| self.facts.symbolics.origin(own));
        let origin = source.unwrap_or(Origin::Unsupported(pc));
        Value::open(self.facts.symbolics.any_number(origin))
    }

    /// Whether the parts of answers that are known are in some lanes of a value.
    fn are_answers(&self, value: &Value, mask: LaneMask) -> bool {
        let is_answer = |lane: usize| {
            let Lane { bits, symbol } = value.whole(lane);
            bits == 0 && symbol.is_some_and(|symbol| self.requests.answers.contains_key(&symbol))
        };
        lanes(mask).all(is_answer)
    }

    /// Reads answers: whether a request succeeded, or the coordinates of the first cta whose work is taken over.
    pub(super) fn read_answers(
        &mut self,
        warp: WarpId,
        pc: Pc,
        instr: &Instr,
        mask: LaneMask,
    ) -> OrStop<()> {
        let unsupported = || doubt(DoubtKind::Unsupported, instr.place, None);
        let Some(opcode) = instr.decoded().map(|own| own.row.opcode) else { return Ok(()) };
        let answer = self.source(warp, pc, 0);
        if !self.are_answers(&answer, mask) {
            let open = self.open_like(&answer, pc, mask);
            for dest in instr.dests.iter().flatten() {
                self.warps[warp].write(*dest, open.clone(), mask);
            }
            return Ok(());
        }
        let taken = |lane: usize| {
            let own = answer.whole(lane).symbol.filter(|_| mask >> lane & 1 == 1)?;
            self.requests.answers.get(&own).copied().flatten()
        };
        let values: Vec<Value> = match opcode {
            Opcode::IsCanceled => {
                vec![Value::from_lanes(|lane| Lane::known(u64::from(taken(lane).is_some())))]
            }
            _ if lanes(mask).any(|lane| taken(lane).is_none()) => return Err(unsupported()),
            _ => {
                let at = |lane: usize, part: usize| match taken(lane) {
                    Some(cluster) => u64::from(self.inputs.clustering().first(cluster).at[part]),
                    None => 0,
                };
                let part = |part| Value::from_lanes(|lane| Lane::known(at(lane, part)));
                match opcode {
                    Opcode::FirstCtaidX => vec![part(0)],
                    Opcode::FirstCtaidY => vec![part(1)],
                    Opcode::FirstCtaidZ => vec![part(2)],
                    _ => (0..3).map(part).collect(),
                }
            }
        };
        for (dest, value) in instr.dests.iter().zip(values) {
            if let Some(dest) = dest {
                self.warps[warp].write(*dest, value, mask);
            }
        }
        Ok(())
    }
}
