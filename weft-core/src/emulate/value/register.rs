//! The value of a register across the 32 lanes of a warp.
//!
//! A known lane holds the bits of the register, zero-extended to 64. An open lane holds bits too, and the term that they
//! are added to (see `term`). Lanes that are equal, or that grow by a constant step as thread indices and addresses do,
//! cost one operation instead of 32; so does adding a number to lanes that follow no rule.

mod bits;

use std::rc::Rc;

use super::lane::{Lane, LaneMask, NumberingId, SymbolId, WARP, lanes};
use super::offsets::Offsets;

/// How the bits of the lanes are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
enum LaneShape {
    /// All lanes are equal.
    Uniform(u64),
    /// Lane `l` holds `base + l * step`, exact in 64-bit wrapping arithmetic.
    Affine(u64, u64),
    /// Predicates: lane `l` holds bit `l`.
    Bits(u32),
    /// Lane `l` is the `l`th offset from the number, in 64-bit wrapping arithmetic.
    Each(u64, Rc<Offsets>),
}

/// The symbolic values of the open lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Bases {
    /// All lanes are known.
    None,
    /// One for all open lanes.
    One(SymbolId),
    /// All lanes are results of one row.
    Row(NumberingId),
    /// Each open lane has its own.
    Each(Rc<[Option<SymbolId>; WARP]>),
}

/// A register's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    shape: LaneShape,
    /// Lanes that are open.
    open: LaneMask,
    bases: Bases,
}

impl Value {
    /// The same known bits in all lanes.
    pub const fn uniform(bits: u64) -> Self {
        Self::of(LaneShape::Uniform(bits))
    }

    /// `base + lane * step`.
    pub const fn affine(base: u64, step: u64) -> Self {
        if step == 0 { Self::uniform(base) } else { Self::of(LaneShape::Affine(base, step)) }
    }

    /// A predicate.
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

    /// All lanes are open, with one term and nothing added.
    pub const fn open(symbol: SymbolId) -> Self {
        Self { shape: LaneShape::Uniform(0), open: LaneMask::MAX, bases: Bases::One(symbol) }
    }

    /// All lanes are the results of a row.
    pub(crate) const fn row(row: NumberingId) -> Self {
        Self { shape: LaneShape::Uniform(0), open: LaneMask::MAX, bases: Bases::Row(row) }
    }

    /// The row that all lanes are the results of.
    pub(crate) const fn as_row(&self) -> Option<NumberingId> {
        match (&self.shape, self.open, &self.bases) {
            (LaneShape::Uniform(0), LaneMask::MAX, Bases::Row(row)) => Some(*row),
            _ => None,
        }
    }

    /// What all lanes hold, if that is plainly the same.
    pub(crate) fn as_one(&self) -> Option<Lane> {
        let is_one = self.open == 0 || self.has_one_symbol();
        (is_one && matches!(self.shape, LaneShape::Uniform(_))).then(|| self.whole(0))
    }

