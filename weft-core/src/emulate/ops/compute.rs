//! Computes an instruction for a whole warp: at once where lanes are equal, affine or on one symbolic value, lane by lane
//! otherwise.

use smallvec::smallvec;

use super::eval::{MAX_OPERANDS, eval};
use super::open::{distinguished, open_symbols, unknown, unspecified};
use super::results::{Results, results};
use super::{affine, compare, linear, moves, plain};
use crate::emulate::value::lane::{LaneMask, WARP, lanes};
use crate::emulate::value::origin::Origin;
use crate::emulate::value::register::Value;
use crate::emulate::value::symbolics::Symbolics;
use crate::flow::Pc;
use crate::ptx::isa::{Decoded, Effect, Opcode};

/// Computes an instruction in the lanes of `mask`. Returns `dests` results; other lanes hold anything.
pub(crate) fn compute(
    symbolics: &mut Symbolics,
    pc: Pc,
    decoded: &Decoded,
    sources: &[&Value],
    dests: usize,
    mask: LaneMask,
) -> Results {
    let is_move = decoded.row.opcode == Opcode::Mov;
    if decoded.row.effect == Effect::Opaque || is_move && !moves::is_computed(decoded) {
        let all = sources.iter().flat_map(|source| lanes(mask).map(|lane| source.whole(lane)));
        let origin = symbolics.unwritten(all).unwrap_or(Origin::Unsupported(pc));
        return smallvec![Value::open(symbolics.any_number(origin)); dests];
    }
    if is_move {
        return moves::mov(symbolics, decoded, sources, dests);
    }
    if let Some(both) = compare::in_row(decoded, sources) {
        return results(both, dests);
    }
    if let Some(row) = distinguished(symbolics, pc, decoded, sources, mask) {
        return smallvec![row];
    }
    if let Some(open) = unknown(symbolics, decoded, sources, mask) {
        return smallvec![Value::open(open)];
    }
    let short = affine::eval(decoded, sources)
        .or_else(|| plain::eval(decoded, sources))
        .or_else(|| moves::selected(decoded, sources, mask))
        .or_else(|| linear::eval(symbolics, decoded, sources, mask));
    if let Some(value) = short {
        return smallvec![value];
    }
    lane_by_lane(symbolics, pc, decoded, sources, dests, mask)
}

fn in_lane(decoded: &Decoded, sources: &[&Value], lane: usize) -> Option<(u64, u64)> {
    let mut operands = [0; MAX_OPERANDS];
    for (operand, source) in operands.iter_mut().zip(sources) {
        *operand = source.bits_of(lane);
    }
    eval(decoded, &operands[..sources.len().min(MAX_OPERANDS)])
}

fn lane_by_lane(
    symbolics: &mut Symbolics,
    pc: Pc,
    decoded: &Decoded,
    sources: &[&Value],
    dests: usize,
    mask: LaneMask,
) -> Results {
    let open: LaneMask = sources.iter().fold(0, |open, source| open | source.open_lanes()) & mask;
    let (mut first, mut second) = ([0; WARP], [0; WARP]);
    let mut failed = 0;
    for lane in lanes(mask & !open) {
        match in_lane(decoded, sources, lane) {
            Some(result) => (first[lane], second[lane]) = result,
            None => failed |= 1 << lane,
        }
    }
    if open | failed == 0 {
        let value = |each: [u64; WARP]| {
            if decoded.row.opcode != Opcode::Setp {
                return Value::each(each);
            }
            let bit = |lane: usize| u32::from(each[lane] != 0) << lane;
            Value::bits((0..WARP).map(bit).fold(0, |mask, of_lane| mask | of_lane))
        };
        return results([first, second].map(value), dests);
    }
    // A second result that no register takes gets no symbolic value of its own.
    let mut bases = [open_symbols(symbolics, (pc, decoded), sources, open, 0), [None; WARP]];
    bases[1] =
        if dests > 1 { open_symbols(symbolics, (pc, decoded), sources, open, 1) } else { bases[0] };
    if failed != 0 {
        for (result, bases) in (0..).zip(&mut bases) {
            for lane in lanes(failed) {
                bases[lane] = Some(unspecified(symbolics, (pc, decoded), sources, lane, result));
            }
        }
    }
    let [first_bases, second_bases] = bases;
    results([Value::each(first).on(first_bases), Value::each(second).on(second_bases)], dests)
}
