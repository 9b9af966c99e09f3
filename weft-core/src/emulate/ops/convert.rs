//! Conversions of one lane among integers and floating-point formats (PTX ISA §9.7.9.21, §9.7.9.22).
//!
//! Formats of fewer than 16 bits and tf32, stochastic rounding, and NaN results whose bits the manual does not state
//! are left open.

use super::ieee::{self, FloatFormat, with_format};
use crate::emulate::value::lane::{signed, truncate};
use crate::ptx::Type;
use crate::ptx::isa::{Decoded, Modifier, Opcode};
use rustc_apfloat::ieee::Single;
use rustc_apfloat::{FloatConvert, Round, Status, StatusAnd};

/// Computes one lane; `None`: not modelled, or unspecified.
pub(super) fn eval(decoded: &Decoded, a: &[u64]) -> Option<u64> {
    if decoded.row.opcode == Opcode::CvtPack {
        return pack(decoded, a);
    }
    let (to, from) = (decoded.ty(), decoded.source_type());
    let is_plain = |ty: Type| !ty.is_float() && ty != Type::Other;
    match (a, is_plain(to), is_plain(from)) {
        (&[value], true, true) => Some(integer(decoded, to, whole(from, value))),
        (&[value], true, false) => {
            with_format!(from, F => to_integer::<F>(decoded, to, value))
        }
        (&[value], false, true) => {
            with_format!(to, F => from_integer::<F>(decoded, whole(from, value)))
        }
        (&[value], false, false) => between_floats(decoded, to, from, value),
        (&[high, low], false, false) if from == Type::F32 => {
            let part = ieee::part(to)?;
            let half = |value| between_floats(decoded, part, from, value);
            Some(half(high)? << 16 | half(low)?)
        }
        _ => None,
    }
}

fn whole(ty: Type, value: u64) -> i128 {
    if ty.is_signed() {
        i128::from(signed(value, ty.bits()))
    } else {
        i128::from(truncate(value, ty.bits()))
    }
}

