//! What the result of an instruction that is not followed depends on.

use super::expr::Expr;
use crate::flow::{BlockId, Instr, Operand};
use crate::ptx::isa::{Effect, Modifier, Opcode};

/// All lanes of a warp, as a mask.
const ALL_LANES: u64 = 0xffff_ffff;

/// What a result depends on.
#[derive(Clone, Debug, Default)]
pub(super) enum ResultSource {
    /// On these operands only.
    Operands(Vec<Expr>),
    /// On what all threads of the cta bring to a barrier at which they meet: they have one result, if they are in the same
    /// iterations of these loops, which contain the barrier.
    Cta(Vec<BlockId>),
    /// On what all lanes of the warp bring to an exchange at which they meet: they have one result, if they are
    /// in the same iterations of the loops around.
    Warp,
    /// On more than that.
    #[default]
    Other,
}

impl ResultSource {
    /// What the results of a barrier or of an exchange depend on. `last`: its last operand, if that is a number. `loops`: those
    /// that contain it.
    pub(super) fn of_meeting(instr: &Instr, last: Option<u64>, loops: &[BlockId]) -> Self {
        let is_whole = instr.guard.is_none() && is_of_all(instr, last);
        let is_vote = |opcode: Opcode| matches!(opcode, Opcode::Vote | Opcode::Redux);
        match instr.effect() {
            Effect::Barrier if is_whole => Self::Cta(loops.to_vec()),
            Effect::Exchange
                if is_whole && instr.decoded().is_some_and(|own| is_vote(own.row.opcode)) =>
            {
                Self::Warp
            }
            _ => Self::Other,
        }
    }

    /// The operands on which a result depends, if these are all.
    pub(super) fn operands(&self) -> Option<&Vec<Expr>> {
        match self {
            Self::Operands(operands) => Some(operands),
            _ => None,
        }
    }
}

/// Whether all threads of the cta, or all lanes of the warp, take part if they come there together: at a barrier without a
/// count and with a fixed name, or at an exchange that waits for all lanes. `last`: the last operand, if it is a number.
pub(super) fn is_of_all(instr: &Instr, last: Option<u64>) -> bool {
    if instr.effect() != Effect::Barrier {
        return instr.waits() && last.is_some_and(|mask| mask & ALL_LANES == ALL_LANES);
    }
    let Some(decoded) = instr.decoded() else { return false };
    let operands = 1 + usize::from(!instr.dests.is_empty());
    let is_named = matches!(instr.sources.first(), Some(Operand::Constant(name)) if *name < 16);
    is_named && instr.sources.len() == operands && !decoded.modifiers.has(Modifier::Arrive)
}
