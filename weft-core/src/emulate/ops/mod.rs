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

use super::term::{Origin, Terms};
use super::value::{LaneMask, Value, WARP, lanes};
use crate::flow::Pc;
use crate::ptx::isa::{Decoded, Effect, Family, Opcode};

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
        return moves::mov(terms, decoded, sources, dests);
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
        let term = u64::from(open_lane(terms, decoded, sources, lane));
        (first[lane], second[lane]) = (term, term);
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

/// The term of an operation on open operands. The second result is told from the first by nothing: both are open.
fn open_lane(terms: &mut Terms, decoded: &Decoded, sources: &[Value], lane: usize) -> u32 {
    let operands: Vec<_> = sources
        .iter()
        .map(|source| (source.open_lanes() >> lane & 1 == 1, source.lane(lane)))
        .collect();
    // A pointer plus something open stays within the pointer's buffer.
    let is_sum = matches!(decoded.row.opcode, Opcode::Add | Opcode::Sub | Opcode::Mad);
    let region = operands.iter().find_map(|&(is_open, bits)| {
        (is_sum && !is_open).then(|| super::inputs::argument_of(bits)).flatten()
    });
    terms.operation(key(decoded), &operands, region)
}

/// Tells decoded instructions apart.
fn key(decoded: &Decoded) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    (decoded.row.opcode, decoded.types, decoded.modifiers, decoded.space).hash(&mut hasher);
    hasher.finish()
}
