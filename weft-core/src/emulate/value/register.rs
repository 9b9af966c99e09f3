//! The value of a register across the 32 lanes of a warp.
//!
//! A known lane holds the bits of the register, zero-extended to 64. An open lane holds bits too, and the symbolic
//! value that they are added to (see [`super::symbolics`]). Operations on lanes that are all equal, or that grow by a
//! constant step as thread indices and addresses do, cost one step instead of 32; so does adding a number to lanes with
//! irregular bits.

mod bits;

use std::rc::Rc;

use super::lane::{Lane, LaneMask, NumberingId, SymbolId, WARP, lanes};
use super::offsets::Offsets;

/// How the bits of the lanes are stored.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum LaneShape {
    /// All lanes are equal.
    Uniform(u64),
    /// Lane `l` holds `base + l * step`, exact in 64-bit wrapping arithmetic.
    Affine(u64, u64),
    /// Predicates: lane `l` holds bit `l`.
    Bits(u32),
    /// Lane `l` holds the number plus the `l`th offset, in 64-bit wrapping arithmetic.
    Each(u64, Rc<Offsets>),
}

/// The symbolic values of the open lanes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Bases {
    /// All lanes are known.
    None,
    /// All open lanes have this one.
    One(SymbolId),
    /// All lanes are open, and lane `l` has result `l` of this row.
    Row(NumberingId),
    /// The symbolic value of each lane; `None` where the lane is known.
    Each(Rc<[Option<SymbolId>; WARP]>),
}

/// A register's value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Value {
    shape: LaneShape,
    /// The open lanes.
    open: LaneMask,
    bases: Bases,
}

impl Value {
    /// Known lanes that all hold `bits`.
    pub const fn uniform(bits: u64) -> Self {
        Self::of(LaneShape::Uniform(bits))
    }

    /// Known lanes: lane `l` holds `base + l * step`.
    pub const fn affine(base: u64, step: u64) -> Self {
        if step == 0 { Self::uniform(base) } else { Self::of(LaneShape::Affine(base, step)) }
    }

    /// A known predicate: true in the lanes of `mask`.
    pub const fn bits(mask: LaneMask) -> Self {
        match mask {
            0 => Self::uniform(0),
            LaneMask::MAX => Self::uniform(1),
            _ => Self::of(LaneShape::Bits(mask)),
        }
    }

    const fn of(shape: LaneShape) -> Self {
        Self { shape, open: 0, bases: Bases::None }
    }

    /// All lanes are open, with this symbolic value and nothing added.
    pub const fn open(symbol: SymbolId) -> Self {
        Self { shape: LaneShape::Uniform(0), open: LaneMask::MAX, bases: Bases::One(symbol) }
    }

    /// All lanes are open: lane `l` is result `l` of the row, with nothing added.
    pub(crate) const fn row(row: NumberingId) -> Self {
        Self { shape: LaneShape::Uniform(0), open: LaneMask::MAX, bases: Bases::Row(row) }
    }

    /// All lanes are open: lane `l` is result `l` of the row. `is_one`: all results are equal, and all lanes are result 0.
    pub(crate) fn row_of(row: NumberingId, is_one: bool) -> Self {
        if is_one { Self::open(row.lane(0)) } else { Self::row(row) }
    }

    /// The row whose results the lanes are, if the value is one that `row` makes.
    pub(crate) const fn as_row(&self) -> Option<NumberingId> {
        match (&self.shape, self.open, &self.bases) {
            (LaneShape::Uniform(0), LaneMask::MAX, Bases::Row(row)) => Some(*row),
            _ => None,
        }
    }

    /// What every lane holds, if the representation shows that all lanes are equal; `None` otherwise.
    pub(crate) fn as_one(&self) -> Option<Lane> {
        let is_one = self.open == 0 || self.has_one_symbol();
        (is_one && matches!(self.shape, LaneShape::Uniform(_))).then(|| self.whole(0))
    }

