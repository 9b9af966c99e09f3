//! The reference machine: arithmetic on values.

use crate::kernel::{Atomic, Binary, Compare};
use crate::memory::Value;

pub(super) fn binary(operation: Binary, a: Value, b: Value) -> Value {
    let (x, y) = (a.bits, b.bits);
    let bits = match operation {
        Binary::Add => x.wrapping_add(y),
        Binary::Sub => x.wrapping_sub(y),
        Binary::And => x & y,
        Binary::Xor => x ^ y,
        Binary::Mul => x.wrapping_mul(y),
        Binary::Min => x.min(y),
        // A shift by 32 or more gives zero.
        Binary::Shl => x.checked_shl(y).unwrap_or(0),
    };
    Value { bits, rests: a.rests | b.rests }
}

pub(super) fn test(compare: Compare, a: Value, b: Value) -> Value {
    let (x, y) = (a.bits, b.bits);
    let holds = match compare {
        Compare::Eq => x == y,
        Compare::Ne => x != y,
        Compare::Lt => x < y,
        Compare::Ge => x >= y,
    };
    Value { bits: u32::from(holds), rests: a.rests | b.rests }
}

/// Returns the value that an atomic leaves (PTX ISA §9.7.13.5).
pub(super) fn update(operation: Atomic, old: u32, source: u32, compare: u32) -> u32 {
    match operation {
        Atomic::Add => old.wrapping_add(source),
        Atomic::Sub => old.wrapping_sub(source),
        Atomic::Inc if old >= source => 0,
        Atomic::Inc => old + 1,
        Atomic::Dec if old == 0 || old > source => source,
        Atomic::Dec => old - 1,
        Atomic::Exch | Atomic::Set => source,
        Atomic::Cas if old == compare => source,
        Atomic::Cas | Atomic::Look => old,
        Atomic::Max => old.max(source),
    }
}

/// Whether the result exceeds 32 bits.
pub(super) fn exceeds(operation: Binary, a: u32, b: u32) -> bool {
    match operation {
        Binary::Add => a.checked_add(b).is_none(),
        Binary::Sub => a < b,
        Binary::Mul => a.checked_mul(b).is_none(),
        Binary::Shl => a.leading_zeros() < b,
        Binary::And | Binary::Xor | Binary::Min => false,
    }
}

/// Whether an atomic makes its counter exceed 32 bits; the wrap-around of `inc` and `dec` does not count.
pub(super) fn wraps(operation: Atomic, old: u32, source: u32) -> bool {
    match operation {
        Atomic::Add => exceeds(Binary::Add, old, source),
        Atomic::Sub => exceeds(Binary::Sub, old, source),
        Atomic::Inc => old == u32::MAX,
        Atomic::Dec => old == 0,
        Atomic::Exch | Atomic::Cas | Atomic::Max | Atomic::Set | Atomic::Look => false,
    }
}
