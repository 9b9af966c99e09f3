//! What symbolic values are computed by. Two values of one operator and equal operands are equal.

use crate::flow::Pc;
use crate::ptx::isa::Meaning;

/// An operation on values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Operator {
    /// A result of an instruction, of which some have two.
    Instruction {
        meaning: Meaning,
        /// Where the assembler may compute it in one way or another, as part of a fused multiply-add, say: the
        /// instruction. Only its own results are equal then.
        only_at: Option<Pc>,
        result: u8,
    },
    /// Bits of the first operand, from the second operand on, as many as the third says.
    Unpacked,
    /// The operands side by side, the first in the low bits.
    Packed,
    /// The other truth value.
    Not,
    /// The first operand where the third, a condition, holds; else the second.
    Chosen,
    /// What global memory held before the launch at the operand.
    Loaded,
}

/// An operator by its place among those of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct OperatorId(u32);

impl OperatorId {
    pub(super) fn at(place: usize) -> Self {
        Self(u32::try_from(place).expect("a program has fewer instructions"))
    }
}
