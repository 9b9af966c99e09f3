//! Instructions that compute registers from registers, a warp at a time. Each family's file says what one lane does;
//! here operands are gathered, equal and affine lanes take one step, and open lanes become terms.

mod affine;
mod bits;
mod compare;
mod convert;
mod float;
mod integer;
mod moves;

pub(super) use moves::space_of;

use super::term::{Origin, Region, Terms};
use super::value::{LaneMask, Value, WARP, lanes};
use crate::flow::Pc;
use crate::ptx::isa::{Decoded, Effect, Family, Modifier, Opcode};

/// Runs an instruction in the lanes of `mask`: one value for each of `dests` results.
pub(super) fn compute(
    terms: &mut Terms,
    pc: Pc,
    decoded: &Decoded,
    sources: &[Value],
    dests: usize,
    mask: LaneMask,
) -> Vec<Value> {
    if decoded.row.effect == Effect::Opaque {
        return vec![Value::open(terms.fresh(Origin::Unsupported(pc))); dests];
    }
    if decoded.row.opcode == Opcode::Mov {
        return moves::mov(terms, pc, decoded, sources, dests);
    }
    if let Some(value) = affine::eval(decoded, sources) {
        return vec![value];
    }
    let mut results = lane_by_lane(terms, pc, decoded, sources, mask);
    results.truncate(dests.max(1));
    results
}

/// What one lane computes.
fn eval(decoded: &Decoded, a: &[u64]) -> Option<(u64, u64)> {
    match decoded.row.family {
        Family::Arithmetic if decoded.ty().is_float() => {
            float::eval(decoded, a).map(|bits| (bits, 0))
        }
        Family::Arithmetic => integer::eval(decoded, a),
        Family::Bits => bits::eval(decoded, a),
        Family::Compare => compare::eval(decoded, a),
        Family::Convert => convert::eval(decoded, a).map(|bits| (bits, 0)),
        Family::Move => moves::eval(decoded, a).map(|bits| (bits, 0)),
        _ => None,
    }
}

fn lane_by_lane(
    terms: &mut Terms,
    pc: Pc,
    decoded: &Decoded,
    sources: &[Value],
    mask: LaneMask,
) -> Vec<Value> {
    let open: LaneMask = sources.iter().fold(0, |open, source| open | source.open_lanes()) & mask;
    let (mut first, mut second) = ([0; WARP], [0; WARP]);
    let mut args = [0_u64; 8];
    let count = sources.len().min(args.len());
    let is_uniform = open == 0 && sources.iter().all(|source| source.as_uniform().is_some());
    let mut failed = 0;
    for lane in lanes(if is_uniform { mask & mask.wrapping_neg() } else { mask & !open }) {
        for (arg, source) in args.iter_mut().zip(sources) {
            *arg = source.lane(lane);
        }
        match eval(decoded, &args[..count]) {
            Some(result) => (first[lane], second[lane]) = result,
            None => failed |= 1 << lane,
        }
    }
    if is_uniform && failed == 0 {
        let lane = mask.trailing_zeros() as usize % WARP;
        return vec![Value::uniform(first[lane]), Value::uniform(second[lane])];
    }
    if is_uniform {
        failed = mask;
    }
    for lane in lanes(open) {
        let mut term = |result| u64::from(open_lane(terms, decoded, sources, lane, result));
        (first[lane], second[lane]) = (term(0), term(1));
    }
    if failed != 0 {
        let term = u64::from(terms.fresh(Origin::Unsupported(pc)));
        for lane in lanes(failed) {
            (first[lane], second[lane]) = (term, term);
        }
    }
    let is_predicate = open | failed == 0 && matches!(decoded.row.opcode, Opcode::Setp);
    if is_predicate {
        let bits = |each: &[u64; WARP]| {
            (0..WARP).fold(0, |mask, lane| mask | u32::from(each[lane] != 0) << lane)
        };
        return vec![Value::bits(bits(&first)), Value::bits(bits(&second))];
    }
    vec![Value::each(first, open | failed), Value::each(second, open | failed)]
}

/// The term of an operation on open operands; results are told apart.
fn open_lane(
    terms: &mut Terms,
    decoded: &Decoded,
    sources: &[Value],
    lane: usize,
    result: u64,
) -> u32 {
    let operands: Vec<_> = sources
        .iter()
        .map(|source| (source.open_lanes() >> lane & 1 == 1, source.lane(lane)))
        .collect();
    let region = region(terms, decoded, &operands);
    terms.operation(key(decoded) ^ result, &operands, region)
}

/// What an open result has to do with addresses: a sum of one pointer and numbers stays in the pointer's buffer.
fn region(terms: &Terms, decoded: &Decoded, operands: &[(bool, u64)]) -> Region {
    // An address has 64 bits; the addend of a wide product has them too.
    let ty = if decoded.row.opcode == Opcode::Cvt { decoded.source_type() } else { decoded.ty() };
    let is_wide = |at: usize| ty.bits() > 32 || (at == 2 && decoded.modifiers.has(Modifier::Wide));
    let own = |at: usize| match operands.get(at) {
        _ if !is_wide(at) => Region::Number,
        Some(&(true, term)) => {
            u32::try_from(term).map_or(Region::Unclear, |term| terms.region(term))
        }
        Some(&(false, bits)) => region_of(bits),
        None => Region::Number,
    };
    let sum = |a: Region, b: Region| match (a, b) {
        (Region::Number, region) | (region, Region::Number) => region,
        _ => Region::Unclear,
    };
    let all = |regions: &[Region]| {
        let same = regions.windows(2).all(|pair| pair[0] == pair[1]);
        if same { regions.first().copied().unwrap_or(Region::Number) } else { Region::Unclear }
    };
    match decoded.row.opcode {
        Opcode::Add => sum(own(0), own(1)),
        Opcode::Sub if own(0) == own(1) && own(0) != Region::Unclear => Region::Number,
        Opcode::Sub if own(1) == Region::Number => own(0),
        Opcode::Mad if own(0) == Region::Number && own(1) == Region::Number => own(2),
        Opcode::Selp | Opcode::Min | Opcode::Max => all(&[own(0), own(1)]),
        Opcode::Cvta => own(0),
        _ if (0..operands.len()).all(|at| own(at) == Region::Number) => Region::Number,
        _ => Region::Unclear,
    }
}

/// What known bits have to do with addresses.
fn region_of(bits: u64) -> Region {
    const LARGEST_NUMBER: u64 = 1 << 40;
    match super::inputs::argument_of(bits) {
        Some(argument) => Region::Buffer(argument),
        None if bits.cast_signed().unsigned_abs() < LARGEST_NUMBER => Region::Number,
        None => Region::Unclear,
    }
}

/// Tells decoded instructions apart.
fn key(decoded: &Decoded) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    (decoded.row.opcode, decoded.types, decoded.modifiers, decoded.space).hash(&mut hasher);
    hasher.finish()
}