    /// Known bits, lane by lane.
    pub fn each(lanes: [u64; WARP]) -> Self {
        let [first, second, ..] = lanes;
        let step = second.wrapping_sub(first);
        if lanes.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == step) {
            return Self::affine(first, step);
        }
        let offsets = Offsets::new(lanes.map(|lane| lane.wrapping_sub(first)));
        Self::of(LaneShape::Each(first, Rc::new(offsets)))
    }

    /// Lane by lane.
    pub(crate) fn from_lanes(mut lane: impl FnMut(usize) -> Lane) -> Self {
        let (mut bits, mut symbolics) = ([0; WARP], [None; WARP]);
        for at in 0..WARP {
            let value = lane(at);
            (bits[at], symbolics[at]) = (value.bits, value.symbol);
        }
        Self::each(bits).on(symbolics)
    }

    /// The same bits, added to these symbolic values.
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

    /// The same bits, added to one term in all lanes.
    pub(crate) fn on_one(self, symbol: Option<SymbolId>) -> Self {
        match symbol {
            Some(atom) => Self { shape: self.shape, open: LaneMask::MAX, bases: Bases::One(atom) },
            None => Self::of(self.shape),
        }
    }

    /// The same bits, added to the symbolic values of another value.
    pub(crate) fn based_on(self, other: &Self) -> Self {
        Self { shape: self.shape, open: other.open, bases: other.bases.clone() }
    }

    /// The bits alone, as if they were known.
    pub(crate) fn bits_alone(&self) -> Self {
        Self::of(self.shape.clone())
    }

    /// The same in these lanes: known if all of them are.
    pub(crate) fn among(self, lanes: LaneMask) -> Self {
        if self.open & lanes == 0 { Self::of(self.shape) } else { self }
    }

    /// Whether all lanes are open on one term.
    pub(crate) const fn has_one_symbol(&self) -> bool {
        matches!(self.bases, Bases::One(_)) && self.open == LaneMask::MAX
    }

    /// The term of all of these lanes, if they are open on one.
    pub(crate) const fn one_symbol(&self, among: LaneMask) -> Option<SymbolId> {
        match self.bases {
            Bases::One(symbol) if among & !self.open == 0 => Some(symbol),
            _ => None,
        }
    }

    /// Whether something holds for the symbolic values of all of these lanes that are open. What holds for a lane of a row holds for
    /// all.
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
                lanes(self.open & among).all(|lane| self.base(lane).is_none_or(&mut hold))
            }
        }
    }

    /// The term of a lane, if it is open.
    pub fn base(&self, lane: usize) -> Option<SymbolId> {
        match &self.bases {
            Bases::None => None,
            Bases::One(symbol) => (self.open >> lane & 1 == 1).then_some(*symbol),
            Bases::Row(row) => (self.open >> lane & 1 == 1).then_some(row.lane(lane)),
            Bases::Each(symbolics) => symbolics[lane],
        }
    }

    /// A lane, whole.
    pub(crate) fn whole(&self, lane: usize) -> Lane {
        Lane { bits: self.lane(lane), symbol: self.base(lane) }
    }

    /// Whether open lanes have symbolic values of their own.
    pub(crate) const fn differs_by_lane(&self) -> bool {
        matches!(self.bases, Bases::Each(_))
    }

    /// The bits of a lane: of an open one those that are added to its term.
    pub fn lane(&self, lane: usize) -> u64 {
        match &self.shape {
            LaneShape::Uniform(bits) => *bits,
            LaneShape::Affine(base, step) => base.wrapping_add(step.wrapping_mul(lane as u64)),
            LaneShape::Bits(mask) => u64::from(mask >> lane & 1),
            LaneShape::Each(first, offsets) => first.wrapping_add(offsets.of(lane)),
        }
    }

    /// The least and the greatest bits of some lanes; at least one.
    pub(crate) fn ends(&self, mask: LaneMask) -> (u64, u64) {
        // So far apart that they wrap around, lanes are looked at one by one.
        const FAR: u64 = 1 << 56;
        match self.shape {
            LaneShape::Uniform(bits) => return (bits, bits),
            LaneShape::Affine(_, step) if step < FAR => {
                let first = self.lane(mask.trailing_zeros() as usize % WARP);
                let last = self.lane(mask.checked_ilog2().unwrap_or(0) as usize);
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
        let all = lanes(mask).map(|lane| self.lane(lane));
        all.fold((u64::MAX, 0), |(least, most), own| (least.min(own), most.max(own)))
    }

    /// All lanes.
    pub fn to_array(&self) -> [u64; WARP] {
        std::array::from_fn(|lane| self.lane(lane))
    }

    /// The lanes that are open.
    pub const fn open_lanes(&self) -> LaneMask {
        self.open
    }

    /// The term of the first open lane among these.
    pub fn symbol(&self, among: LaneMask) -> Option<SymbolId> {
        self.base(lanes(self.open & among).next()?)
    }

    /// The bits of all lanes, if they are known and equal.
    pub fn as_uniform(&self) -> Option<u64> {
        match self.shape {
            LaneShape::Uniform(bits) if self.open == 0 => Some(bits),
            _ => None,
        }
    }

    /// Base and step, if all lanes are known and grow by one step.
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
                .filter(|&lane| self.lane(lane) != 0)
                .fold(0, |mask, lane| mask | 1 << lane),
        };
        all & !self.open
    }

    /// Takes `new` in the lanes of `mask` and keeps itself in the others. Lanes outside `live` do not matter.
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
            if mask >> at & 1 == 1 { new.lane(at) } else { self.lane(at) }
        }));
    }

    /// The complement of a predicate; `open` makes the term of an open lane's complement.
    pub(crate) fn complement(&self, mut open: impl FnMut(Lane) -> SymbolId) -> Self {
        if self.open == 0 {
            return Self::bits(!self.truth());
        }
        Self::from_lanes(|lane| match self.whole(lane) {
            Lane { bits, symbol: None } => Lane::known(u64::from(bits == 0)),
            value => Lane { bits: 0, symbol: Some(open(value)) },
        })
    }

    /// The lanes in which two values are not the same.
    pub(crate) fn differs(&self, other: &Self) -> LaneMask {
        if self == other {
            return 0;
        }
        let differs = |lane: &usize| self.whole(*lane) != other.whole(*lane);
        (0..WARP).filter(differs).fold(0, |mask, lane| mask | 1 << lane)
    }

    /// Whether the bits of all lanes are known to be multiples of a power of two.
    pub(crate) fn are_multiples_of(&self, power: u64) -> bool {
        let ones = match &self.shape {
            LaneShape::Uniform(bits) => *bits,
            LaneShape::Affine(base, step) => base | step,
            LaneShape::Bits(_) => 1,
            LaneShape::Each(first, offsets) => first | offsets.ones(),
        };
        ones & power.saturating_sub(1) == 0
    }

    /// The first lane and what the others are apart from it, where known lanes follow no rule.
    pub(crate) fn as_offsets(&self) -> Option<(u64, &Rc<Offsets>)> {
        match &self.shape {
            LaneShape::Each(first, offsets) if self.open == 0 => Some((*first, offsets)),
            _ => None,
        }
    }

    /// Whether every lane, read as a signed number of `bits` bits, is not negative.
    pub(crate) fn is_non_negative(&self, bits: u32) -> bool {
        let sign = |value: u64| value >> (bits - 1) & 1 == 1;
        match self.as_affine() {
            // The lanes are exact, so the ends bound them.
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
        assert_eq!((wraps.lane(15), wraps.lane(16)), (0xffff_ffff, 0));
        let falls = Value::affine_in(31, u64::MAX, 32);
        assert_eq!((falls.as_affine().is_some(), falls.lane(31)), (true, 0));
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
                let all = || lanes(mask).map(|lane| value.lane(lane));
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
                    let expected = |lane| truncate(value.lane(lane).wrapping_add(number), bits);
                    assert_eq!(sum.to_array(), std::array::from_fn(expected), "{value:?} {number}");
                    let all = || lanes(LaneMask::MAX).map(|lane| sum.lane(lane));
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
        assert_eq!((value.lane(0), value.lane(1), value.lane(2)), (100, 7, 108));
        let symbol = Symbolics::default().fresh(Origin::Register);
        value.blend(Value::open(symbol), 0b100, LaneMask::MAX);
        assert_eq!((value.open_lanes(), value.symbol(LaneMask::MAX)), (0b100, Some(symbol)));
    }
}
