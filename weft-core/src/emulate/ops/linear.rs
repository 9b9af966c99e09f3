//! The operations that keep an open value a sum of atoms: sums, products with a known factor, changes of width. The bits
//! that are added to a term go through the operation as if they were known.

use smallvec::SmallVec;

use super::{affine, eval as eval_lane, is_integer, is_modular, plain};
use crate::emulate::origin::Region;
use crate::emulate::term::{Lane, TermId, Terms};
use crate::emulate::value::{LaneMask, Value, WARP, lanes, signed, truncate};
use crate::ptx::Type;
use crate::ptx::isa::{Decoded, Modifier, Opcode};

/// The result if it is such a sum in all lanes of `mask`.
pub(super) fn eval(
    terms: &mut Terms,
    decoded: &Decoded,
    sources: &[&Value],
    mask: LaneMask,
) -> Option<Value> {
    if sources.iter().all(|source| source.open_lanes() & mask == 0) {
        return None;
    }
    let lane = mask.trailing_zeros() as usize % WARP;
    let has_one = |source: &Value| source.one_term(mask).is_some();
    let is_one = |source: &Value| has_one(source) || source.as_uniform().is_some();
    // What is added does not decide the term, only what is multiplied with: known lanes of a sum need not be equal.
    let is_sum = matches!(decoded.row.opcode, Opcode::Add | Opcode::Sub)
        && sources.iter().all(|source| has_one(source) || source.open_lanes() & mask == 0);
    if is_sum || sources.iter().copied().all(is_one) {
        let operands: Vec<_> = sources.iter().map(|source| for_all(source, lane)).collect();
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

/// A lane that stands for all: nothing is added to its term only if that is so in every lane.
fn for_all(source: &Value, lane: usize) -> Lane {
    let own = source.whole(lane);
    let differs = own.term.is_some() && source.bits_alone().as_uniform().is_none();
    Lane { bits: own.bits | u64::from(differs), ..own }
}

/// The operation on the bits alone.
fn bits(decoded: &Decoded, sources: &[&Value], mask: LaneMask) -> Option<Value> {
    let alone: SmallVec<[Value; 3]> = sources.iter().map(|source| source.bits_alone()).collect();
    let alone: SmallVec<[&Value; 3]> = alone.iter().collect();
    let in_row = affine::eval(decoded, &alone).or_else(|| plain::eval(decoded, &alone));
    if in_row.is_some() {
        return in_row;
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
    if ty == Type::Pred {
        let absorbs = |lane: &Lane| {
            let neutral = u64::from(decoded.row.opcode == Opcode::And);
            lane.term.is_none() && lane.bits & 1 != neutral
        };
        let is_logic = matches!(decoded.row.opcode, Opcode::And | Opcode::Or);
        return (is_logic && a.iter().any(absorbs)).then_some(Linear { term: None });
    }
    if !is_modular(decoded) {
        return None;
    }
    let is_wide = decoded.modifiers.has(Modifier::Wide);
    let bits = if is_wide { (ty.bits() * 2).min(64) } else { ty.bits() };
    let mut addend = |lane: &Lane, factor: u64| {
        let term = lane.term.and_then(|term| terms.widened(term, bits, lane.bits == 0));
        term.map(|term| (term, factor))
    };
    let addends: Addends = match (decoded.row.opcode, a) {
        (Opcode::Add, [x, y]) => [addend(x, 1), addend(y, 1)].into_iter().flatten().collect(),
        (Opcode::Sub, [x, y]) => {
            [addend(x, 1), addend(y, u64::MAX)].into_iter().flatten().collect()
        }
        (Opcode::Neg, [x]) => addend(x, u64::MAX).into_iter().collect(),
        (Opcode::Cvta, [x]) => addend(x, 1).into_iter().collect(),
        (Opcode::Mul, [x, y]) => product(terms, ty, is_wide, *x, *y)?,
        (Opcode::Mad, [x, y, z]) => {
            let last = addend(z, 1);
            let mut addends = product(terms, ty, is_wide, *x, *y)?;
            addends.extend(last);
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
            let (own, _) = addend(x, 1)?;
            let term = terms.sum(bits, &[(own, 1)], 0)?;
            let is_below = truncate(*low, bits) < 1 << terms.zeros(term).min(63);
            let is_kept = decoded.row.opcode == Opcode::Or;
            is_below.then(|| is_kept.then_some((term, 1)).into_iter().collect())?
        }
        (Opcode::Cvt, [x]) if is_integer(decoded.source_type()) => {
            return Some(Linear { term: converted(terms, ty, decoded.source_type(), *x) });
        }
        _ => return None,
    };
    Some(Linear { term: terms.sum(bits, &addends, 0) })
}

/// The term of a conversion between integers; signed results fill the register, which may be wider.
fn converted(terms: &mut Terms, to: Type, from: Type, x: Lane) -> Option<TermId> {
    let bits = to.bits();
    let is_alone = |bits: u32| truncate(x.bits, bits) == 0;
    if from.bits() < bits {
        let term =
            terms.extension(x.term?, from.bits(), from.is_signed(), is_alone(from.bits()))?;
        return terms.sum(bits, &[(term, 1)], 0);
    }
    if to.is_signed() && bits < 32 {
        return terms.extension(x.term?, bits, true, is_alone(bits));
    }
    let term = terms.widened(x.term?, bits, x.bits == 0)?;
    terms.sum(bits, &[(term, 1)], 0)
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
        let is_alone = truncate(open.bits, bits) == 0;
        let term = terms.extension(term, bits, ty.is_signed(), is_alone);
        return Some(term.map(|term| (term, factor)).into_iter().collect());
    }
    // A multiple of an address is none.
    let is_number = bits <= 32 || Region::of(open.bits) == Region::Number || factor == 1;
    let term = terms.widened(term, bits, open.bits == 0);
    is_number.then(|| term.map(|term| (term, truncate(factor, bits))).into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::super::compute;
    use super::*;
    use crate::emulate::origin::Origin;
    use crate::flow::Pc;
    use crate::ptx::isa;

    const OPERATIONS: [(&str, [u32; 4]); 25] = [
        ("add.u32", [32, 32, 32, 0]),
        ("sub.u32", [32, 32, 32, 0]),
        ("neg.s32", [32, 32, 0, 0]),
        ("mul.lo.u32", [32, 32, 32, 0]),
        ("mad.lo.u32", [32, 32, 32, 32]),
        ("shl.b32", [32, 32, 32, 0]),
        ("or.b32", [32, 32, 32, 0]),
        ("and.b32", [32, 32, 32, 0]),
        ("min.u32", [32, 32, 32, 0]),
        ("cvt.u64.u32", [64, 32, 0, 0]),
        ("cvt.s64.s32", [64, 32, 0, 0]),
        ("cvt.u32.u64", [32, 64, 0, 0]),
        ("cvt.s64.s16", [64, 32, 0, 0]),
        ("cvt.u32.u16", [32, 32, 0, 0]),
        ("cvt.u64.u8", [64, 32, 0, 0]),
        ("cvt.u8.u32", [32, 32, 0, 0]),
        ("cvt.u16.u64", [32, 64, 0, 0]),
        ("cvt.s8.s32", [32, 32, 0, 0]),
        ("cvt.s16.u64", [64, 64, 0, 0]),
        ("mul.wide.u32", [64, 32, 32, 0]),
        ("mad.wide.s32", [64, 32, 32, 64]),
        ("add.u64", [64, 64, 64, 0]),
        ("sub.u64", [64, 64, 64, 0]),
        ("shl.b64", [64, 64, 32, 0]),
        ("and.b64", [64, 64, 64, 0]),
    ];

    struct Random(u64);

    impl Random {
        fn below(&mut self, most: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0 % most
        }

        fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
            &all[usize::try_from(self.below(all.len() as u64)).unwrap()]
        }
    }

    /// A register, and what it holds for some values of the atoms and drifts.
    struct Register {
        value: Value,
        bits: u32,
        actual: [u64; WARP],
    }

    const CONSTANTS: [u64; 11] = [0, 1, 3, 4, 8, 12, 31, 64, 255, 1024, 0xffff_fffc];

    fn start(random: &mut Random, terms: &mut Terms, at: u64) -> Register {
        let bits = if at.is_multiple_of(2) { 32 } else { 64 };
        let atom = terms.initial(Origin::Register, 8 * at, bits / 8);
        let drift = *random.one_of(&[0, 0, 4, 12, 1024]);
        let own = random.below(if bits == 32 { 1 << 32 } else { 1 << 40 });
        let step = random.below(3) * 4;
        let lanes = Value::affine(random.below(100), step).on_one(Some(atom));
        let value =
            Value::from_lanes(|lane| terms.drifting(lanes.whole(lane), drift, Origin::Register));
        let actual = std::array::from_fn(|lane| {
            let rounds = random.below(1 << 20);
            truncate(own.wrapping_add(lanes.lane(lane)).wrapping_add(drift * rounds), bits)
        });
        Register { value, bits, actual }
    }

    /// What a term says of the values of two lanes holds, whatever the atoms and drifts are.
    #[test]
    fn lanes_on_one_term_differ_as_the_term_says() {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let (mut compared, mut known) = (0, 0);
        for _ in 0..3000 {
            let mut terms = Terms::new();
            let mut all: Vec<_> = (0..4).map(|at| start(&mut random, &mut terms, at)).collect();
            for _ in 0..12 {
                let (mnemonic, [bits, sources @ ..]) = *random.one_of(&OPERATIONS);
                let decoded = isa::decode(mnemonic).unwrap();
                let mut pick = |width: u32| {
                    let of_width: Vec<_> = all.iter().filter(|own| own.bits == width).collect();
                    let chosen = *random.one_of(&of_width);
                    if random.below(2) == 0 {
                        return (chosen.value.clone(), chosen.actual);
                    }
                    let bits = *random.one_of(&CONSTANTS);
                    (Value::uniform(bits), [bits; WARP])
                };
                let operands: Vec<_> =
                    sources.into_iter().filter(|width| *width > 0).map(&mut pick).collect();
                let values: Vec<_> = operands.iter().map(|(value, _)| value.clone()).collect();
                let value = compute(
                    &mut terms,
                    Pc(0),
                    &decoded,
                    &values.iter().collect::<Vec<_>>(),
                    1,
                    LaneMask::MAX,
                )
                .remove(0);
                let actual = std::array::from_fn(|lane| {
                    let args: Vec<_> = operands.iter().map(|(_, actual)| actual[lane]).collect();
                    eval_lane(&decoded, &args).unwrap().0
                });
                all.push(Register { value, bits, actual });
            }
            let mut first = std::collections::HashMap::new();
            for register in &all {
                for lane in 0..WARP {
                    let (own, actual) = (register.value.whole(lane), register.actual[lane]);
                    let Some(term) = own.term else {
                        assert_eq!(own.bits, actual, "known");
                        known += 1;
                        continue;
                    };
                    let (bits, modulus) = (terms.bits(term), terms.modulus(term));
                    let &mut (other, there) = first.entry(term).or_insert((own.bits, actual));
                    let said = own.bits.wrapping_sub(other);
                    let wrong = truncate(actual.wrapping_sub(there).wrapping_sub(said), bits);
                    let wrong = signed(wrong, bits).unsigned_abs();
                    let holds = match modulus {
                        0 => wrong == 0,
                        _ => wrong.is_multiple_of(modulus),
                    };
                    assert!(holds, "{bits} bits, modulus {modulus}, off by {wrong}");
                    compared += u32::from(modulus != 1);
                }
            }
        }
        assert!(compared > 100_000 && known > 10_000, "{compared} {known}");
    }
}