fn range(bits: u32, is_signed: bool) -> (i128, i128) {
    if is_signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// Signed results are sign-extended, since the destination may be a wider register.
fn integer(decoded: &Decoded, to: Type, value: i128) -> u64 {
    let (least, greatest) = range(to.bits(), to.is_signed());
    let value =
        if decoded.modifiers.has(Modifier::Sat) { value.clamp(least, greatest) } else { value };
    extended(to, value)
}

#[allow(clippy::cast_possible_truncation, reason = "the low bits are meant")]
fn extended(to: Type, value: i128) -> u64 {
    let bits = truncate(value.cast_unsigned() as u64, to.bits());
    if to.is_signed() { signed(bits, to.bits()).cast_unsigned() } else { bits }
}

/// The rounding mode to whole numbers that the instruction states; `None` if it states none.
fn whole_rounding(decoded: &Decoded) -> Option<Round> {
    const MODES: [Modifier; 4] = [Modifier::Rni, Modifier::Rzi, Modifier::Rmi, Modifier::Rpi];
    Some(match decoded.modifiers.first_of(&MODES)? {
        Modifier::Rni => Round::NearestTiesToEven,
        Modifier::Rzi => Round::TowardZero,
        Modifier::Rmi => Round::TowardNegative,
        _ => Round::TowardPositive,
    })
}

/// An operand, flushed if it is an f32 and the instruction has `.ftz`.
fn operand<F: FloatFormat>(decoded: &Decoded, ty: Type, value: u64) -> F {
    let number = ieee::number(value);
    let ftz = ty == Type::F32 && decoded.modifiers.has(Modifier::Ftz);
    if ftz { ieee::flushed(number) } else { number }
}

/// Converts to an integer. A number out of range gives the nearest bound.
fn to_integer<F: FloatFormat>(decoded: &Decoded, to: Type, value: u64) -> Option<u64> {
    let rounding = whole_rounding(decoded)?;
    let number: F = operand(decoded, decoded.source_type(), value);
    let bits = to.bits();
    if number.is_nan() {
        return match (decoded.source_type() == Type::F64, bits) {
            (_, 64) | (true, 32) => Some(extended(to, 1 << (bits - 1))),
            (false, _) => Some(0),
            // The manual's rule for narrow results of an f64 contradicts what it says about clamping.
            (true, _) => None,
        };
    }
    let width = usize::try_from(bits).ok()?;
    let whole = if to.is_signed() {
        number.to_i128_r(width, rounding, &mut false).value
    } else {
        i128::try_from(number.to_u128_r(width, rounding, &mut false).value).ok()?
    };
    Some(extended(to, whole))
}

fn from_integer<F: FloatFormat>(decoded: &Decoded, value: i128) -> Option<u64> {
    ieee::finished(decoded, false, F::from_i128_r(value, ieee::rounding(decoded)?))
}

fn between_floats(decoded: &Decoded, to: Type, from: Type, value: u64) -> Option<u64> {
    if to == from {
        return with_format!(to, F => same_format::<F>(decoded, to, value));
    }
    with_format!(from, F => {
        let number: F = operand(decoded, from, value);
        with_format!(to, G => reformatted::<F, G>(decoded, to, number))
    })
}

fn same_format<F: FloatFormat>(decoded: &Decoded, ty: Type, value: u64) -> Option<u64> {
    let number: F = operand(decoded, ty, value);
    let whole = match whole_rounding(decoded) {
        Some(rounding) => number.round_to_integral(rounding).value,
        None => number,
    };
    ieee::finished(decoded, false, Status::OK.and(whole))
}

fn reformatted<F, G>(decoded: &Decoded, to: Type, number: F) -> Option<u64>
where
    F: FloatFormat + FloatConvert<G>,
    G: FloatFormat,
{
    let mut loses = false;
    let written = ieee::rounding(decoded);
    let result: StatusAnd<G> =
        number.convert_r(written.unwrap_or(Round::NearestTiesToEven), &mut loses);
    // A conversion that can lose bits has to state its rounding mode.
    let is_stated = written.is_some() || (!loses && G::PRECISION >= F::PRECISION);
    let ftz = to == Type::F32 && decoded.modifiers.has(Modifier::Ftz);
    ieee::finished(decoded, ftz, result).filter(|_| is_stated)
}

/// Converts a number of 16 bits to f32, which is exact; a NaN gives some NaN.
pub(super) fn widened(from: Type, value: u64) -> Option<u64> {
    fn single<F: FloatFormat + FloatConvert<Single>>(value: u64) -> u64 {
        let number: F = ieee::number(value);
        let single: Single = number.convert_r(Round::NearestTiesToEven, &mut false).value;
        ieee::bits(single)
    }
    with_format!(from, F => Some(single::<F>(value)))
}

/// `cvt.pack`: two saturated numbers in the low bits; for narrow ones, the low bits of a third operand lie above them.
fn pack(decoded: &Decoded, a: &[u64]) -> Option<u64> {
    let (bits, is_signed) = match decoded.types[0]? {
        Type::U16 => (16, false),
        Type::S16 => (16, true),
        Type::U8 => (8, false),
        Type::S8 => (8, true),
        Type::U4 => (4, false),
        Type::S4 => (4, true),
        Type::U2 => (2, false),
        Type::S2 => (2, true),
        _ => return None,
    };
    let &[x, y, ref above @ ..] = a else { return None };
    let (least, greatest) = range(bits, is_signed);
    let field = |value: u64| {
        let clamped = whole(Type::S32, value).clamp(least, greatest);
        truncate(extended(Type::S64, clamped), bits)
    };
    let both = field(x) << bits | field(y);
    match (bits, above) {
        (16, []) => Some(both),
        (2..=8, &[above]) => Some(truncate(above << (2 * bits) | both, 32)),
        _ => None,
    }
}
