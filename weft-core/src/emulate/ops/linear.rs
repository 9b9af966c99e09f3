//! The operations that keep an open value a sum of atoms: sums, products with a known factor, changes of width. The bits
//! that are added to a term go through the operation as if they were known.

use super::{affine, eval as eval_lane};
use crate::emulate::term::{Lane, Region, TermId, Terms};
use crate::emulate::value::{LaneMask, Value, WARP, lanes, signed, truncate};
use crate::ptx::Type;
use crate::ptx::isa::{Decoded, Modifier, Opcode};

/// The result if it is such a sum in all lanes of `mask`.
pub(super) fn eval(
    terms: &mut Terms,
    decoded: &Decoded,
    sources: &[Value],
    mask: LaneMask,
) -> Option<Value> {
    if sources.iter().all(|source| source.open_lanes() & mask == 0) {
        return None;
    }
    let lane = mask.trailing_zeros() as usize % WARP;
    let is_one = |source: &Value| {
        source.one_base().is_some_and(|base| base.is_some() || source.as_uniform().is_some())
    };
    // What is added does not decide the term, only what is multiplied with: known lanes of a sum need not be equal.
    let is_sum = matches!(decoded.row.opcode, Opcode::Add | Opcode::Sub)
        && sources.iter().all(|source| source.one_base().is_some());
    if is_sum || sources.iter().all(is_one) {
        let operands: Vec<_> = sources.iter().map(|source| source.whole(lane)).collect();
        let term = combination(terms, decoded, &operands)?;
        return Some(bits(decoded, sources, mask)?.on_one(term));
    }
    let mut bases = [None; WARP];
    for lane in lanes(mask) {
        let operands: Vec<_> = sources.iter().map(|source| source.whole(lane)).collect();
        bases[lane] = combination(terms, decoded, &operands)?;
    }
    Some(bits(decoded, sources, mask)?.on(bases))
}

/// The operation on the bits alone.
fn bits(decoded: &Decoded, sources: &[Value], mask: LaneMask) -> Option<Value> {
    let alone: Vec<_> = sources.iter().map(Value::bits_alone).collect();
    if let Some(value) = affine::eval(decoded, &alone) {
        return Some(value);
    }
    let mut each = [0; WARP];
    for lane in lanes(mask) {
        let args: Vec<_> = alone.iter().map(|source| source.lane(lane)).collect();
        (each[lane], _) = eval_lane(decoded, &args)?;
    }
    Some(Value::each(each))
}

/// The term of the result in one lane: `None` if the operation is not linear in what is open, `Some(None)` if the
/// result is known.
fn combination(terms: &mut Terms, decoded: &Decoded, a: &[Lane]) -> Option<Option<TermId>> {
    if a.iter().all(|lane| lane.term.is_none()) {
        return Some(None);
    }
    let ty = decoded.ty();
    let is_integer = |ty: Type| {
        !ty.is_float()
            && !matches!(ty, Type::Other | Type::Pred | Type::U16x2 | Type::S16x2 | Type::B128)
    };
    let has_carry =
        decoded.modifiers.first_of(&[Modifier::Sat, Modifier::Cc, Modifier::Hi]).is_some();
    if !is_integer(ty) || has_carry {
        return None;
    }
    let is_wide = decoded.modifiers.has(Modifier::Wide);
    let bits = if is_wide { (ty.bits() * 2).min(64) } else { ty.bits() };
    let addend = |lane: &Lane, factor: u64| lane.term.map(|term| (term, factor));
    let addends: Vec<Option<(TermId, u64)>> = match (decoded.row.opcode, a) {
        (Opcode::Add, [x, y]) => vec![addend(x, 1), addend(y, 1)],
        (Opcode::Sub, [x, y]) => vec![addend(x, 1), addend(y, u64::MAX)],
        (Opcode::Neg, [x]) => vec![addend(x, u64::MAX)],
        (Opcode::Cvta, [x]) => vec![addend(x, 1)],
        (Opcode::Mul, [x, y]) => vec![product(terms, ty, is_wide, *x, *y)?],
        (Opcode::Mad, [x, y, z]) => vec![product(terms, ty, is_wide, *x, *y)?, addend(z, 1)],
        (Opcode::Shl, [x, Lane { bits: amount, term: None }]) => {
            let amount = u32::try_from(truncate(*amount, 32)).ok().filter(|own| *own < bits)?;
            vec![product(terms, ty, false, *x, Lane::known(1 << amount))?]
        }
        (Opcode::Or, [x, Lane { bits: low, term: None }])
        | (Opcode::Or, [Lane { bits: low, term: None }, x]) => {
            let term = terms.sum(bits, &[(x.term?, 1)], 0)?;
            (truncate(*low, bits) < 1 << terms.zeros(term).min(63)).then_some(())?;
            vec![Some((term, 1))]
        }
        (Opcode::And, [x, Lane { bits: low, term: None }])
        | (Opcode::And, [Lane { bits: low, term: None }, x]) => {
            let term = terms.sum(bits, &[(x.term?, 1)], 0)?;
            (truncate(*low, bits) < 1 << terms.zeros(term).min(63)).then_some(())?;
            vec![None]
        }
        (Opcode::Cvt, [x]) if is_integer(decoded.source_type()) => {
            let from = decoded.source_type();
            let Some(term) = x.term else { return Some(None) };
            let term = if from.bits() < bits {
                terms.extension(term, from.bits(), from.is_signed())
            } else {
                Some(term)
            };
            vec![term.map(|term| (term, 1))]
        }
        _ => return None,
    };
    let addends: Vec<_> = addends.into_iter().flatten().collect();
    Some(terms.sum(bits, &addends, 0))
}

/// A product of something open and a known factor, as an addend.
fn product(
    terms: &mut Terms,
    ty: Type,
    is_wide: bool,
    x: Lane,
    y: Lane,
) -> Option<Option<(TermId, u64)>> {
    let (open, term, factor) = match (x.term, y.term) {
        (None, None) => return Some(None),
        (Some(term), None) => (x, term, y.bits),
        (None, Some(term)) => (y, term, x.bits),
        (Some(_), Some(_)) => return None,
    };
    let bits = ty.bits();
    if is_wide {
        let factor = if ty.is_signed() {
            signed(truncate(factor, bits), bits).cast_unsigned()
        } else {
            truncate(factor, bits)
        };
        return Some(terms.extension(term, bits, ty.is_signed()).map(|term| (term, factor)));
    }
    // A multiple of an address is none.
    let is_number = bits <= 32 || Region::of(open.bits) == Region::Number || factor == 1;
    is_number.then_some(Some((term, truncate(factor, bits))))
}
