//! What the machine keeps of mbarrier objects, bulk copies and products of matrices, beside the objects themselves.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use super::peeks::Peeks;
use super::stop::MAX_AGENTS;
use crate::emulate::sync::group::CtaRank;
use crate::emulate::sync::mbarrier::MbarrierId;
use crate::emulate::value::lane::{LaneMask, SymbolId};
use crate::emulate::value::warp_id::WarpId;
use crate::flow::{BlockId, Pc, PlaceId, Reg};

/// What an agent does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum AgentDuty {
    /// The copies whose bytes are counted at an object.
    Object(MbarrierId),
    /// What is counted at an object at some time after its instruction.
    Counts(MbarrierId),
    /// The reads of the copies of a thread that it puts into bulk groups.
    Reads(WarpId, LaneMask),
    /// The writes of these copies.
    Writes(WarpId, LaneMask),
    /// The asynchronous copies of the lanes of a warp.
    Copies(WarpId),
    /// The initializations of objects by the lanes of a warp.
    Inits(WarpId),
    /// The reads of the products of matrices that a warp has a part in.
    Multiplies(WarpId),
    /// What a warp loads from tensor memory.
    TensorLoads(WarpId),
    /// What a warp stores to tensor memory.
    TensorStores(WarpId),
    /// That tensor memory of a cta is allocated from a column on.
    TensorAllocates(CtaRank, u64),
    /// That the allocation is freed which begins there.
    TensorFrees(CtaRank, u64),
    /// What a thread makes the tensor core do in tensor memory.
    Tensor(WarpId, LaneMask),
}

/// The phase that a peek asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Peeked {
    /// The object; `None` if it is another one since.
    pub(super) object: Option<MbarrierId>,
    /// The number of the phase.
    pub(super) phase: u64,
    /// Whether those that see the phase complete learn what its arrivals release.
    pub(super) acquires: bool,
    /// The peek.
    pub(super) pc: Pc,
}

/// What is known of waits, states and agents.
#[derive(Clone, Debug, Default)]
pub(super) struct PhaseState {
    /// Whether the program has a fence that orders memory, once it has mattered.
    pub(super) has_fence: Option<bool>,
    /// Whether fences might publish initializations, once it has mattered.
    pub(super) publishes: Option<bool>,
    /// Whether the program makes objects follow asynchronous copies, once it has mattered.
    pub(super) follows: Option<bool>,
    /// For each block that ends with a wait for a phase, whether the wait is only ever tried again.
    pub(super) spins: BTreeMap<BlockId, bool>,
    /// The peeks of the program, once a test has been reached that might be one.
    pub(super) peeks: Option<Rc<Peeks>>,
    /// For each register to which results of peeks are carried: the peeks, by lanes.
    pub(super) carried: HashMap<(WarpId, Reg), Vec<(LaneMask, Peeked)>>,
    /// For each symbolic value of a state that an arrival returned: the object, and a number of the phase.
    pub(super) tokens: BTreeMap<SymbolId, (MbarrierId, u64)>,
    /// The agents of bulk copies, numbered.
    pub(super) agents: BTreeMap<AgentDuty, usize>,
    /// Whether there are more of them than are kept apart.
    pub(super) has_too_many: bool,
    /// Tensor copies whose boxes are not known.
    pub(super) boxless: Vec<BoxlessCopy>,
    /// The objects at which bytes of boxes were counted that follow from what phases expect, with the tensor maps.
    pub(super) derived: BTreeSet<(MbarrierId, u64)>,
}

/// A tensor copy whose box is not known.
#[derive(Clone, Copy, Debug)]
pub(super) struct BoxlessCopy {
    /// The address of the tensor map.
    pub(super) map: u64,
    /// Number of boxes that it moves.
    pub(super) boxes: u64,
    /// The object at which its bytes are counted, with the number of the phase; `None` if it belongs to a bulk group.
    pub(super) counted: Option<(MbarrierId, u64)>,
    /// The place of the instruction.
    pub(super) place: PlaceId,
}

impl PhaseState {
    /// The agent for a duty. `warps`: the number of warps, behind whose ids those of agents begin.
    pub(super) fn agent(&mut self, duty: AgentDuty, warps: usize) -> WarpId {
        let next = self.agents.len();
        let number = *self.agents.entry(duty).or_insert(next);
        self.has_too_many |= number >= MAX_AGENTS;
        // Beyond the limit, agents are mixed up: the run ends.
        WarpId::new(warps + number.min(MAX_AGENTS))
    }
}