    /// Known lanes: lane `l` holds `lanes[l]`.
    pub fn each(lanes: [u64; WARP]) -> Self {
        let [first, second, ..] = lanes;
        let step = second.wrapping_sub(first);
        if lanes.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == step) {
            return Self::affine(first, step);
        }
        let offsets = Offsets::new(lanes.map(|lane| lane.wrapping_sub(first)));
        Self::of(LaneShape::Each(first, Rc::new(offsets)))
    }

    /// Builds a value from what `lane` returns for each of the 32 lanes.
    pub(crate) fn from_lanes(mut lane: impl FnMut(usize) -> Lane) -> Self {
        let (mut bits, mut symbolics) = ([0; WARP], [None; WARP]);
        for at in 0..WARP {
            let value = lane(at);
            (bits[at], symbolics[at]) = (value.bits, value.symbol);
        }
        Self::each(bits).on(symbolics)
    }

    /// Replaces the symbolic values: the same bits, added to `symbolics`.
    pub(crate) fn on(self, symbolics: [Option<SymbolId>; WARP]) -> Self {
        let open = (0..WARP)
            .filter(|lane| symbolics[*lane].is_some())
            .fold(0, |open, lane| open | 1 << lane);
        let mut some = symbolics.iter().copied().flatten();
        let bases = match some.next() {
            None => Bases::None,
            Some(first) if some.all(|other| other == first) => Bases::One(first),
            Some(first) => match NumberingId::starting(first) {
                Some(row) if (0..WARP).all(|lane| symbolics[lane] == Some(row.lane(lane))) => {
                    Bases::Row(row)
                }
                _ => Bases::Each(Rc::new(symbolics)),
            },
        };
        Self { shape: self.shape, open, bases }
    }

    /// Replaces the symbolic values: the same bits in all lanes, added to one symbolic value or, for `None`, known.
    pub(crate) fn on_one(self, symbol: Option<SymbolId>) -> Self {
        match symbol {
            Some(atom) => Self { shape: self.shape, open: LaneMask::MAX, bases: Bases::One(atom) },
            None => Self::of(self.shape),
        }
    }

    /// Replaces the symbolic values by those of `other`, and keeps the bits.
    pub(crate) fn based_on(self, other: &Self) -> Self {
        Self { shape: self.shape, open: other.open, bases: other.bases.clone() }
    }

    /// The bits as if they were known, without symbolic values.
    pub(crate) fn bits_alone(&self) -> Self {
        Self::of(self.shape.clone())
    }

    /// A value that is the same in `lanes`: a known one if all of these lanes are known. Other lanes can change.
    pub(crate) fn among(self, lanes: LaneMask) -> Self {
        if self.open & lanes == 0 { Self::of(self.shape) } else { self }
    }

    /// Whether all lanes are open and have the same symbolic value.
    pub(crate) const fn has_one_symbol(&self) -> bool {
        matches!(self.bases, Bases::One(_)) && self.open == LaneMask::MAX
    }

    /// The symbolic value of all of these lanes, if they are all open and have the same one.
    pub(crate) const fn one_symbol(&self, among: LaneMask) -> Option<SymbolId> {
        match self.bases {
            Bases::One(symbol) if among & !self.open == 0 => Some(symbol),
            _ => None,
        }
    }

    /// Whether `hold` is true for the symbolic value of every open lane among these. A row is judged by its first lane:
    /// what holds for one of its results holds for all.
    pub(crate) fn all_symbols(
        &self,
        among: LaneMask,
        mut hold: impl FnMut(SymbolId) -> bool,
    ) -> bool {
        match &self.bases {
            Bases::None => true,
            Bases::One(symbol) => self.open & among == 0 || hold(*symbol),
            Bases::Row(row) => hold(row.lane(0)),
            Bases::Each(_) => {
                lanes(self.open & among).all(|lane| self.symbol_of(lane).is_none_or(&mut hold))
            }
        }
    }

    /// The symbolic value of a lane; `None` if the lane is known.
    pub fn symbol_of(&self, lane: usize) -> Option<SymbolId> {
        match &self.bases {
            Bases::None => None,
            Bases::One(symbol) => (self.open >> lane & 1 == 1).then_some(*symbol),
            Bases::Row(row) => (self.open >> lane & 1 == 1).then_some(row.lane(lane)),
            Bases::Each(symbolics) => symbolics[lane],
        }
    }

    /// The bits and the symbolic value of a lane.
    pub(crate) fn whole(&self, lane: usize) -> Lane {
        Lane { bits: self.bits_of(lane), symbol: self.symbol_of(lane) }
    }

    /// Whether the symbolic values are stored lane by lane, and not as one or as a row.
    pub(crate) const fn differs_by_lane(&self) -> bool {
        matches!(self.bases, Bases::Each(_))
    }

    /// The bits of a lane; for an open lane, those that are added to its symbolic value.
    pub fn bits_of(&self, lane: usize) -> u64 {
        match &self.shape {
            LaneShape::Uniform(bits) => *bits,
            LaneShape::Affine(base, step) => base.wrapping_add(step.wrapping_mul(lane as u64)),
            LaneShape::Bits(mask) => u64::from(mask >> lane & 1),
            LaneShape::Each(first, offsets) => first.wrapping_add(offsets.of(lane)),
        }
    }

    /// The least and the greatest bits among the lanes of `mask`, which has at least one.
    pub(crate) fn ends(&self, mask: LaneMask) -> (u64, u64) {
        // Larger steps can wrap around, so these lanes are compared one by one.
        const FAR: u64 = 1 << 56;
        match self.shape {
            LaneShape::Uniform(bits) => return (bits, bits),
            LaneShape::Affine(_, step) if step < FAR => {
                let first = self.bits_of(mask.trailing_zeros() as usize % WARP);
                let last = self.bits_of(mask.checked_ilog2().unwrap_or(0) as usize);
                if first <= last {
                    return (first, last);
                }
            }
            LaneShape::Each(first, ref offsets) if mask == LaneMask::MAX => {
                if let Some(ends) = offsets.ends_from(first) {
                    return ends;
                }
            }
            _ => {}
        }
        let all = lanes(mask).map(|lane| self.bits_of(lane));
        all.fold((u64::MAX, 0), |(least, most), own| (least.min(own), most.max(own)))
    }

    /// The bits of all lanes.
    pub fn to_array(&self) -> [u64; WARP] {
        std::array::from_fn(|lane| self.bits_of(lane))
    }

    /// The lanes that are open.
    pub const fn open_lanes(&self) -> LaneMask {
        self.open
    }

    /// The symbolic value of the first open lane among these.
    pub fn symbol(&self, among: LaneMask) -> Option<SymbolId> {
        self.symbol_of(lanes(self.open & among).next()?)
    }

    /// Whether these lanes hold the same bits and the same symbolic value, and no lane has to be looked at to see it.
    pub(crate) fn is_one(&self, among: LaneMask) -> bool {
        let is_open = self.open & among;
        let has_one_base = is_open == among && matches!(self.bases, Bases::One(_));
        matches!(self.shape, LaneShape::Uniform(_)) && (is_open == 0 || has_one_base)
    }

    /// The bits of all lanes, if they are known and equal.
    pub fn as_uniform(&self) -> Option<u64> {
        match self.shape {
            LaneShape::Uniform(bits) if self.open == 0 => Some(bits),
            _ => None,
        }
    }

    /// Base and step, if all lanes are known and lane `l` holds `base + l * step`.
    pub const fn as_affine(&self) -> Option<(u64, u64)> {
        match self.shape {
            LaneShape::Uniform(bits) if self.open == 0 => Some((bits, 0)),
            LaneShape::Affine(base, step) if self.open == 0 => Some((base, step)),
            _ => None,
        }
    }

    /// The known lanes whose bits are not zero.
    pub fn truth(&self) -> LaneMask {
        let all = match &self.shape {
            LaneShape::Uniform(0) => 0,
            LaneShape::Uniform(_) => LaneMask::MAX,
            LaneShape::Bits(mask) => *mask,
            _ => (0..WARP)
                .filter(|&lane| self.bits_of(lane) != 0)
                .fold(0, |mask, lane| mask | 1 << lane),
        };
        all & !self.open
    }

    /// Takes `new` in the lanes of `mask` and keeps its own lanes elsewhere. Lanes outside `live` can hold anything
    /// afterwards.
    pub fn blend(&mut self, new: Self, mask: LaneMask, live: LaneMask) {
        if mask & live == live || *self == new {
            *self = new;
            return;
        }
        if mask & live == 0 {
            return;
        }
        if let (
            LaneShape::Bits(_) | LaneShape::Uniform(0 | 1),
            LaneShape::Bits(_) | LaneShape::Uniform(0 | 1),
            0,
            0,
        ) = (&self.shape, &new.shape, self.open, new.open)
        {
            *self = Self::bits(self.truth() & !mask | new.truth() & mask);
            return;
        }
        let lane = |lane: usize| match mask >> lane & 1 {
            1 => new.whole(lane),
            _ => self.whole(lane),
        };
        if self.open | new.open != 0 {
            *self = Self::from_lanes(lane);
            return;
        }
        *self = Self::each(std::array::from_fn(|at| {
            if mask >> at & 1 == 1 { new.bits_of(at) } else { self.bits_of(at) }
        }));
    }

    /// Negates a predicate. `open` returns the symbolic value of the complement for an open lane.
    pub(crate) fn complement(&self, mut open: impl FnMut(Lane) -> SymbolId) -> Self {
        if self.open == 0 {
            return Self::bits(!self.truth());
        }
        Self::from_lanes(|lane| match self.whole(lane) {
            Lane { bits, symbol: None } => Lane::known(u64::from(bits == 0)),
            value => Lane { bits: 0, symbol: Some(open(value)) },
        })
    }

    /// The lanes in which two values differ in bits or symbolic value.
    pub(crate) fn differs(&self, other: &Self) -> LaneMask {
        if self == other {
            return 0;
        }
        let differs = |lane: &usize| self.whole(*lane) != other.whole(*lane);
        (0..WARP).filter(differs).fold(0, |mask, lane| mask | 1 << lane)
    }

    /// Whether the bits of all lanes are known to be multiples of `power`, a power of two.
    pub(crate) fn are_multiples_of(&self, power: u64) -> bool {
        let ones = match &self.shape {
            LaneShape::Uniform(bits) => *bits,
            LaneShape::Affine(base, step) => base | step,
            LaneShape::Bits(_) => 1,
            LaneShape::Each(first, offsets) => first | offsets.ones(),
        };
        ones & power.saturating_sub(1) == 0
    }

    /// The first lane and the offsets of all lanes from it, if the lanes are known and irregular.
    pub(crate) fn as_offsets(&self) -> Option<(u64, &Rc<Offsets>)> {
        match &self.shape {
            LaneShape::Each(first, offsets) if self.open == 0 => Some((*first, offsets)),
            _ => None,
        }
    }

    /// Whether every lane is known and, read as a signed number of `bits` bits, not negative; `false` also if the value
    /// is not affine.
    pub(crate) fn is_non_negative(&self, bits: u32) -> bool {
        let sign = |value: u64| value >> (bits - 1) & 1 == 1;
        match self.as_affine() {
            // The lanes are exact and monotonic, so the first and the last one bound them.
            Some((base, step)) if bits < 64 || step == 0 => {
                !sign(base) && !sign(base.wrapping_add(step.wrapping_mul(WARP as u64 - 1)))
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emulate::value::lane::truncate;
    use crate::emulate::value::origin::Origin;
    use crate::emulate::value::symbolics::Symbolics;

    #[test]
    fn an_affine_value_that_wraps_is_kept_lane_by_lane() {
        let wraps = Value::affine_in(0xffff_fff0, 1, 32);
        assert_eq!((wraps.bits_of(15), wraps.bits_of(16)), (0xffff_ffff, 0));
        let falls = Value::affine_in(31, u64::MAX, 32);
        assert_eq!((falls.as_affine().is_some(), falls.bits_of(31)), (true, 0));
    }

    #[test]
    fn ends_are_those_of_all_lanes() {
        let values = [
            Value::uniform(7),
            Value::affine(100, 4),
            Value::affine(100, 4_u64.wrapping_neg()),
            Value::affine(u64::MAX - 10, 4),
            Value::affine(5, 1 << 60),
            Value::each(std::array::from_fn(|lane| (lane as u64 * 77) % 31)),
        ];
        for value in values {
            for mask in [LaneMask::MAX, 1, 1 << 31, 0x0ff0_00f0] {
                let all = || lanes(mask).map(|lane| value.bits_of(lane));
                assert_eq!(Some(value.ends(mask)), all().min().zip(all().max()), "{value:?}");
            }
        }
    }

    #[test]
    fn adding_a_number_is_adding_it_to_each_lane() {
        let values = [
            Value::uniform(7),
            Value::affine(100, 4),
            Value::bits(0b1011),
            Value::each(std::array::from_fn(|lane| (lane as u64 * 77) % 31)),
            Value::each(std::array::from_fn(|lane| 0xffff_ffe0 + (lane as u64 ^ 5) % 32)),
            Value::each(std::array::from_fn(|lane| (lane as u64 % 3).wrapping_sub(1))),
        ];
        for value in values {
            for number in [0, 1, 16, 64, 0xffff_fff0, 1 << 32, u64::MAX, u64::MAX - 15] {
                for bits in [32, 64] {
                    let sum = value.plus(number, bits);
                    let expected = |lane| truncate(value.bits_of(lane).wrapping_add(number), bits);
                    assert_eq!(sum.to_array(), std::array::from_fn(expected), "{value:?} {number}");
                    let all = || lanes(LaneMask::MAX).map(|lane| sum.bits_of(lane));
                    assert_eq!(Some(sum.ends(LaneMask::MAX)), all().min().zip(all().max()));
                    for power in [1, 2, 4, 8, 16] {
                        let are = all().all(|lane| lane % power == 0);
                        assert!(are || !sum.are_multiples_of(power), "{sum:?} {power}");
                    }
                }
            }
        }
        assert!(Value::affine(64, 16).are_multiples_of(16));
        let pattern = Value::each(std::array::from_fn(|lane| lane as u64 / 4 * 8));
        assert!(pattern.plus(128, 32).are_multiples_of(8));
    }

    #[test]
    fn blending_keeps_the_other_lanes() {
        let mut value = Value::affine(100, 4);
        value.blend(Value::uniform(7), 0b10, LaneMask::MAX);
        assert_eq!((value.bits_of(0), value.bits_of(1), value.bits_of(2)), (100, 7, 108));
        let symbol = Symbolics::default().any_number(Origin::Register);
        value.blend(Value::open(symbol), 0b100, LaneMask::MAX);
        assert_eq!((value.open_lanes(), value.symbol(LaneMask::MAX)), (0b100, Some(symbol)));
    }
}
