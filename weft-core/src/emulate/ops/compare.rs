//! Comparison and selection of one lane (PTX ISA §9.7.6, §9.7.7).

use std::cmp::Ordering;

use super::ieee::{self, FloatFormat, with_format};
use crate::emulate::value::lane::{WARP, signed, truncate};
use crate::emulate::value::register::Value;
use crate::ptx::Type;
use crate::ptx::isa::{Decoded, Modifier, Opcode};
use rustc_apfloat::Float;
use rustc_apfloat::ieee::{BFloat, Half, Single};

const OPERATORS: [Modifier; 18] = [
    Modifier::Eq,
    Modifier::Ne,
    Modifier::Lt,
    Modifier::Le,
    Modifier::Gt,
    Modifier::Ge,
    Modifier::Lo,
    Modifier::Ls,
    Modifier::Hi,
    Modifier::Hs,
    Modifier::Equ,
    Modifier::Neu,
    Modifier::Ltu,
    Modifier::Leu,
    Modifier::Gtu,
    Modifier::Geu,
    Modifier::Num,
    Modifier::IsNan,
];

/// Computes one lane. Returns the result and, for `setp p|q`, the second predicate. `None`: not modelled.
pub(super) fn eval(decoded: &Decoded, a: &[u64]) -> Option<(u64, u64)> {
    match decoded.row.opcode {
        Opcode::Setp => setp(decoded, a),
        Opcode::Set => set(decoded, a).map(|bits| (bits, 0)),
        Opcode::Selp => Some((*a.get(usize::from(a.get(2)? & 1 == 0))?, 0)),
        Opcode::Slct => {
            let c = *a.get(2)?;
            let is_first = match decoded.source_type() {
                // A zero of either sign counts as not negative; the comparison is false for NaN.
                Type::F32 => operand::<Single>(decoded, c) >= Single::ZERO,
                _ => signed(c, 32) >= 0,
            };
            Some((*a.get(usize::from(!is_first))?, 0))
        }
        _ => None,
    }
}

/// The comparison and its complement or, for packed types, the comparisons of both halves; each combined with the
/// optional predicate.
fn setp(decoded: &Decoded, a: &[u64]) -> Option<(u64, u64)> {
    let &[x, y, ref rest @ ..] = a else { return None };
    let ty = decoded.ty();
    let (first, second) = if let Some(part) = ieee::part(ty) {
        halves(decoded, part, x, y)?
    } else {
        let holds = compare(decoded, ty, x, y)?;
        (holds, !holds)
    };
    let combine = |holds| u64::from(combined(decoded, holds, rest));
    Some((combine(first), combine(second)))
}

fn set(decoded: &Decoded, a: &[u64]) -> Option<u64> {
    let &[x, y, ref rest @ ..] = a else { return None };
    let (to, from) = (decoded.ty(), decoded.source_type());
    if let Some(part) = ieee::part(from) {
        let one = match (to, from) {
            (Type::F16x2, Type::F16x2) => Half::ONE,
            (Type::Bf16x2, Type::Bf16x2) => BFloat::ONE,
            (Type::U32 | Type::S32, Type::F16x2) => 0xffff,
            // The manual's text and its semantics disagree on integers from bf16x2.
            _ => return None,
        };
        let (low, high) = halves(decoded, part, x, y)?;
        let half = |holds| u64::from(combined(decoded, holds, rest)) * one;
        return Some(half(low) | half(high) << 16);
    }
    let one = match (to, from) {
        // As above, the manual contradicts itself.
        (Type::U16 | Type::S16 | Type::U32 | Type::S32, Type::Bf16) => return None,
        (Type::F16, _) => Half::ONE,
        (Type::Bf16, _) => BFloat::ONE,
        (Type::F32, _) => Single::ONE,
        (Type::U16 | Type::S16, _) => 0xffff,
        (Type::U32 | Type::S32, _) => 0xffff_ffff,
        _ => return None,
    };
    Some(u64::from(combined(decoded, compare(decoded, from, x, y)?, rest)) * one)
}

fn halves(decoded: &Decoded, part: Type, x: u64, y: u64) -> Option<(bool, bool)> {
    Some((compare(decoded, part, x, y)?, compare(decoded, part, x >> 16, y >> 16)?))
}

/// Combines the result of a comparison with the optional predicate.
fn combined(decoded: &Decoded, holds: bool, predicate: &[u64]) -> bool {
    let c = predicate.first().is_some_and(|c| c & 1 == 1);
    match decoded.modifiers.first_of(&[Modifier::And, Modifier::Or, Modifier::Xor]) {
        Some(Modifier::And) => holds && c,
        Some(Modifier::Or) => holds || c,
        Some(_) => holds != c,
        None => holds,
    }
}

fn operand<F: FloatFormat>(decoded: &Decoded, bits: u64) -> F {
    let number = ieee::number(bits);
    if decoded.modifiers.has(Modifier::Ftz) { ieee::flushed(number) } else { number }
}

