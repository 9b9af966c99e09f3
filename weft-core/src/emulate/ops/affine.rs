//! Operations on lanes that grow by a constant step and whose results do so too: sums, products with a uniform factor,
//! widening. Also adding a number to irregular lanes, which keeps their offsets.

use super::kind::is_modular;
use crate::emulate::value::lane::signed;
use crate::emulate::value::register::Value;
use crate::ptx::Type;
use crate::ptx::isa::{Decoded, Modifier, Opcode};

/// Returns the result if all operands are known and affine and the result is affine too, or if a number is added to
/// irregular lanes. `None`: the lanes have to be computed one by one.
pub(super) fn eval(decoded: &Decoded, sources: &[&Value]) -> Option<Value> {
    let ty = decoded.ty();
    if !is_modular(decoded) {
        return None;
    }
    let bits = ty.bits();
    let arg = |at: usize| narrowed(sources.get(at)?, bits);
    if let Some(value) = shifted(decoded, sources, bits) {
        return Some(value);
    }
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

/// Adds a number to irregular lanes.
fn shifted(decoded: &Decoded, sources: &[&Value], bits: u32) -> Option<Value> {
    let [a, b] = sources else { return None };
    match decoded.row.opcode {
        Opcode::Add if a.as_offsets().is_some() => Some(a.plus(b.as_uniform()?, bits)),
        Opcode::Add if b.as_offsets().is_some() => Some(b.plus(a.as_uniform()?, bits)),
        Opcode::Sub if a.as_offsets().is_some() => {
            Some(a.plus(b.as_uniform()?.wrapping_neg(), bits))
        }
        _ => None,
    }
}

/// An operand as exact base and step within `bits` bits; `None` if lanes wrap around.
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

/// The product at twice the width: exact, because both operands are extended first, by their sign or by zeros.
fn wide_product(ty: Type, sources: &[&Value]) -> Option<(u64, u64)> {
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

fn widened(decoded: &Decoded, sources: &[&Value]) -> Option<Value> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emulate::value::lane::WARP;
    use crate::ptx::isa;

    /// Values around the limits of the widths, and some from a fixed pseudorandom sequence.
    fn numbers() -> impl Iterator<Item = u64> {
        let corners = [
            0,
            1,
            2,
            31,
            32,
            0x7fff_ffe0,
            0x7fff_ffff,
            0x8000_0000,
            0xffff_ffe0,
            0xffff_ffff,
            1 << 32,
        ];
        let random = std::iter::successors(Some(0x9e37_79b9_7f4a_7c15_u64), |x| {
            Some(x.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f))
        });
        corners.into_iter().chain(corners.into_iter().map(u64::wrapping_neg)).chain(random.take(12))
    }

    /// Where `eval` returns a result, every lane of it is what that lane computes by itself.
    #[test]
    fn agrees_with_every_lane() {
        const MNEMONICS: [&str; 17] = [
            "add.u32",
            "add.s64",
            "sub.s32",
            "sub.u64",
            "add.u16",
            "mul.lo.u32",
            "mul.lo.s64",
            "mul.wide.u32",
            "mul.wide.s32",
            "mul.wide.u16",
            "shl.b32",
            "shl.b64",
            "cvt.u64.u32",
            "cvt.s64.s32",
            "cvt.u32.u64",
            "cvt.s32.s64",
            "cvt.u16.u32",
        ];
        let mut answered = 0;
        for mnemonic in MNEMONICS {
            let decoded = isa::decode(mnemonic).unwrap();
            let count = decoded.row.shape.matches('s').count();
            for base in numbers() {
                for step in [0, 1, 4, u64::MAX, 1 << 27, 1 << 31, 1 << 60] {
                    for other in numbers() {
                        let narrow = Value::affine_in(base, step, decoded.source_type().bits());
                        let sources = [narrow, Value::uniform(other)];
                        let Some(result) = eval(&decoded, &sources.each_ref()[..count]) else {
                            continue;
                        };
                        answered += 1;
                        for lane in 0..WARP {
                            let args: Vec<_> = sources[..count]
                                .iter()
                                .map(|source| source.bits_of(lane))
                                .collect();
                            let (expected, _) = super::super::eval(&decoded, &args).unwrap();
                            assert_eq!(
                                result.bits_of(lane),
                                expected,
                                "{mnemonic} {sources:?} lane {lane}"
                            );
                        }
                    }
                }
            }
        }
        assert!(answered > 20_000, "{answered}");
    }
}
