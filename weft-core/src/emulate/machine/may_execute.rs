//! May-execute: lanes run behind branches and guards on open conditions, so what they do might not happen.

use std::cell::Cell;
use std::rc::Rc;

use super::stop::{Stop, undecided};
use crate::emulate::value::guard;
use crate::emulate::value::guard::{BranchRun, BranchSide, Guards};
use crate::emulate::value::lane::LaneMask;
use crate::emulate::value::origin::Origin;
use crate::emulate::value::symbolics::Symbolics;
use crate::flow::{BlockId, PlaceId};

/// Most branches on open conditions that are nested in each other.
pub(super) const MAX_DEPTH: u32 = 128;

/// The side of an open condition on which the machine runs lanes.
#[derive(Clone, Debug)]
pub(super) struct OpenSide {
    /// The origin of the open condition.
    pub(super) origin: Origin,
    /// The place of the branch or guard.
    pub(super) place: PlaceId,
    /// The place of the outermost branch on an open condition around it.
    pub(super) outermost: PlaceId,
    /// Number of branches on open conditions around it, itself included; 0 for a guard.
    pub(super) depth: u32,
    /// Whether lanes that were converged at the branch take the same side, whichever it is.
    pub(super) was_convergent: bool,
    /// Whether these are all lanes of the warp that have not ended.
    pub(super) is_whole: bool,
    /// Blocks at which sides end.
    pub(super) stops: Vec<BlockId>,
    /// Headers of the loops of which all iterations run at once.
    pub(super) widened: Vec<BlockId>,
    /// Those of them whose iterations lanes run together.
    pub(super) uniform_loops: Vec<UniformLoop>,
    /// For each open condition around it, the side that is taken.
    pub(super) decided: Vec<Rc<BranchSide>>,
}

/// A loop whose iterations lanes run together.
#[derive(Clone, Debug)]
pub(super) struct UniformLoop {
    pub(super) header: BlockId,
    pub(super) lanes: LaneMask,
    /// Atomics that the cta, and exchanges that the warp, had executed before. What later ones return stands for
    /// another value in each iteration.
    pub(super) since: (u64, u32),
    /// Whether some branch might leave the loop for only some of the lanes: then nothing can be exchanged in it.
    pub(super) is_torn: Rc<Cell<bool>>,
}

impl OpenSide {
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

    /// Adds the loops whose iterations run at once around it, and the sides that are taken there.
    pub(super) fn within(self, outer: Option<&Self>) -> Self {
        let Some(outer) = outer else { return self };
        let (widened, uniform_loops) = (outer.widened.clone(), outer.uniform_loops.clone());
        let decided = outer.decided.clone();
        Self { outermost: outer.outermost, widened, uniform_loops, decided, ..self }
    }

    /// Adds a side of a condition.
    pub(super) fn on(mut self, side: BranchSide) -> Self {
        self.decided.push(Rc::new(side));
        self
    }

    /// The guards under which a lane is here.
    pub(super) fn guards(&self, lane: usize, symbolics: &Symbolics) -> Guards {
        guard::of(&self.decided, lane, self.is_convergent(), symbolics)
    }

    /// Whether lanes that were converged at the branch, and at the branches around it, still are.
    pub(super) fn is_convergent(&self) -> bool {
        self.was_convergent
            && self.uniform_loops.iter().all(|uniform_loop| !uniform_loop.is_torn.get())
    }

    /// As `is_convergent`, and all lanes are in the same iteration of all loops.
    pub(super) fn is_in_step(&self) -> bool {
        self.was_convergent && self.uniform_loops.is_empty()
    }

    /// Whether all iterations of some loop run at once.
    pub(super) fn is_widened(&self) -> bool {
        !self.widened.is_empty()
    }

    /// Stops because it has to be known whether something here happens.
    pub(super) fn undecided(&self) -> Stop {
        undecided(self.place, self.outermost, self.origin)
    }

    /// The execution of the innermost branch on an open condition, and the side that was taken there.
    pub(super) fn run(&self) -> Option<BranchRun> {
        self.decided.last().map(|side| side.run)
    }

    /// Whether it is only one instruction, under an open guard.
    pub(super) const fn is_guard(&self) -> bool {
        self.depth == 0
    }

    /// Whether the side ends at a block.
    pub(super) fn stops_at(&self, block: BlockId) -> bool {
        self.stops.contains(&block)
    }
}
