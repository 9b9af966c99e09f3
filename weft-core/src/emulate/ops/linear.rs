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
    let is_one = |source: &Value| source.has_one_term() || source.as_uniform().is_some();
    // What is added does not decide the term, only what is multiplied with: known lanes of a sum need not be equal.
    let is_sum = matches!(decoded.row.opcode, Opcode::Add | Opcode::Sub)
        && sources.iter().all(|source| source.has_one_term() || source.open_lanes() == 0);
    if is_sum || sources.iter().all(is_one) {
        let operands: Vec<_> = sources.iter().map(|source| source.whole(lane)).collect();
        let term = combination(terms, decoded, &operands)?.term;
        return Some(bits(decoded, sources, mask)?.on_one(term));
    }
    let mut bases = [None; WARP];
    for lane in lanes(mask) {
        let operands: Vec<_> = sources.iter().map(|source| source.whole(lane)).collect();
        bases[lane] = combination(terms, decoded, &operands)?.term;
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

/// The result of an operation that is linear in what is open.
struct Linear {
    /// `None`: it is known.
    term: Option<TermId>,
}

type Addends = Vec<(TermId, u64)>;

/// The term of the result in one lane; `None` if the operation is not linear in what is open.
fn combination(terms: &mut Terms, decoded: &Decoded, a: &[Lane]) -> Option<Linear> {
    if a.iter().all(|lane| lane.term.is_none()) {
        return Some(Linear { term: None });
    }
    let ty = decoded.ty();
    let has_carry =
        decoded.modifiers.first_of(&[Modifier::Sat, Modifier::Cc, Modifier::Hi]).is_some();
    if !is_integer(ty) || has_carry {
        return None;
    }
    let is_wide = decoded.modifiers.has(Modifier::Wide);
    let bits = if is_wide { (ty.bits() * 2).min(64) } else { ty.bits() };
    let addend = |lane: &Lane, factor: u64| lane.term.map(|term| (term, factor));
    let addends: Addends = match (decoded.row.opcode, a) {
        (Opcode::Add, [x, y]) => addend(x, 1).into_iter().chain(addend(y, 1)).collect(),
        (Opcode::Sub, [x, y]) => addend(x, 1).into_iter().chain(addend(y, u64::MAX)).collect(),
        (Opcode::Neg, [x]) => addend(x, u64::MAX).into_iter().collect(),
        (Opcode::Cvta, [x]) => addend(x, 1).into_iter().collect(),
        (Opcode::Mul, [x, y]) => product(terms, ty, is_wide, *x, *y)?,
        (Opcode::Mad, [x, y, z]) => {
            let mut addends = product(terms, ty, is_wide, *x, *y)?;
            addends.extend(addend(z, 1));
            addends
        }
        (Opcode::Shl, [x, Lane { bits: amount, term: None }]) => {
            let amount = u32::try_from(truncate(*amount, 32)).ok().filter(|own| *own < bits)?;
            product(terms, ty, false, *x, Lane::known(1 << amount))?
        }
        // Bits below all that is open: none of it gets lost, or all of it.
        (
            Opcode::Or | Opcode::And,
            [x, Lane { bits: low, term: None }] | [Lane { bits: low, term: None }, x],
        ) => {
            let term = terms.sum(bits, &[(x.term?, 1)], 0)?;
            let is_below = truncate(*low, bits) < 1 << terms.zeros(term).min(63);
            let is_kept = decoded.row.opcode == Opcode::Or;
            is_below.then(|| is_kept.then_some((term, 1)).into_iter().collect())?
        }
        (Opcode::Cvt, [x]) if is_integer(decoded.source_type()) => {
            let from = decoded.source_type();
            let term = match x.term? {
                term if from.bits() < bits => terms.extension(term, from.bits(), from.is_signed()),
                term => Some(term),
            };
            term.map(|term| (term, 1)).into_iter().collect()
        }
        _ => return None,
    };
    Some(Linear { term: terms.sum(bits, &addends, 0) })
}

fn is_integer(ty: Type) -> bool {
    !ty.is_float()
        && !matches!(ty, Type::Other | Type::Pred | Type::U16x2 | Type::S16x2 | Type::B128)
}

/// A product of something open and a known factor, as an addend.
fn product(terms: &mut Terms, ty: Type, is_wide: bool, x: Lane, y: Lane) -> Option<Addends> {
    let (open, term, factor) = match (x.term, y.term) {
        (None, None) => return Some(Addends::new()),
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
        let term = terms.extension(term, bits, ty.is_signed());
        return Some(term.map(|term| (term, factor)).into_iter().collect());
    }
    // A multiple of an address is none.
    let is_number = bits <= 32 || Region::of(open.bits) == Region::Number || factor == 1;
    is_number.then(|| vec![(term, truncate(factor, bits))])
}
