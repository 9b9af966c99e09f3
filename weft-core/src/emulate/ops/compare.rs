//! Comparison and selection of one lane (PTX ISA §9.7.6).

use std::cmp::Ordering;

use crate::emulate::value::{signed, truncate};
use crate::ptx::Type;
use crate::ptx::isa::{Decoded, Modifier, Opcode};

/// The result and, for `setp p|q`, the second predicate. `None`: not modelled.
pub(super) fn eval(decoded: &Decoded, a: &[u64]) -> Option<(u64, u64)> {
    match decoded.row.opcode {
        Opcode::Setp => predicates(decoded, decoded.ty(), a),
        Opcode::Set => {
            let (is_true, _) = predicates(decoded, decoded.source_type(), a)?;
            let ones = match decoded.ty() {
                Type::F32 => u64::from(1.0_f32.to_bits()),
                ty if ty.is_float() => return None,
                _ => u64::from(u32::MAX),
            };
            Some((is_true * ones, 0))
        }
        Opcode::Selp => Some((*a.get(usize::from(a.get(2)? & 1 == 0))?, 0)),
        Opcode::Slct => {
            let c = *a.get(2)?;
            let is_first = match decoded.source_type() {
                Type::F32 if decoded.modifiers.has(Modifier::Ftz) && single(c).is_subnormal() => {
                    true
                }
                Type::F32 => single(c) >= 0.0,
                _ => signed(c, 32) >= 0,
            };
            Some((*a.get(usize::from(!is_first))?, 0))
        }
        _ => None,
    }
}

#[allow(clippy::cast_possible_truncation, reason = "an f32 is the low 32 bits of its register")]
const fn single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

/// The comparison combined with the optional predicate, and the negated comparison combined with it.
fn predicates(decoded: &Decoded, ty: Type, a: &[u64]) -> Option<(u64, u64)> {
    let &[x, y, ref rest @ ..] = a else { return None };
    let holds = compare(decoded, ty, x, y)?;
    let combine = |holds: bool| {
        let c = rest.first().is_some_and(|c| c & 1 == 1);
        u64::from(match decoded.modifiers.first_of(&[Modifier::And, Modifier::Or, Modifier::Xor]) {
            Some(Modifier::And) => holds && c,
            Some(Modifier::Or) => holds || c,
            Some(_) => holds != c,
            None => holds,
        })
    };
    Some((combine(holds), combine(!holds)))
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
        Type::F32 => {
            let flush = |value: f32| {
                if decoded.modifiers.has(Modifier::Ftz) && value.is_subnormal() {
                    0.0
                } else {
                    value
                }
            };
            flush(single(x)).partial_cmp(&flush(single(y)))
        }
        Type::F64 => f64::from_bits(x).partial_cmp(&f64::from_bits(y)),
        Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 | Type::Other => return None,
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
