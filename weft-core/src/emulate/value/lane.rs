//! Lanes of a warp, and what one lane of a register holds.

use std::num::NonZeroU32;

/// Lanes of a warp.
pub const WARP: usize = 32;

/// A set of lanes, bit by lane.
pub type LaneMask = u32;

/// The lanes of a set, ascending.
pub fn lanes(mask: LaneMask) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros() as usize;
        rest &= rest.wrapping_sub(1);
        (lane < WARP).then_some(lane)
    })
}

/// The low `bits` bits.
pub(crate) const fn truncate(value: u64, bits: u32) -> u64 {
    if bits >= 64 { value } else { value & ((1 << bits) - 1) }
}

/// The low `bits` bits as a signed number.
#[allow(clippy::cast_possible_wrap, reason = "two's complement is meant")]
pub(crate) const fn signed(value: u64, bits: u32) -> i64 {
    let unused = 64 - bits;
    ((value << unused) as i64) >> unused
}

/// A term, by its place in `Symbolics`, or a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymbolId(NonZeroU32);

impl SymbolId {
    /// Numbers are counted from here.
    const NUMBERS: u32 = 1 << 31;

    pub(crate) const fn number(number: u32) -> Self {
        Self(NonZeroU32::MIN.saturating_add((Self::NUMBERS | number) - 1))
    }

    /// Which number it is.
    pub(crate) const fn as_number(self) -> Option<u32> {
        self.0.get().checked_sub(Self::NUMBERS)
    }

    /// By its place in `Symbolics`.
    pub(crate) fn at(place: usize) -> Self {
        Self(NonZeroU32::MIN.saturating_add(u32::try_from(place).unwrap_or(u32::MAX)))
    }

    pub(crate) const fn place(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// A lane of a register: bits, and the term that they are added to if the lane is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Lane {
    pub(crate) bits: u64,
    pub(crate) symbol: Option<SymbolId>,
}

impl Lane {
    pub(crate) const fn known(bits: u64) -> Self {
        Self { bits, symbol: None }
    }

    pub(crate) const fn open(atom: SymbolId) -> Self {
        Self { bits: 0, symbol: Some(atom) }
    }
}

/// The results of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NumberingId(pub(crate) u32);

impl NumberingId {
    /// A lane's.
    pub(crate) fn lane(self, lane: usize) -> SymbolId {
        SymbolId::number(self.0 * LaneMask::BITS + u32::try_from(lane).unwrap_or(0))
    }

    /// The row that a term is the first lane of.
    pub(crate) const fn starting(symbol: SymbolId) -> Option<Self> {
        match symbol.as_number() {
            Some(number) if number % LaneMask::BITS == 0 => Some(Self(number / LaneMask::BITS)),
            _ => None,
        }
    }
}
