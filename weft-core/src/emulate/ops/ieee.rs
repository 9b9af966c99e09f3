//! The floating-point formats of PTX in terms of `rustc_apfloat`, and what modifiers do to operands and results.
//!
//! A result that the manual leaves unspecified is `None`: the bits of a NaN (§9.7.3) unless the manual makes them
//! canonical, the sign of a zero after a clamp, and, under `.ftz`, a result that is the least normal number only
//! because it was rounded up to it.

use crate::emulate::value::lane::truncate;
use crate::ptx::Type;
use crate::ptx::isa::{Decoded, Modifier};
use rustc_apfloat::ieee::{BFloat, Double, Half, Quad, Single};
use rustc_apfloat::{Float, FloatConvert, Round, Status, StatusAnd};

/// A format that instructions compute in.
pub(super) trait FloatFormat: FloatConvert<Quad> {
    /// The NaN that `.NaN` and `.relu` give, where an instruction of this format has them.
    const CANONICAL_NAN: Option<u64>;
    /// The number one.
    const ONE: u64;
    /// The square root rounded to nearest; `None` if no instruction of this format computes it.
    fn nearest_root(self) -> Option<Self>;
}

impl FloatFormat for Half {
    const CANONICAL_NAN: Option<u64> = Some(0x7fff);
    const ONE: u64 = 0x3c00;
    fn nearest_root(self) -> Option<Self> {
        None
    }
}

impl FloatFormat for BFloat {
    const CANONICAL_NAN: Option<u64> = Some(0x7fff);
    const ONE: u64 = 0x3f80;
    fn nearest_root(self) -> Option<Self> {
        None
    }
}

impl FloatFormat for Single {
    const CANONICAL_NAN: Option<u64> = Some(0x7fff_ffff);
    const ONE: u64 = 0x3f80_0000;
    fn nearest_root(self) -> Option<Self> {
        let value = f32::from_bits(u32::try_from(self.to_bits()).ok()?);
        Some(Self::from_bits(u128::from(value.sqrt().to_bits())))
    }
}

impl FloatFormat for Double {
    const CANONICAL_NAN: Option<u64> = None;
    const ONE: u64 = 0x3ff0_0000_0000_0000;
    fn nearest_root(self) -> Option<Self> {
        let value = f64::from_bits(u64::try_from(self.to_bits()).ok()?);
        Some(Self::from_bits(u128::from(value.sqrt().to_bits())))
    }
}

/// Evaluates `$body` with `$format` as the format of a type; `None` for types that are not a scalar format.
macro_rules! with_format {
    ($ty:expr, $format:ident => $body:expr) => {
        match $ty {
            $crate::ptx::Type::F16 => {
                type $format = rustc_apfloat::ieee::Half;
                $body
            }
            $crate::ptx::Type::Bf16 => {
                type $format = rustc_apfloat::ieee::BFloat;
                $body
            }
            $crate::ptx::Type::F32 => {
                type $format = rustc_apfloat::ieee::Single;
                $body
            }
            $crate::ptx::Type::F64 => {
                type $format = rustc_apfloat::ieee::Double;
                $body
            }
            _ => None,
        }
    };
}
pub(super) use with_format;

/// The type of each half of a packed type; `None` if the type is not packed.
pub(super) const fn part(ty: Type) -> Option<Type> {
    match ty {
        Type::F16x2 => Some(Type::F16),
        Type::Bf16x2 => Some(Type::Bf16),
        Type::F32x2 => Some(Type::F32),
        _ => None,
    }
}

/// Reads a number from the low bits of a register.
pub(super) fn number<F: FloatFormat>(bits: u64) -> F {
    F::from_bits(u128::from(truncate(bits, u32::try_from(F::BITS).expect("formats are narrow"))))
}

/// The bits of a number, as a register holds them.
pub(super) fn bits<F: FloatFormat>(value: F) -> u64 {
    u64::try_from(value.to_bits()).expect("formats are narrow")
}

/// Flushes a subnormal number to zero with the same sign.
pub(super) fn flushed<F: FloatFormat>(value: F) -> F {
    if value.is_denormal() { F::ZERO.copy_sign(value) } else { value }
}

/// The rounding mode that the instruction states; `None` if it states none.
pub(super) fn rounding(decoded: &Decoded) -> Option<Round> {
    const MODES: [Modifier; 4] = [Modifier::Rn, Modifier::Rz, Modifier::Rm, Modifier::Rp];
    Some(match decoded.modifiers.first_of(&MODES)? {
        Modifier::Rn => Round::NearestTiesToEven,
        Modifier::Rz => Round::TowardZero,
        Modifier::Rm => Round::TowardNegative,
        _ => Round::TowardPositive,
    })
}

/// The bits of a rounded result: flushed if `ftz`, then clamped by `.sat`, `.relu` or `.satfinite`. `None`:
/// unspecified.
pub(super) fn finished<F: FloatFormat>(
    decoded: &Decoded,
    ftz: bool,
    result: StatusAnd<F>,
) -> Option<u64> {
    let StatusAnd { status, value } = result;
    let is_least = value.abs().bitwise_eq(F::smallest_normalized());
    if ftz && is_least && status.intersects(Status::INEXACT) {
        return None;
    }
    clamped(decoded, if ftz { flushed(value) } else { value })
}

fn clamped<F: FloatFormat>(decoded: &Decoded, value: F) -> Option<u64> {
    let one: F = number(F::ONE);
    let is_clamped_below = decoded.modifiers.first_of(&[Modifier::Sat, Modifier::Relu]).is_some();
    if value.is_nan() {
        return match (decoded.modifiers.has(Modifier::Sat), decoded.modifiers.has(Modifier::Relu)) {
            (true, _) => Some(0),
            (false, true) => F::CANONICAL_NAN,
            (false, false) => None,
        };
    }
    if is_clamped_below && value.is_negative() {
        return (!value.is_zero()).then_some(0);
    }
    if decoded.modifiers.has(Modifier::Sat) && value > one {
        return Some(F::ONE);
    }
    if decoded.modifiers.has(Modifier::Satfinite) && value.is_infinite() {
        return Some(bits(F::largest().copy_sign(value)));
    }
    Some(bits(value))
}

/// The square root in a rounding mode. One of the two numbers next to the exact root is known, the nearest one; its
/// exact square shows on which side of the root it lies.
pub(super) fn square_root<F: FloatFormat>(value: F, rounding: Round) -> Option<StatusAnd<F>> {
    let nearest = value.nearest_root()?;
    let is_regular = value.is_finite_non_zero() && !value.is_negative();
    if rounding == Round::NearestTiesToEven || !is_regular {
        return Some(Status::OK.and(nearest));
    }
    // A quad holds the exact square of an f64.
    let quad = |value: F| -> Quad { value.convert_r(Round::NearestTiesToEven, &mut false).value };
    let square = quad(nearest).mul_r(quad(nearest), Round::NearestTiesToEven).value;
    let is_up = rounding == Round::TowardPositive;
    let result = match (square.partial_cmp(&quad(value))?, is_up) {
        (std::cmp::Ordering::Greater, false) => nearest.next_down().value,
        (std::cmp::Ordering::Less, true) => nearest.next_up().value,
        _ => nearest,
    };
    Some(Status::OK.and(result))
}
