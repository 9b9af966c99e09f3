//! The operators of expressions, and their results on numbers.

use crate::emulate::{signed, truncate};

/// An operator with two operands of one width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names are SMT-LIB's")]
pub(crate) enum BinaryOperator {
    Add,
    Mul,
    And,
    Or,
    Xor,
    Udiv,
    Urem,
    Sdiv,
    Srem,
    /// An amount of at least the width shifts all bits out.
    Shl,
    Lshr,
    Ashr,
    /// The upper half of a product of twice the width, without signs or with them: PTX's `mul.hi`.
    UmulHigh,
    SmulHigh,
    /// Comparisons give one bit.
    Eq,
    Ult,
    Slt,
}

impl BinaryOperator {
    /// The width of a result whose operands have `bits` bits.
    pub(super) const fn result_bits(self, bits: u32) -> u32 {
        match self {
            Self::Eq | Self::Ult | Self::Slt => 1,
            _ => bits,
        }
    }

    /// Returns the result on numbers of `bits` bits; `None` for a division by zero.
    pub(super) fn of(self, x: u64, y: u64, bits: u32) -> Option<u64> {
        let (sx, sy) = (signed(x, bits), signed(y, bits));
        let amount = u32::try_from(y).ok().filter(|amount| *amount < bits);
        let value = match self {
            Self::Add => x.wrapping_add(y),
            Self::Mul => x.wrapping_mul(y),
            Self::UmulHigh => upper(u128::from(x) * u128::from(y), bits),
            Self::SmulHigh => upper((i128::from(sx) * i128::from(sy)).cast_unsigned(), bits),
            Self::And => x & y,
            Self::Or => x | y,
            Self::Xor => x ^ y,
            Self::Udiv => x.checked_div(y)?,
            Self::Urem => x.checked_rem(y)?,
            Self::Sdiv | Self::Srem if y == 0 => return None,
            Self::Sdiv => sx.wrapping_div(sy).cast_unsigned(),
            Self::Srem => sx.wrapping_rem(sy).cast_unsigned(),
            Self::Shl => amount.map_or(0, |amount| x << amount),
            Self::Lshr => amount.map_or(0, |amount| x >> amount),
            Self::Ashr => (sx >> amount.unwrap_or(bits - 1)).cast_unsigned(),
            Self::Eq => u64::from(x == y),
            Self::Ult => u64::from(x < y),
            Self::Slt => u64::from(sx < sy),
        };
        Some(truncate(value, self.result_bits(bits)))
    }
}

/// The upper of the two halves of a product, which have `bits` bits each.
fn upper(product: u128, bits: u32) -> u64 {
    u64::try_from(product >> bits & u128::from(u64::MAX)).expect("64 bits")
}
