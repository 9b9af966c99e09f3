//! Results of floating-point arithmetic that are told apart: numbered by operation and operands, in little memory, since
//! there are as many as lanes execute. Two with one number are equal; nothing else is known of them.

use foldhash::fast::RandomState;
use indexmap::IndexSet;

use super::term::{Lane, TermId};

/// An operation by its place in `Numbers`, and operands by their codes.
type Key = (u32, [u32; Numbers::OPERANDS]);

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    all: IndexSet<Key, RandomState>,
    /// Instructions with the bits of their results.
    operations: IndexSet<(u64, u32), RandomState>,
    /// Operands that are no term alone.
    others: IndexSet<Lane, RandomState>,
}

/// Beyond this many no more are told apart.
const MAX: usize = 1 << 21;

/// Codes of operands: a term by its number, below this; any other operand by its place from here on.
const OTHERS: u32 = 1 << 30;
const NOTHING: u32 = u32::MAX;

impl Numbers {
    /// Operands that an operation may have.
    pub(super) const OPERANDS: usize = 3;

    /// The number of a result; `None`: there are too many, or too many operands.
    pub(super) fn find(&mut self, opcode: u64, bits: u32, operands: &[Lane]) -> Option<u32> {
        let (operation, _) = self.operations.insert_full((opcode, bits));
        let mut codes = [NOTHING; Self::OPERANDS];
        for (at, operand) in operands.iter().enumerate() {
            *codes.get_mut(at)? = self.code(*operand)?;
        }
        let key = (u32::try_from(operation).ok()?, codes);
        let number = if self.all.len() < MAX {
            self.all.insert_full(key).0
        } else {
            self.all.get_index_of(&key)?
        };
        u32::try_from(number).ok()
    }

    /// The bits of a result.
    pub(super) fn bits(&self, number: u32) -> Option<u32> {
        let (operation, _) = self.all.get_index(number as usize)?;
        Some(self.operations.get_index(*operation as usize)?.1)
    }

    /// The first open operand of a result.
    pub(super) fn open_operand(&self, number: u32) -> Option<TermId> {
        let (_, codes) = self.all.get_index(number as usize)?;
        codes.iter().find_map(|code| self.operand(*code)?.term)
    }

    fn code(&mut self, operand: Lane) -> Option<u32> {
        match operand {
            Lane { bits: 0, term: Some(id) } => Some(id.0),
            other => Some(OTHERS + u32::try_from(self.others.insert_full(other).0).ok()?),
        }
    }

    fn operand(&self, code: u32) -> Option<Lane> {
        match code.checked_sub(OTHERS) {
            _ if code == NOTHING => None,
            Some(other) if code < TermId::NUMBERS => self.others.get_index(other as usize).copied(),
            _ => Some(Lane::open(TermId(code))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_operations_on_equal_operands_have_one_number() {
        let mut numbers = Numbers::default();
        let (open, sum) = (Lane::open(TermId(3)), Lane { bits: 4, term: Some(TermId(3)) });
        let first = numbers.find(7, 32, &[open, Lane::known(0)]);
        assert_eq!(numbers.find(7, 32, &[open, Lane::known(0)]), first);
        let others: [(u64, u32, &[Lane]); 6] = [
            (8, 32, &[open, Lane::known(0)]),
            (7, 64, &[open, Lane::known(0)]),
            (7, 32, &[Lane::known(0), open]),
            (7, 32, &[sum, Lane::known(0)]),
            (7, 32, &[open]),
            (7, 32, &[open, Lane::known(0), Lane::known(0)]),
        ];
        for (opcode, bits, operands) in others {
            assert_ne!(numbers.find(opcode, bits, operands), first);
        }
        let second = numbers.find(9, 64, &[Lane::known(1), Lane::open(TermId::number(0))]).unwrap();
        assert_eq!(numbers.bits(second), Some(64));
        assert_eq!(numbers.open_operand(second), Some(TermId::number(0)));
        assert_eq!(numbers.find(7, 32, &[open; 4]), None);
    }
}
