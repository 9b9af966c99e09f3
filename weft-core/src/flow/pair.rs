//! Addresses in the shared memory of the first cta of a pair (`.cta_group::2`, PTX ISA §9.7.16.5). On a device, the rank of a
//! cta lies in the upper bits of its shared addresses, and kernels clear the lowest of these bits to reach the mbarriers of
//! the cta with the even rank. The addresses here have another form ([`peer_address`]): what clears that bit in an address that
//! is used for mbarriers alone is linked as what makes the peer address.
//!
//! [`peer_address`]: super::peer_address

use std::collections::BTreeMap;
use std::sync::Arc;

use super::error::LinkError;
use super::linker::{Frame, LinkedLine, Linker, known};
use super::program::{Condition, Dests, Instr, Operand, Operation, PlaceId, Reg};
use super::special::Special;
use crate::ptx::isa::{Decoded, Effect, Opcode};
use crate::ptx::{Instruction, ParsedOperand};

/// Whether a mask clears the lowest bit of the rank in the addresses of a device, and at most the lowest bits besides.
const fn clears_rank(mask: u64) -> bool {
    mask >> 24 & 0xff == 0xfe && mask & 0x00ff_ff00 == 0x00ff_ff00
}

/// An operand that is zero unless `settle` finds that the sum is used for mbarriers alone.
const LEADER: Operand = Operand::Special(Special::PairLeader);

impl<'m> Linker<'m> {
    /// Links an instruction that clears the bit. `guard` and `place`: those of the instruction. Returns whether it is one.
    pub(super) fn leader_address(
        &mut self,
        frame: &mut Frame<'m>,
        instruction: &'m Instruction,
        decoded: &Arc<Decoded>,
        (guard, place): (Option<Condition>, PlaceId),
    ) -> Result<bool, LinkError> {
        let is_and = decoded.row.opcode == Opcode::And
            && decoded.ty().bits() == 32
            && self.linked.clusters.are_of_several();
        let operands = frame.body.operands(&instruction.operands);
        let Some(ParsedOperand::Integer(mask)) = operands.get(2).filter(|_| is_and) else {
            return Ok(false);
        };
        if !clears_rank(*mask) {
            return Ok(false);
        }
        let own = self.operands(frame, instruction, Some(decoded))?;
        let masked = self.new_register();
        let first = Instr { guard, place, dests: Dests::from_elem(Some(masked), 1), ..own.clone() };
        self.push(LinkedLine::Instr(first), instruction.span)?;
        let operation = Operation::Known(Arc::new(known("add.u32")));
        let sources = Box::new([Operand::Register(masked), LEADER]);
        let second = Instr { operation, guard, sources, place, ..own };
        self.push(LinkedLine::Instr(second), instruction.span)?;
        Ok(true)
    }
}

/// Makes sums with [`LEADER`] plain ones unless they are addresses of mbarriers and nothing else.
pub(super) fn settle(code: &mut [Instr]) {
    let is_sum = |instr: &Instr| instr.sources.get(1) == Some(&LEADER);
    let mut only: BTreeMap<Reg, bool> = BTreeMap::new();
    for instr in code.iter().filter(|instr| is_sum(instr)) {
        only.extend(instr.dests.iter().flatten().map(|register| (*register, true)));
    }
    if only.is_empty() {
        return;
    }
    for instr in code.iter() {
        let is_object = matches!(instr.effect(), Effect::Mbarrier | Effect::BulkCopy);
        let base = instr.address.and_then(|address| address.base).filter(|_| is_object);
        let is_read_otherwise = |register: &Reg| {
            let reads = instr.reads().filter(|read| read == register).count();
            reads > usize::from(base == Some(*register))
        };
        let is_written_otherwise =
            |register: &Reg| !is_sum(instr) && instr.dests.contains(&Some(*register));
        for (register, is_only) in &mut only {
            *is_only &= !is_read_otherwise(register) && !is_written_otherwise(register);
        }
    }
    for instr in code.iter_mut().filter(|instr| is_sum(instr)) {
        let is_kept = instr.dests.iter().flatten().all(|register| only[register]);
        if !is_kept {
            instr.sources[1] = Operand::Constant(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_clear_the_lowest_bit_of_the_rank() {
        for mask in [0xfeff_ffff, 0xfeff_fff8, 0xffff_ffff_feff_fff8] {
            assert!(clears_rank(mask));
        }
        for mask in [0xffff_ffff, 0xfcff_ffff, 0xfe00_0000, 0x00ff_ffff] {
            assert!(!clears_rank(mask));
        }
    }
}
