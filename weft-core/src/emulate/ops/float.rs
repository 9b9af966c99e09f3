//! Floating-point arithmetic of one lane, where the result is exactly specified: f32 and f64, rounded to nearest
//! (PTX ISA §9.7.3). Everything else is open.

use crate::ptx::Type;
use crate::ptx::isa::{Decoded, Modifier, Opcode};

/// The result; `None`: not modelled.
pub(super) fn eval(decoded: &Decoded, a: &[u64]) -> Option<u64> {
    const OTHER: [Modifier; 6] = [
        Modifier::Rz,
        Modifier::Rm,
        Modifier::Rp,
        Modifier::Approx,
        Modifier::Full,
        Modifier::Xorsign,
    ];
    if decoded.modifiers.first_of(&OTHER).is_some() || decoded.modifiers.has(Modifier::Relu) {
        return None;
    }
    // Without a rounding mode the assembler may contract a product and a sum into one operation.
    let may_contract = matches!(decoded.row.opcode, Opcode::Add | Opcode::Sub | Opcode::Mul);
    if may_contract && !decoded.modifiers.has(Modifier::Rn) {
        return None;
    }
    match decoded.ty() {
        Type::F32 => single(decoded, a),
        Type::F64 => double(decoded, a),
        _ => None,
    }
}

fn single(decoded: &Decoded, a: &[u64]) -> Option<u64> {
    let ftz = decoded.modifiers.has(Modifier::Ftz);
    let flush =
        |value: f32| if ftz && value.is_subnormal() { 0.0_f32.copysign(value) } else { value };
    #[allow(clippy::cast_possible_truncation, reason = "an f32 is the low 32 bits of its register")]
    let arg = |at: usize| a.get(at).map(|bits| flush(f32::from_bits(*bits as u32)));
    let value = match decoded.row.opcode {
        Opcode::Add => arg(0)? + arg(1)?,
        Opcode::Sub => arg(0)? - arg(1)?,
        Opcode::Mul => arg(0)? * arg(1)?,
        Opcode::Div => arg(0)? / arg(1)?,
        Opcode::Fma | Opcode::Mad => arg(0)?.mul_add(arg(1)?, arg(2)?),
        Opcode::Sqrt => arg(0)?.sqrt(),
        Opcode::Rcp => 1.0 / arg(0)?,
        Opcode::Abs => arg(0)?.abs(),
        Opcode::Neg => -arg(0)?,
        Opcode::Min if a.len() == 2 => {
            narrow(minimum(decoded, f64::from(arg(0)?), f64::from(arg(1)?)))
        }
        Opcode::Max if a.len() == 2 => {
            -narrow(minimum(decoded, -f64::from(arg(0)?), -f64::from(arg(1)?)))
        }

        Opcode::Copysign => arg(1)?.copysign(arg(0)?),
        _ => return None,
    };
    let value = flush(value);
    let value = if decoded.modifiers.has(Modifier::Sat) { saturate(value) } else { value };
    // The payload of a NaN is not specified.
    (!value.is_nan()).then_some(u64::from(value.to_bits()))
}

#[allow(clippy::cast_possible_truncation, reason = "the value is one of two f32 operands")]
const fn narrow(value: f64) -> f32 {
    value as f32
}

fn saturate(value: f32) -> f32 {
    if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) }
}

/// The other operand if one is NaN, or NaN under `.NaN`; -0 is less than +0.
fn minimum(decoded: &Decoded, x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        return match (decoded.modifiers.has(Modifier::Nan), x.is_nan()) {
            (true, _) => f64::NAN,
            (false, true) => y,
            (false, false) => x,
        };
    }
    #[allow(clippy::float_cmp, reason = "zeros of either sign are equal, and told apart below")]
    if x == y {
        return if x.is_sign_negative() { x } else { y };
    }
    x.min(y)
}

fn double(decoded: &Decoded, a: &[u64]) -> Option<u64> {
    let arg = |at: usize| a.get(at).map(|bits| f64::from_bits(*bits));
    let value = match decoded.row.opcode {
        Opcode::Add => arg(0)? + arg(1)?,
        Opcode::Sub => arg(0)? - arg(1)?,
        Opcode::Mul => arg(0)? * arg(1)?,
        Opcode::Div => arg(0)? / arg(1)?,
        Opcode::Fma | Opcode::Mad => arg(0)?.mul_add(arg(1)?, arg(2)?),
        Opcode::Sqrt => arg(0)?.sqrt(),
        Opcode::Rcp => 1.0 / arg(0)?,
        Opcode::Abs => arg(0)?.abs(),
        Opcode::Neg => -arg(0)?,
        Opcode::Min => minimum(decoded, arg(0)?, arg(1)?),
        Opcode::Max => -minimum(decoded, -arg(0)?, -arg(1)?),
        Opcode::Copysign => arg(1)?.copysign(arg(0)?),
        _ => return None,
    };
    // The payload of a NaN is not specified.
    (!value.is_nan()).then_some(value.to_bits())
}
