//! Arithmetic on the bits of a value, all lanes at once; symbolic values are dropped and handled by the caller.

use super::{LaneShape, Value};
use crate::emulate::value::lane::{WARP, signed, truncate};

impl Value {
    /// Adds a number to the bits of all lanes, within `bits` bits.
    pub(crate) fn plus(&self, number: u64, bits: u32) -> Self {
        match &self.shape {
            LaneShape::Uniform(uniform) => {
                Self::uniform(truncate(uniform.wrapping_add(number), bits))
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
                truncate(self.bits_of(lane).wrapping_add(number), bits)
            })),
        }
    }

    /// Adds the bits of two values lane by lane, within `bits` bits.
    pub(crate) fn sum(&self, other: &Self, bits: u32) -> Self {
        match (&self.shape, &other.shape) {
            (_, LaneShape::Uniform(number)) => self.plus(*number, bits),
            (LaneShape::Uniform(number), _) => other.plus(*number, bits),
            (LaneShape::Affine(base, step), LaneShape::Affine(other, more)) => {
                Self::affine_in(base.wrapping_add(*other), step.wrapping_add(*more), bits)
            }
            _ => Self::each(std::array::from_fn(|lane| {
                truncate(self.bits_of(lane).wrapping_add(other.bits_of(lane)), bits)
            })),
        }
    }

    /// Multiplies the bits of all lanes by a number, within `bits` bits.
    pub(crate) fn times(&self, factor: u64, bits: u32) -> Self {
        match &self.shape {
            LaneShape::Uniform(uniform) => {
                Self::uniform(truncate(uniform.wrapping_mul(factor), bits))
            }
            LaneShape::Affine(base, step) => {
                Self::affine_in(base.wrapping_mul(factor), step.wrapping_mul(factor), bits)
            }
            _ => Self::each(std::array::from_fn(|lane| {
                truncate(self.bits_of(lane).wrapping_mul(factor), bits)
            })),
        }
    }

    /// Sign-extends the low `from` bits of all lanes to 64.
    pub(crate) fn signed(&self, from: u32) -> Self {
        match self.shape {
            LaneShape::Uniform(uniform) => Self::uniform(signed(uniform, from).cast_unsigned()),
            _ => Self::each(std::array::from_fn(|lane| {
                signed(self.bits_of(lane), from).cast_unsigned()
            })),
        }
    }

    /// Returns lanes `base + l * step` truncated to `bits` bits: affine if no lane wraps around, lane by lane
    /// otherwise.
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
