//! Generic addresses: the window of a state space begins where no PTX says, and an address in the space is added to it
//! (PTX ISA §6.4.1.1). The generic address of a base is a base of its own, so that it does not cancel with the
//! address of the same thing in its space.

use super::value::{ALL, Dependence, MAX_BASES};
use crate::ptx::Space;

/// No window begins below an address of more bits than this.
const LEAST_BITS: u8 = 32;

/// The bases of one space.
pub(super) struct Window {
    pub(super) space: Space,
    /// The base that is its first byte.
    pub(super) first: usize,
    /// By base in the space, that of its generic address.
    pub(super) generic: Vec<(usize, usize)>,
}

/// The bases that share the last index are never known apart.
const LAST: u128 = 1 << (MAX_BASES - 1);

fn bit(base: usize) -> u128 {
    1 << base.min(MAX_BASES - 1)
}

impl Window {
    /// The generic address of an address in the space.
    pub(super) fn entered(&self, dependence: Dependence) -> Dependence {
        let pairs = self.generic.iter().map(|(inside, generic)| (bit(*inside), bit(*generic)));
        let (known, based) = replaced(dependence.based, pairs);
        let first = if dependence.is_plain { bit(self.first) } else { 0 };
        let entered =
            Dependence { based: based | first, is_plain: false, width: ALL, ..dependence };
        self.read_unless(dependence.based & !known == 0, entered)
    }

    /// The address in the space of a generic address.
    pub(super) fn left(&self, dependence: Dependence) -> Dependence {
        let pairs = self.generic.iter().map(|(inside, generic)| (bit(*generic), bit(*inside)));
        let (known, based) = replaced(dependence.based, pairs);
        let first = bit(self.first) & !LAST;
        let is_plain = dependence.is_plain || dependence.based & first != 0;
        let left = Dependence { based: based & !first, is_plain, width: ALL, ..dependence };
        self.read_unless(!dependence.is_plain && dependence.based & !(known | first) == 0, left)
    }

    /// Whether a generic address is one of the space: a number might be.
    pub(super) fn asked(&self, dependence: Dependence) -> Dependence {
        let is_number = dependence.is_plain && dependence.width > LEAST_BITS;
        self.read_unless(!is_number, Dependence::number(1))
    }

    /// Unless this holds, the value depends on where the window begins.
    fn read_unless(&self, holds: bool, dependence: Dependence) -> Dependence {
        if holds { dependence } else { dependence.reading(bit(self.first), ALL, ALL) }
    }
}

/// The first ones of these pairs, and bases with the second ones in their place.
fn replaced(based: u128, pairs: impl Iterator<Item = (u128, u128)>) -> (u128, u128) {
    let (mut from, mut to) = (0, 0);
    for (one, other) in pairs.filter(|(own, _)| based & own & !LAST != 0) {
        from |= one;
        to |= other;
    }
    (from, based & !from | to)
}
