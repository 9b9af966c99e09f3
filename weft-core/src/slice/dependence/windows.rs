//! Generic addresses: PTX does not state where the window of a state space begins, and an address in the space is added
//! to the window's first address (PTX ISA §6.4.1.1). The generic address of a base is a base of its own, so that it
//! does not cancel out with the address of the same thing in its space.

use super::value::{ALL, Dependence, MAX_BASES};
use crate::ptx::Space;

/// The first address of every window has more bits than this.
const LEAST_BITS: u8 = 32;

/// The window of one space, and the generic addresses of the bases in the space.
pub(super) struct Window {
    pub(super) space: Space,
    /// The base for the first address of the window.
    pub(super) first: usize,
    /// Pairs of a base in the space and the base for its generic address.
    pub(super) generic: Vec<(usize, usize)>,
}

/// The set of the bases that share the last index: they cannot be distinguished.
const LAST: u128 = 1 << (MAX_BASES - 1);

fn bit(base: usize) -> u128 {
    1 << base.min(MAX_BASES - 1)
}

impl Window {
    /// Returns the generic address for an address in the space.
    pub(super) fn entered(&self, dependence: Dependence) -> Dependence {
        let pairs = self.generic.iter().map(|(inside, generic)| (bit(*inside), bit(*generic)));
        let (known, based) = replaced(dependence.based, pairs);
        let first = if dependence.is_plain { bit(self.first) } else { 0 };
        let entered =
            Dependence { based: based | first, is_plain: false, width: ALL, ..dependence };
        self.read_unless(dependence.based & !known == 0, entered)
    }

    /// Returns the address in the space for a generic address.
    pub(super) fn left(&self, dependence: Dependence) -> Dependence {
        let pairs = self.generic.iter().map(|(inside, generic)| (bit(*generic), bit(*inside)));
        let (known, based) = replaced(dependence.based, pairs);
        let first = bit(self.first) & !LAST;
        let is_plain = dependence.is_plain || dependence.based & first != 0;
        let left = Dependence { based: based & !first, is_plain, width: ALL, ..dependence };
        self.read_unless(!dependence.is_plain && dependence.based & !(known | first) == 0, left)
    }

    /// Returns whether a generic address is in the space, which is open only for a number with enough bits.
    pub(super) fn asked(&self, dependence: Dependence) -> Dependence {
        let is_number = dependence.is_plain && dependence.width > LEAST_BITS;
        self.read_unless(!is_number, Dependence::number(1))
    }

    /// Returns the value; if `holds` is false, made dependent on where the window begins.
    fn read_unless(&self, holds: bool, dependence: Dependence) -> Dependence {
        if holds { dependence } else { dependence.reading(bit(self.first), ALL, ALL) }
    }
}

/// Returns the first bases of the pairs that occur in a set, and the set with these replaced by the second bases of
/// their pairs.
fn replaced(based: u128, pairs: impl Iterator<Item = (u128, u128)>) -> (u128, u128) {
    let (mut from, mut to) = (0, 0);
    for (one, other) in pairs.filter(|(own, _)| based & own & !LAST != 0) {
        from |= one;
        to |= other;
    }
    (from, based & !from | to)
}
