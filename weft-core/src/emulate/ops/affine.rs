//! The operations that keep lanes growing by a constant step: sums, products with a uniform factor, widening.

use crate::emulate::value::{Value, signed};
use crate::ptx::Type;
use crate::ptx::isa::{Decoded, Modifier, Opcode};

/// The result where all operands are affine and the result is too; `None`: lane by lane.
pub(super) fn eval(decoded: &Decoded, sources: &[Value]) -> Option<Value> {
    let ty = decoded.ty();
    let is_integer =
        !ty.is_float() && !matches!(ty, Type::Other | Type::U16x2 | Type::S16x2 | Type::Pred);
    let has_carry =
        decoded.modifiers.first_of(&[Modifier::Sat, Modifier::Cc, Modifier::Hi]).is_some();
    if !is_integer || has_carry {
        return None;
    }
    let bits = ty.bits();
    let arg = |at: usize| narrowed(sources.get(at)?, bits);
    match decoded.row.opcode {
        Opcode::Add => Some(sum(arg(0)?, arg(1)?, bits)),
        Opcode::Sub => {
            let (base, step) = arg(1)?;
            Some(sum(arg(0)?, (base.wrapping_neg(), step.wrapping_neg()), bits))
        }
        Opcode::Mul if decoded.modifiers.has(Modifier::Wide) => {
            let (base, step) = wide_product(ty, sources)?;
            Some(Value::affine_in(base, step, (bits * 2).min(64)))
        }
        Opcode::Mul => {
            product(arg(0)?, arg(1)?).map(|(base, step)| Value::affine_in(base, step, bits))
        }
        Opcode::Mad if decoded.modifiers.has(Modifier::Wide) => {
            let addend = sources.get(2)?.as_affine()?;
            Some(sum(wide_product(ty, sources)?, addend, (bits * 2).min(64)))
        }
        Opcode::Mad => Some(sum(product(arg(0)?, arg(1)?)?, arg(2)?, bits)),
        Opcode::Shl => {
            let amount = u32::try_from(sources.get(1)?.as_uniform()? & 0xffff_ffff).ok()?;
            let (base, step) = arg(0)?;
            let factor = 1_u64.checked_shl(amount).filter(|_| amount < bits)?;
            Some(Value::affine_in(base.wrapping_mul(factor), step.wrapping_mul(factor), bits))
        }
        Opcode::Cvt => widened(decoded, sources),
        _ => None,
    }
}

/// An operand as exact base and step within `bits` bits.
fn narrowed(value: &Value, bits: u32) -> Option<(u64, u64)> {
    let (base, step) = value.as_affine()?;
    if bits >= 64 {
        return Some((base, step));
    }
    Value::affine_in(base, step, bits).as_affine()
}

fn sum(a: (u64, u64), b: (u64, u64), bits: u32) -> Value {
    Value::affine_in(a.0.wrapping_add(b.0), a.1.wrapping_add(b.1), bits)
}

fn product(a: (u64, u64), b: (u64, u64)) -> Option<(u64, u64)> {
    match (a, b) {
        ((base, step), (factor, 0)) | ((factor, 0), (base, step)) => {
            Some((base.wrapping_mul(factor), step.wrapping_mul(factor)))
        }
        _ => None,
    }
}

/// The product at twice the width: exact once both operands are extended by their sign.
fn wide_product(ty: Type, sources: &[Value]) -> Option<(u64, u64)> {
    let bits = ty.bits();
    let extended = |at: usize| {
        let value = sources.get(at)?;
        let (base, step) = narrowed(value, bits)?;
        if step == 0 {
            let base = if ty.is_signed() { signed(base, bits).cast_unsigned() } else { base };
            return Some((base, 0));
        }
        (!ty.is_signed() || Value::affine(base, step).is_non_negative(bits)).then_some((base, step))
    };
    product(extended(0)?, extended(1)?)
}

fn widened(decoded: &Decoded, sources: &[Value]) -> Option<Value> {
    let (to, from) = (decoded.ty(), decoded.source_type());
    let is_integer = |ty: Type| !ty.is_float() && ty != Type::Other;
    if !is_integer(to) || !is_integer(from) {
        return None;
    }
    let [value] = sources else { return None };
    let (base, step) = narrowed(value, from.bits()).filter(|(_, step)| *step != 0)?;
    let keeps_sign = !from.is_signed() || Value::affine(base, step).is_non_negative(from.bits());
    let result = Value::affine_in(base, step, to.bits());
    let stays_positive = !to.is_signed() || to.bits() == 64 || result.is_non_negative(to.bits());
    (keeps_sign && stays_positive).then_some(result)
}
