//! Arithmetic on the bits of a value alone, all lanes at once.

use super::{LaneShape, Value};
use crate::emulate::value::lane::{WARP, signed, truncate};

impl Value {
    /// The bits alone, with a number added to them all within `bits` bits.
    pub(crate) fn plus(&self, number: u64, bits: u32) -> Self {
        match &self.shape {
            LaneShape::Uniform(number_there) => {
                Self::uniform(truncate(number_there.wrapping_add(number), bits))
            }
            LaneShape::Affine(base, step) => {
                Self::affine_in(base.wrapping_add(number), *step, bits)
            }
            LaneShape::Each(first, offsets)
                if offsets.fit(truncate(first.wrapping_add(number), bits), bits) =>
            {
                let first = truncate(first.wrapping_add(number), bits);
                Self::of(LaneShape::Each(first, offsets.clone()))
            }
            _ => Self::each(std::array::from_fn(|lane| {
                truncate(self.lane(lane).wrapping_add(number), bits)
            })),
        }
    }

    /// The bits alone, with those of another value added to them within `bits` bits.
    pub(crate) fn sum(&self, other: &Self, bits: u32) -> Self {
        match (&self.shape, &other.shape) {
            (_, LaneShape::Uniform(number)) => self.plus(*number, bits),
            (LaneShape::Uniform(number), _) => other.plus(*number, bits),
            (LaneShape::Affine(base, step), LaneShape::Affine(other, more)) => {
                Self::affine_in(base.wrapping_add(*other), step.wrapping_add(*more), bits)
            }
            _ => Self::each(std::array::from_fn(|lane| {
                truncate(self.lane(lane).wrapping_add(other.lane(lane)), bits)
            })),
        }
    }

    /// The bits alone, times a number within `bits` bits.
    pub(crate) fn times(&self, factor: u64, bits: u32) -> Self {
        match &self.shape {
            LaneShape::Uniform(number_there) => {
                Self::uniform(truncate(number_there.wrapping_mul(factor), bits))
            }
            LaneShape::Affine(base, step) => {
                Self::affine_in(base.wrapping_mul(factor), step.wrapping_mul(factor), bits)
            }
            _ => Self::each(std::array::from_fn(|lane| {
                truncate(self.lane(lane).wrapping_mul(factor), bits)
            })),
        }
    }

    /// The low `from` bits alone, extended by their sign.
    pub(crate) fn signed(&self, from: u32) -> Self {
        match self.shape {
            LaneShape::Uniform(number_there) => {
                Self::uniform(signed(number_there, from).cast_unsigned())
            }
            _ => Self::each(std::array::from_fn(|lane| {
                signed(self.lane(lane), from).cast_unsigned()
            })),
        }
    }

    /// Brings an affine result of `bits` bits into range: exact if no lane wraps, lane by lane otherwise.
    pub(crate) fn affine_in(base: u64, step: u64, bits: u32) -> Self {
        let base = truncate(base, bits);
        if bits >= 64 || step == 0 {
            return Self::affine(base, step);
        }
        let last = i128::from(base) + i128::from(step.cast_signed()) * (WARP as i128 - 1);
        if (0..1_i128 << bits).contains(&last) {
            return Self::affine(base, step);
        }
        let lane = |lane: usize| truncate(base.wrapping_add(step.wrapping_mul(lane as u64)), bits);
        Self::each(std::array::from_fn(lane))
    }
}
