//! Why the machine could not go on.

use crate::emulate::value::origin::Origin;
use crate::flow::PlaceId;

/// Why the machine could not go on: what was open although it had to be known, or which limit was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DoubtKind {
    /// The condition of a branch, or the guard of an access or barrier.
    Branch,
    /// An address that can lie in any state space.
    Address,
    /// A barrier's name or count, or the mask of a warp instruction.
    Barrier,
    /// An instruction whose effect is not modelled.
    Unsupported,
    /// Which warps are given the registers that they wait for.
    RegisterPool,
    /// Which ctas run, although some work that could be taken over was not asked for.
    Takeovers,
    /// Which warps are given the columns of tensor memory that they ask for.
    ColumnPool,
    /// Some threads of a warpgroup do not come together to an instruction that the warpgroup has to execute.
    Warpgroup,
    /// Some threads of a warp do not come together to an instruction that the warp has to execute, or do not give an operand alike.
    Warp,
    /// The bytes that a tensor copy moves with the tensor map at this generic address.
    Box(u64),
    /// Whether lanes synchronize that exchange values at two different instructions.
    ExchangeMask,
    /// The target of a jump or call, which is none of the named ones.
    Target,
    /// The limit of instructions was reached.
    Fuel,
    /// The cta has more registers than the limit.
    Registers,
    /// The limit of contents of memory was reached.
    Memory,
    /// The limit of asynchronous work that is kept apart was reached.
    Agents,
}

impl DoubtKind {
    /// Whether the limit of instructions or of memory was reached, so that no other warp or cta is run.
    pub const fn is_limit(self) -> bool {
        matches!(self, Self::Fuel | Self::Memory | Self::Agents)
    }

    /// Whether the limit of memory was reached.
    pub const fn is_memory(self) -> bool {
        matches!(self, Self::Memory)
    }
}

/// Why, and where, the machine could not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Doubt {
    /// Why it could not.
    pub kind: DoubtKind,
    /// The place of the instruction.
    pub place: PlaceId,
    /// The origin of the open value.
    pub origin: Option<Origin>,
    /// The branch or guard whose open condition, once decided, lets the machine go on.
    pub split: Option<PlaceId>,
}

impl Doubt {
    /// Whether an instruction is the reason, so that nothing that the launch gives lets the machine go on.
    pub(super) const fn is_unsupported(&self) -> bool {
        matches!(self.kind, DoubtKind::Unsupported)
            || matches!(self.origin, Some(Origin::Unsupported(_)))
    }
}
