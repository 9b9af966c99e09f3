//! Conversions of one lane between integers, f32 and f64 (PTX ISA §9.7.9.21).

use crate::emulate::value::{signed, truncate};
use crate::ptx::Type;
use crate::ptx::isa::{Decoded, Modifier};

/// The result; `None`: not modelled.
pub(super) fn eval(decoded: &Decoded, a: &[u64]) -> Option<u64> {
    let (to, from) = (decoded.ty(), decoded.source_type());
    let &[value] = a else { return None };
    let is_plain = |ty: Type| !ty.is_float() && ty != Type::Other;
    match (is_plain(to), is_plain(from)) {
        (true, true) => Some(integer(decoded, to, number(from, value))),
        (true, false) => to_integer(decoded, to, float(from, value)?),
        (false, true) => from_integer(decoded, to, number(from, value)),
        (false, false) => between_floats(decoded, to, from, value),
    }
}

fn number(ty: Type, value: u64) -> i128 {
    if ty.is_signed() {
        i128::from(signed(value, ty.bits()))
    } else {
        i128::from(truncate(value, ty.bits()))
    }
}

fn range(ty: Type) -> (i128, i128) {
    let bits = ty.bits();
    if ty.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// Signed results are sign-extended, since the destination may be a wider register.
#[allow(clippy::cast_possible_truncation, reason = "the low bits are meant")]
fn integer(decoded: &Decoded, to: Type, value: i128) -> u64 {
    let (least, greatest) = range(to);
    let value =
        if decoded.modifiers.has(Modifier::Sat) { value.clamp(least, greatest) } else { value };
    let bits = truncate(value.cast_unsigned() as u64, to.bits());
    if to.is_signed() { signed(bits, to.bits()).cast_unsigned() } else { bits }
}

fn float(ty: Type, value: u64) -> Option<f64> {
    match ty {
        #[allow(
            clippy::cast_possible_truncation,
            reason = "an f32 is the low 32 bits of its register"
        )]
        Type::F32 => Some(f64::from(f32::from_bits(value as u32))),
        Type::F64 => Some(f64::from_bits(value)),
        _ => None,
    }
}

fn rounded(decoded: &Decoded, value: f64) -> Option<f64> {
    const MODES: [Modifier; 4] = [Modifier::Rni, Modifier::Rzi, Modifier::Rmi, Modifier::Rpi];
    Some(match decoded.modifiers.first_of(&MODES)? {
        Modifier::Rni => value.round_ties_even(),
        Modifier::Rzi => value.trunc(),
        Modifier::Rmi => value.floor(),
        _ => value.ceil(),
    })
}

/// Whether an f32 operand is subnormal.
fn single_is_subnormal(decoded: &Decoded, value: f64) -> bool {
    decoded.source_type() == Type::F32 && value != 0.0 && value.abs() < f64::from(f32::MIN_POSITIVE)
}

/// Out of range gives the nearest bound; NaN gives 0 for up to 32 bits, and is left open beyond.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the value was clamped to the type's range before"
)]
fn to_integer(decoded: &Decoded, to: Type, value: f64) -> Option<u64> {
    let is_flushed = decoded.modifiers.has(Modifier::Ftz) && single_is_subnormal(decoded, value);
    let value = if is_flushed { 0.0_f64.copysign(value) } else { value };
    if value.is_nan() {
        return (to.bits() <= 32 && decoded.source_type() == Type::F32).then_some(0);
    }
    let (least, greatest) = range(to);
    let value = rounded(decoded, value)? as i128;
    Some(integer(decoded, to, value.clamp(least, greatest)))
}

#[allow(clippy::cast_precision_loss, reason = "rounding to nearest is what the instruction does")]
fn from_integer(decoded: &Decoded, to: Type, value: i128) -> Option<u64> {
    let other = [Modifier::Rz, Modifier::Rm, Modifier::Rp, Modifier::Sat];
    if decoded.modifiers.first_of(&other).is_some() {
        return None;
    }
    match to {
        Type::F32 => Some(u64::from((value as f32).to_bits())),
        Type::F64 => Some((value as f64).to_bits()),
        _ => None,
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "rounding to nearest is what the instruction does"
)]
fn between_floats(decoded: &Decoded, to: Type, from: Type, value: u64) -> Option<u64> {
    const OTHER: [Modifier; 5] =
        [Modifier::Rz, Modifier::Rm, Modifier::Rp, Modifier::Sat, Modifier::Ftz];
    if decoded.modifiers.first_of(&OTHER).is_some() {
        return None;
    }
    let value = float(from, value).filter(|value| !value.is_nan())?;
    let value = if to == from { rounded(decoded, value)? } else { value };
    match to {
        Type::F32 => Some(u64::from((value as f32).to_bits())),
        Type::F64 => Some(value.to_bits()),
        _ => None,
    }
}
