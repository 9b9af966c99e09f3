//! Floating-point arithmetic of one lane, where the manual defines the result to the bit (PTX ISA §9.7.3 to §9.7.5).
//!
//! Approximations, sums and products without a rounding modifier (the assembler can contract them into one operation),
//! and NaN results, whose bits are unspecified, are left open.

use super::ieee::{self, FloatFormat, with_format};
use crate::emulate::value::lane::truncate;
use crate::ptx::Type;
use crate::ptx::isa::{Decoded, Modifier, Opcode};
use rustc_apfloat::Status;

/// Computes one lane; `None`: not modelled, or unspecified.
pub(super) fn eval(decoded: &Decoded, a: &[u64]) -> Option<u64> {
    const INEXACT: [Modifier; 3] = [Modifier::Approx, Modifier::Full, Modifier::Oob];
    if decoded.modifiers.first_of(&INEXACT).is_some() {
        return None;
    }
    if let Some(part) = ieee::part(decoded.ty()) {
        return packed(decoded, part, a);
    }
    if let Some(narrow) = decoded.types[1] {
        return mixed(decoded, narrow, a);
    }
    with_format!(decoded.ty(), F => scalar::<F>(decoded, a))
}

fn packed(decoded: &Decoded, part: Type, a: &[u64]) -> Option<u64> {
    let one = Decoded { types: [Some(part), decoded.types[1], None], ..*decoded };
    let width = part.bits();
    let result = |at: u32| {
        let args: Vec<u64> = a.iter().map(|value| truncate(value >> (width * at), width)).collect();
        eval(&one, &args)
    };
    Some(result(0)? | result(1)? << width)
}

/// `add`, `sub` and `fma` of f32 whose first summand or factors have 16 bits: these are first widened, which is exact.
fn mixed(decoded: &Decoded, narrow: Type, a: &[u64]) -> Option<u64> {
    let narrow_operands = match decoded.row.opcode {
        Opcode::Add | Opcode::Sub => 1,
        Opcode::Fma => 2,
        _ => return None,
    };
    if decoded.ty() != Type::F32 || !matches!(narrow, Type::F16 | Type::Bf16) {
        return None;
    }
    let mut args = a.to_vec();
    for arg in args.iter_mut().take(narrow_operands) {
        *arg = super::convert::widened(narrow, *arg)?;
    }
    let one = Decoded { types: [Some(Type::F32), None, None], ..*decoded };
    eval(&one, &args)
}

fn scalar<F: FloatFormat>(decoded: &Decoded, a: &[u64]) -> Option<u64> {
    let ftz = decoded.modifiers.has(Modifier::Ftz);
    let arg = |at: usize| -> Option<F> {
        let value = ieee::number::<F>(*a.get(at)?);
        Some(if ftz { ieee::flushed(value) } else { value })
    };
    let exact = |value: F| ieee::finished(decoded, ftz, Status::OK.and(value));
    match decoded.row.opcode {
        Opcode::Abs => return exact(arg(0)?.abs()),
        Opcode::Neg => return exact(-arg(0)?),
        Opcode::Copysign => return Some(ieee::bits(arg(1)?.copy_sign(arg(0)?))),
        Opcode::Testp => return property(decoded, arg(0)?).map(u64::from),
        Opcode::Min | Opcode::Max => {
            let operands = (0..a.len()).map(arg).collect::<Option<Vec<F>>>()?;
            return extremum(decoded, &operands);
        }
        _ => {}
    }
    let mode = ieee::rounding(decoded)?;
    let result = match decoded.row.opcode {
        Opcode::Add => arg(0)?.add_r(arg(1)?, mode),
        Opcode::Sub => arg(0)?.sub_r(arg(1)?, mode),
        Opcode::Mul => arg(0)?.mul_r(arg(1)?, mode),
        Opcode::Div => arg(0)?.div_r(arg(1)?, mode),
        Opcode::Fma | Opcode::Mad => arg(0)?.mul_add_r(arg(1)?, arg(2)?, mode),
        Opcode::Rcp => ieee::number::<F>(F::ONE).div_r(arg(0)?, mode),
        Opcode::Sqrt => ieee::square_root(arg(0)?, mode)?,
        _ => return None,
    };
    ieee::finished(decoded, ftz, result)
}

/// `testp` (§9.7.3.1): zeros count as normal.
fn property<F: FloatFormat>(decoded: &Decoded, value: F) -> Option<bool> {
    const PROPERTIES: [Modifier; 6] = [
        Modifier::Finite,
        Modifier::Infinite,
        Modifier::Number,
        Modifier::NotANumber,
        Modifier::Normal,
        Modifier::Subnormal,
    ];
    Some(match decoded.modifiers.first_of(&PROPERTIES)? {
        Modifier::Finite => value.is_finite(),
        Modifier::Infinite => value.is_infinite(),
        Modifier::Number => !value.is_nan(),
        Modifier::NotANumber => value.is_nan(),
        Modifier::Normal => value.is_normal() || value.is_zero(),
        _ => value.is_denormal(),
    })
}

/// `min` and `max` of two or three operands (§9.7.3.11).
fn extremum<F: FloatFormat>(decoded: &Decoded, operands: &[F]) -> Option<u64> {
    let has = |modifier| decoded.modifiers.has(modifier);
    if has(Modifier::Relu) {
        return None;
    }
    let magnitude = |value: &F| if has(Modifier::Abs) { value.abs() } else { *value };
    let result = operands.iter().map(magnitude).reduce(|x, y| either(decoded, x, y))?;
    if result.is_nan() {
        return F::CANONICAL_NAN.filter(|_| has(Modifier::Nan));
    }
    if has(Modifier::Xorsign) {
        let &[x, y] = operands else { return None };
        let is_negative = x.is_negative() != y.is_negative();
        return Some(ieee::bits(if is_negative { -result.abs() } else { result.abs() }));
    }
    Some(ieee::bits(result))
}

/// The lesser or greater of two numbers, where -0 is less than +0. If one is NaN: NaN under `.NaN`, the other operand
/// otherwise.
fn either<F: FloatFormat>(decoded: &Decoded, x: F, y: F) -> F {
    if x.is_nan() || y.is_nan() {
        return match (decoded.modifiers.has(Modifier::Nan), x.is_nan()) {
            (true, _) => F::NAN,
            (false, true) => y,
            (false, false) => x,
        };
    }
    let is_less = if x.is_zero() && y.is_zero() { x.is_negative() } else { x < y };
    if is_less == (decoded.row.opcode == Opcode::Min) { x } else { y }
}
