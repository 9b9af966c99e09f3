//! What might happen: where lanes stand behind branches and guards on open conditions.

use std::cell::Cell;
use std::rc::Rc;

use super::stop::{Stop, undecided};
use crate::emulate::value::guard;
use crate::emulate::value::guard::{BranchSide, Guards};
use crate::emulate::value::lane::LaneMask;
use crate::emulate::value::origin::Origin;
use crate::emulate::value::symbolics::Symbolics;
use crate::flow::{BlockId, PlaceId};

/// Branches on open conditions within each other.
pub(super) const MAX_DEPTH: u32 = 128;

/// The machine runs what may not happen.
#[derive(Clone, Debug)]
pub(super) struct MayExecute {
    /// Where the open condition comes from.
    pub(super) origin: Origin,
    /// The branch.
    pub(super) place: PlaceId,
    /// The outermost branch around it.
    pub(super) outermost: PlaceId,
    /// Branches on open conditions around it, itself included.
    pub(super) depth: u32,
    /// Whether the lanes that stood together at the branch go the same way, whichever it is.
    pub(super) was_convergent: bool,
    /// Whether these are all lanes of the warp.
    pub(super) is_whole: bool,
    /// Blocks at which the sides end.
    pub(super) stops: Vec<BlockId>,
    /// Headers of loops whose every iteration is run at once.
    pub(super) widened: Vec<BlockId>,
    /// Those of them that lanes go round together.
    pub(super) uniform_loops: Vec<UniformLoop>,
    /// How the open conditions around it are decided.
    pub(super) decided: Vec<Rc<BranchSide>>,
}

/// A loop that lanes go round together.
#[derive(Clone, Debug)]
pub(super) struct UniformLoop {
    pub(super) header: BlockId,
    pub(super) lanes: LaneMask,
    /// Atomics that the cta had executed before, and exchanges of the warp: what they return later stands for another
    /// value in each iteration.
    pub(super) since: (u64, u32),
    /// Some branch may leave it for some of them alone: nothing may be exchanged.
    pub(super) is_torn: Rc<Cell<bool>>,
}

impl MayExecute {
    /// A single instruction under an open guard.
    pub(super) fn guard(origin: Origin, place: PlaceId) -> Self {
        Self {
            origin,
            place,
            outermost: place,
            depth: 0,
            was_convergent: false,
            is_whole: false,
            stops: Vec::new(),
            widened: Vec::new(),
            uniform_loops: Vec::new(),
            decided: Vec::new(),
        }
    }

    /// The same in the iterations of loops that are run at once around it.
    pub(super) fn within(self, outer: Option<&Self>) -> Self {
        let Some(outer) = outer else { return self };
        let (widened, together) = (outer.widened.clone(), outer.uniform_loops.clone());
        let decided = outer.decided.clone();
        Self { outermost: outer.outermost, widened, uniform_loops: together, decided, ..self }
    }

    /// The same on one side of a condition.
    pub(super) fn on(mut self, side: BranchSide) -> Self {
        self.decided.push(Rc::new(side));
        self
    }

    /// What has to hold for a lane to be here.
    pub(super) fn guards(&self, lane: usize, symbolics: &Symbolics) -> Guards {
        guard::of(&self.decided, lane, self.is_convergent(), symbolics)
    }

    /// Whether the lanes that stood together at the branch, and at those around it, still do.
    pub(super) fn is_convergent(&self) -> bool {
        self.was_convergent
            && self.uniform_loops.iter().all(|uniform_loop| !uniform_loop.is_torn.get())
    }

    /// The same, in the same iteration of all loops.
    pub(super) fn is_in_step(&self) -> bool {
        self.was_convergent && self.uniform_loops.is_empty()
    }

    /// Whether every iteration of some loop is run at once.
    pub(super) fn is_widened(&self) -> bool {
        !self.widened.is_empty()
    }

    /// Something here must be known to happen.
    pub(super) fn undecided(&self) -> Stop {
        undecided(self.place, self.outermost, self.origin)
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
