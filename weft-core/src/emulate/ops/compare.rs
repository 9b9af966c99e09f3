//! Comparison and selection of one lane (PTX ISA §9.7.6, §9.7.7).

use std::cmp::Ordering;

use rustc_apfloat::Float;
use rustc_apfloat::ieee::{BFloat, Half, Single};

use super::ieee::{self, Format, with_format};
use crate::emulate::value::{signed, truncate};
use crate::ptx::Type;
use crate::ptx::isa::{Decoded, Modifier, Opcode};

/// The result and, for `setp p|q`, the second predicate. `None`: not modelled.
pub(super) fn eval(decoded: &Decoded, a: &[u64]) -> Option<(u64, u64)> {
    match decoded.row.opcode {
        Opcode::Setp => setp(decoded, a),
        Opcode::Set => set(decoded, a).map(|bits| (bits, 0)),
        Opcode::Selp => Some((*a.get(usize::from(a.get(2)? & 1 == 0))?, 0)),
        Opcode::Slct => {
            let c = *a.get(2)?;
            let is_first = match decoded.source_type() {
                // A zero of either sign is not less than zero, and NaN is not greater.
                Type::F32 => operand::<Single>(decoded, c) >= Single::ZERO,
                _ => signed(c, 32) >= 0,
            };
            Some((*a.get(usize::from(!is_first))?, 0))
        }
        _ => None,
    }
}

/// The comparison and its complement, or those of the two halves, each combined with the optional predicate.
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
        // Here too.
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

/// A comparison's result with the optional predicate.
fn combined(decoded: &Decoded, holds: bool, predicate: &[u64]) -> bool {
    let c = predicate.first().is_some_and(|c| c & 1 == 1);
    match decoded.modifiers.first_of(&[Modifier::And, Modifier::Or, Modifier::Xor]) {
        Some(Modifier::And) => holds && c,
        Some(Modifier::Or) => holds || c,
        Some(_) => holds != c,
        None => holds,
    }
}

fn operand<F: Format>(decoded: &Decoded, bits: u64) -> F {
    let number = ieee::number(bits);
    if decoded.modifiers.has(Modifier::Ftz) { ieee::flushed(number) } else { number }
}

fn order<F: Format>(decoded: &Decoded, x: u64, y: u64) -> Option<Ordering> {
    operand::<F>(decoded, x).partial_cmp(&operand(decoded, y))
}

fn compare(decoded: &Decoded, ty: Type, x: u64, y: u64) -> Option<bool> {
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