fn order<F: FloatFormat>(decoded: &Decoded, x: u64, y: u64) -> Option<Ordering> {
    operand::<F>(decoded, x).partial_cmp(&operand(decoded, y))
}

/// Compares known integers in all lanes at once. Returns the comparison and its complement; `None`: lane by lane.
pub(super) fn in_row(decoded: &Decoded, sources: &[&Value]) -> Option<[Value; 2]> {
    let [a, b] = sources else { return None };
    let ty = decoded.ty();
    let is_integer = !ty.is_float() && ty != Type::Other && ieee::part(ty).is_none();
    if decoded.row.opcode != Opcode::Setp || !is_integer || a.open_lanes() | b.open_lanes() != 0 {
        return None;
    }
    // Once the sign bit is flipped, signed numbers are in the same order as unsigned ones.
    let sign = u64::from(ty.is_signed()) << (ty.bits() - 1);
    let in_order = |value: &Value| value.to_array().map(|own| truncate(own, ty.bits()) ^ sign);
    let (a, b) = (in_order(a), in_order(b));
    let lanes = |holds: fn(u64, u64) -> bool| {
        (0..WARP).fold(0, |all, lane| all | u32::from(holds(a[lane], b[lane])) << lane)
    };
    let holds = match decoded.modifiers.first_of(&OPERATORS)? {
        Modifier::Eq => lanes(|a, b| a == b),
        Modifier::Ne => lanes(|a, b| a != b),
        Modifier::Lt | Modifier::Lo => lanes(|a, b| a < b),
        Modifier::Le | Modifier::Ls => lanes(|a, b| a <= b),
        Modifier::Gt | Modifier::Hi => lanes(|a, b| a > b),
        Modifier::Ge | Modifier::Hs => lanes(|a, b| a >= b),
        _ => return None,
    };
    Some([holds, !holds].map(Value::bits))
}

fn compare(decoded: &Decoded, ty: Type, x: u64, y: u64) -> Option<bool> {
    let operator = decoded.modifiers.first_of(&OPERATORS)?;
    let order = match ty {
        Type::Other => return None,
        _ if ty.is_float() => with_format!(ty, F => Some(order::<F>(decoded, x, y)))?,
        _ if ty.is_signed() => Some(signed(x, ty.bits()).cmp(&signed(y, ty.bits()))),
        _ => Some(truncate(x, ty.bits()).cmp(&truncate(y, ty.bits()))),
    };
    Some(match operator {
        Modifier::Eq => order == Some(Ordering::Equal),
        Modifier::Ne => matches!(order, Some(Ordering::Less | Ordering::Greater)),
        Modifier::Lt | Modifier::Lo => order == Some(Ordering::Less),
        Modifier::Le | Modifier::Ls => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Modifier::Gt | Modifier::Hi => order == Some(Ordering::Greater),
        Modifier::Ge | Modifier::Hs => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        Modifier::Equ => matches!(order, Some(Ordering::Equal) | None),
        Modifier::Neu => order != Some(Ordering::Equal),
        Modifier::Ltu => matches!(order, Some(Ordering::Less) | None),
        Modifier::Leu => order != Some(Ordering::Greater),
        Modifier::Gtu => matches!(order, Some(Ordering::Greater) | None),
        Modifier::Geu => order != Some(Ordering::Less),
        Modifier::Num => order.is_some(),
        _ => order.is_none(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::isa;

    /// Where `in_row` returns a result, every lane of it is what that lane computes by itself.
    #[test]
    fn rows_agree_with_every_lane() {
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = || {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            // Few different numbers, so that some are equal, of either sign and with bits above the width.
            signed(seed >> 40, 2).cast_unsigned() ^ (seed.rotate_left(9) & 1) << 40
        };
        let mut answered = 0;
        for ty in ["u16", "s16", "b16", "u32", "s32", "b32", "u64", "s64", "b64"] {
            for operator in ["eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"] {
                let Some(decoded) = isa::decode(&format!("setp.{operator}.{ty}")) else { continue };
                let sources = [(); 2].map(|()| Value::each(std::array::from_fn(|_| random())));
                let Some(results) = in_row(&decoded, &sources.each_ref()) else { continue };
                answered += 1;
                for lane in 0..WARP {
                    let args = sources.each_ref().map(|source| source.bits_of(lane));
                    let (first, second) = eval(&decoded, &args).unwrap();
                    let both = results.each_ref().map(|result| result.bits_of(lane));
                    assert_eq!(both, [first, second], "{operator} {ty} {args:x?}");
                }
            }
        }
        assert!(answered > 50, "{answered}");
        for mnemonic in ["setp.lt.f32", "setp.eq.f16x2", "set.lt.u32.u32"] {
            let decoded = isa::decode(mnemonic).unwrap();
            assert_eq!(in_row(&decoded, &[&Value::affine(1, 2), &Value::uniform(3)]), None);
        }
    }
}
