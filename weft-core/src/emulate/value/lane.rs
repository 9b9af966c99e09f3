//! Lanes of a warp, and what one lane of a register holds.

use std::num::NonZeroU32;

/// Lanes of a warp.
pub const WARP: usize = 32;

/// A set of lanes: bit `l` stands for lane `l`.
pub type LaneMask = u32;

/// Iterates over the lanes of a set, ascending.
pub fn lanes(mask: LaneMask) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros() as usize;
        rest &= rest.wrapping_sub(1);
        (lane < WARP).then_some(lane)
    })
}

/// Returns the low `bits` bits of `value`, zero-extended.
pub(crate) const fn truncate(value: u64, bits: u32) -> u64 {
    if bits >= 64 { value } else { value & ((1 << bits) - 1) }
}

/// Returns the low `bits` bits of `value` as a signed number.
#[allow(clippy::cast_possible_wrap, reason = "two's complement is meant")]
pub(crate) const fn signed(value: u64, bits: u32) -> i64 {
    let unused = 64 - bits;
    ((value << unused) as i64) >> unused
}

/// Id of a symbolic value: its index in `Symbolics` or, for a result of `ValueNumbering`, the number of that result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymbolId(NonZeroU32);

impl SymbolId {
    /// Ids from here on are numbers of `ValueNumbering`.
    const NUMBERS: u32 = 1 << 31;

    /// The id of a result of `ValueNumbering`, by its number.
    pub(crate) const fn number(number: u32) -> Self {
        Self(NonZeroU32::MIN.saturating_add((Self::NUMBERS | number) - 1))
    }

    /// The number in `ValueNumbering`; `None` if the id is an index in `Symbolics`.
    pub(crate) const fn as_number(self) -> Option<u32> {
        self.0.get().checked_sub(Self::NUMBERS)
    }

    /// The id of the symbolic value at this index of `Symbolics`.
    pub(crate) fn at(place: usize) -> Self {
        Self(
            NonZeroU32::MIN.saturating_add(
                u32::try_from(place).expect("the table of symbolic values is limited"),
            ),
        )
    }

    /// The index in `Symbolics`.
    pub(crate) const fn place(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// One lane of a register: known bits, and the symbolic value that they are added to if the lane is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Lane {
    pub(crate) bits: u64,
    pub(crate) symbol: Option<SymbolId>,
}

impl Lane {
    /// A known lane.
    pub(crate) const fn known(bits: u64) -> Self {
        Self { bits, symbol: None }
    }

    /// A lane that holds this symbolic value, with nothing added.
    pub(crate) const fn open(atom: SymbolId) -> Self {
        Self { bits: 0, symbol: Some(atom) }
    }
}

/// A row of `ValueNumbering`: the results of one instruction in all lanes of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NumberingId(pub(crate) u32);

impl NumberingId {
    /// The id of the result in one lane.
    pub(crate) fn lane(self, lane: usize) -> SymbolId {
        SymbolId::number(
            self.0 * LaneMask::BITS + u32::try_from(lane).expect("a warp has 32 lanes"),
        )
    }

    /// The row whose lane 0 has this id, if there is one.
    pub(crate) const fn starting(symbol: SymbolId) -> Option<Self> {
        match symbol.as_number() {
            Some(number) if number % LaneMask::BITS == 0 => Some(Self(number / LaneMask::BITS)),
            _ => None,
        }
    }
}
