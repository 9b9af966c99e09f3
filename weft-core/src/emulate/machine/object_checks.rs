//! Checks of what is not done at mbarrier objects but might reach them: other accesses, and loops whose trip count is open.

use super::event::{Access, Events, Fault, FaultKind, OrderQuery};
use super::faults::fault;
use super::open_loop::inside;
use super::piece::Piece;
use super::state::Machine;
use super::stop::OrStop;
use crate::emulate::sync::group::CtaRank;
use crate::emulate::sync::mbarrier::Mbarriers;
use crate::emulate::value::lane::{WARP, lanes};
use crate::emulate::value::origin::Origin;
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{BlockId, Instr};
use crate::ptx::Space;
use crate::ptx::isa::{Effect, Opcode};

impl<E: Events + OrderQuery> Machine<'_, E> {
    /// Fails if a loop whose trip count is open uses mbarrier objects, multiplies matrices or makes groups of bulk copies or
    /// products: how many phases pass, and how many groups follow a copy, depends on it.
    pub(super) fn check_mbarriers(&self, warp: WarpId, header: BlockId) -> OrStop<()> {
        let uses = |instr: &Instr| match instr.effect() {
            Effect::BulkCopy
            | Effect::Multiply
            | Effect::TensorMemory
            | Effect::TakeOver
            | Effect::Mbarrier
            | Effect::MbarrierWait => true,
            _ => {
                let commits = [Opcode::CpAsyncBulkCommit, Opcode::WgmmaCommit];
                instr.decoded().is_some_and(|own| commits.contains(&own.row.opcode))
            }
        };
        let is_used = inside(self.program, header).any(|(_, instr)| uses(instr));
        if is_used { Err(self.open_trips(warp, header)) } else { Ok(()) }
    }

    /// Emits a fault for the first lane of an access to the memory of a cta that reaches an object which is initialized: only the instructions of
    /// mbarrier objects can (PTX ISA §9.7.13.15.3).
    pub(super) fn check_objects(&mut self, cta: CtaRank, access: &Access<'_>) {
        let objects = &self.ctas[cta.index()].mbarriers;
        if access.space != Space::Shared || objects.is_empty() {
            return;
        }
        let among = |first, bytes| objects.among(cta, first, bytes).is_some();
        let (least, most) = access.addresses.ends(access.lanes);
        let span = most.saturating_sub(least).saturating_add(access.bytes.into());
        if !among(least, span) {
            return;
        }
        let reaches = |lane: &usize| among(access.addresses.bits_of(*lane), access.bytes.into());
        if let Some(lane) = lanes(access.lanes).find(reaches) {
            self.events.fault(fault(access, FaultKind::Object, lane));
        }
    }

    /// Emits a fault if an access at an open address might reach an object that is initialized. `bases`: the variables that
    /// it might access, `None` if that is not known.
    pub(super) fn check_open_objects(&mut self, piece: &Piece<'_>, bases: &[Option<usize>]) {
        let &Piece { warp, pc, space, addresses, lanes: mask, .. } = piece;
        let objects = &self.ctas[piece.home.index()].mbarriers;
        if space != Space::Shared || objects.is_empty() {
            return;
        }
        let of =
            |first: u64| self.program.shared_variable(first, first + u64::from(Mbarriers::BYTES));
        let is_reached = |first: u64| bases.contains(&None) || bases.contains(&of(first));
        if !objects.addresses().any(is_reached) {
            return;
        }
        let origin = addresses.symbol(mask).and_then(|symbol| self.facts.symbolics.origin(symbol));
        self.events.fault(Fault {
            kind: FaultKind::Object,
            pc,
            warp,
            lane: mask.trailing_zeros() as usize % WARP,
            space,
            address: None,
            bytes: piece.bytes(),
            access: self.own_kind(piece.decoded),
            condition: Some(origin.unwrap_or(Origin::Register)),
        });
    }
}
