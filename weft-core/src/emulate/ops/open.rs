//! The symbolic values of results that depend on open operands.

use smallvec::SmallVec;

use super::eval::{eval, is_computed};
use crate::emulate::value::lane::{Lane, LaneMask, SymbolId, WARP, lanes};
use crate::emulate::value::origin::{Origin, Region};
use crate::emulate::value::register::Value;
use crate::emulate::value::symbolics::operator::Operator;
use crate::emulate::value::symbolics::{Logic, Symbolics};
use crate::flow::Pc;
use crate::ptx::Space;
use crate::ptx::isa::{Decoded, Modifier, Opcode};

/// The operator of a result of an instruction.
fn operator(pc: Pc, decoded: &Decoded, result: u8) -> Operator {
    let is_exact = !decoded.is_float_arithmetic() || is_computed(decoded);
    let only_at = (!is_exact).then_some(pc);
    Operator::Instruction { meaning: decoded.meaning(), only_at, result }
}

/// The symbolic value of a result that the manual leaves unspecified for these known operands, such as a quotient by
/// zero: the hardware gives the same result for the same operands. The result of an instruction that is not modelled
/// can differ each time.
pub(super) fn unspecified(
    symbolics: &mut Symbolics,
    (pc, decoded): (Pc, &Decoded),
    sources: &[&Value],
    lane: usize,
    result: u8,
) -> SymbolId {
    let origin = Origin::Unsupported(pc);
    if !is_computed(decoded) {
        return symbolics.any_number(origin);
    }
    let operands: SmallVec<[Lane; 3]> = sources.iter().map(|source| source.whole(lane)).collect();
    let region = region(symbolics, decoded, &operands);
    let operator = symbolics.operator(operator(pc, decoded, result));
    symbolics.unspecified(origin, (operator, &operands), region, width(decoded))
}

/// The symbolic values of a result in the lanes of `open`, where an operand is open; `result` is its index, 0 or 1.
pub(super) fn open_symbols(
    symbolics: &mut Symbolics,
    (pc, decoded): (Pc, &Decoded),
    sources: &[&Value],
    open: LaneMask,
    result: u8,
) -> [Option<SymbolId>; WARP] {
    let mut found = [None; WARP];
    if open == 0 {
        return found;
    }
    if decoded.is_float_arithmetic() && !sources.iter().copied().all(is_one) {
        return results_lane_by_lane(symbolics, pc, decoded, sources, open);
    }
    let (operator, width) = (operator(pc, decoded, result), width(decoded));
    let operator = match Logic::of(decoded, sources.len()).filter(|_| result == 0) {
        Some(logic) => symbolics.condition_operator(operator, logic),
        None => symbolics.operator(operator),
    };
    let (mut operands, mut before) = (SmallVec::<[Lane; 3]>::new(), SmallVec::new());
    let mut last = None;
    for lane in lanes(open) {
        operands.clear();
        operands.extend(sources.iter().map(|source| source.whole(lane)));
        // Lanes often hold the same values, and comparing them is faster than looking up their symbolic value.
        if operands != before {
            let region = region(symbolics, decoded, &operands);
            last = Some(match depends(symbolics, decoded, &operands) {
                Some(pc) => symbolics.anything(Origin::OfUnwritten(pc), region),
                None => symbolics.operation(operator, &operands, region, width),
            });
            std::mem::swap(&mut operands, &mut before);
        }
        found[lane] = last;
    }
    found
}

/// The instruction that read memory that nothing wrote, if the result surely depends on what that memory held: the
/// value read is the only open operand, and some of its possible values give different results.
fn depends(symbolics: &Symbolics, decoded: &Decoded, operands: &[Lane]) -> Option<Pc> {
    let mut open = operands.iter().enumerate().filter_map(|(at, value)| Some((at, value.symbol?)));
    let (at, symbol) = open.next().filter(|_| open.next().is_none())?;
    // A number added to a narrow word gives values that the word itself does not have.
    let pc = match symbolics.origin(symbol)? {
        Origin::Unwritten(pc) => pc,
        Origin::NarrowUnwritten(pc) if operands[at].bits == 0 => pc,
        _ => return None,
    };
    let is_float = decoded.source_type().is_float();
    // A loaded number has at least a byte and might be extended by zeros, so only candidates below 128 are surely
    // possible.
    let others =
        operands.iter().filter(|value| value.symbol.is_none()).map(|known_value| known_value.bits);
    let near = others.flat_map(|value| [value.wrapping_sub(1), value, value.wrapping_add(1)]);
    let some = [0, 1, 127, 0x3f80_0000, 0xbf80_0000, 0x3ff0 << 48, 0xbff0 << 48];
    let is_value = |candidate: &u64| is_float || *candidate < 128;
    let mut results = near.chain(some).filter(is_value).map(|value| {
        let mut all: SmallVec<[u64; 3]> = operands.iter().map(|operand| operand.bits).collect();
        all[at] = value;
        eval(decoded, &all)
    });
    let first = results.next()??;
    let is_free = symbolics.modulus(symbol) == 1;
    (is_free && results.any(|result| result.is_some_and(|own| own != first))).then_some(pc)
}

/// The results of floating-point arithmetic as a row, if all lanes of `mask` are open and such results are
/// distinguished. What all lanes compute from one number is one number again.
pub(super) fn distinguished(
    symbolics: &mut Symbolics,
    pc: Pc,
    decoded: &Decoded,
    sources: &[&Value],
    mask: LaneMask,
) -> Option<Value> {
    let open = sources.iter().fold(0, |open, source| open | source.open_lanes());
    let is_stable = |source: &Value| source.all_symbols(mask, |symbol| symbolics.is_stable(symbol));
    let are_one = sources.iter().copied().all(is_one);
    let is_number = |source: &&Value| {
        source.one_symbol(mask).is_some_and(|symbol| symbol.as_number().is_some())
    };
    let is_row = symbolics.distinguishes_floats
        && decoded.is_float_arithmetic()
        && mask & !open == 0
        && (!are_one || sources.iter().any(is_number))
        && sources.iter().copied().all(is_stable);
    if !is_row {
        return None;
    }
    let operator = symbolics.operator(operator(pc, decoded, 0));
    let row = symbolics.row(operator, sources, width(decoded))?;
    Some(Value::row_of(row, are_one && sources.iter().all(|source| source.as_one().is_some())))
}

/// The result of floating-point arithmetic with an operand that is one unstable symbolic value in all lanes: unstable
/// too, and one for all lanes. Operands that come from memory that nothing wrote are left to `open_lanes`, which judges
/// each lane.
pub(super) fn unknown(
    symbolics: &mut Symbolics,
    decoded: &Decoded,
    sources: &[&Value],
    mask: LaneMask,
) -> Option<SymbolId> {
    if !decoded.is_float_arithmetic() {
        return None;
    }
    let is_unknown = |symbol: &SymbolId| !symbolics.is_stable(*symbol);
    let atom = sources.iter().filter_map(|source| source.one_symbol(mask)).find(is_unknown)?;
    let origin = symbolics.origin(atom).filter(|origin| origin.unwritten().is_none())?;
    let lane = mask.trailing_zeros() as usize % WARP;
    let operands: SmallVec<[Lane; 3]> = sources.iter().map(|source| source.whole(lane)).collect();
    let region = region(symbolics, decoded, &operands);
    Some(symbolics.any(origin, region))
}

/// Whether all lanes are open with the same symbolic value, or known and equal.
fn is_one(source: &Value) -> bool {
    source.has_one_symbol() || source.as_uniform().is_some()
}

/// The symbolic values of floating-point results that can differ from lane to lane. Where such results are
/// distinguished and the operands of a lane are stable, its result is numbered. Of other results only the origin is
/// known: one symbolic value for each origin.
fn results_lane_by_lane(
    symbolics: &mut Symbolics,
    pc: Pc,
    decoded: &Decoded,
    sources: &[&Value],
    open: LaneMask,
) -> [Option<SymbolId>; WARP] {
    let row = if symbolics.distinguishes_floats {
        let operator = symbolics.operator(operator(pc, decoded, 0));
        symbolics.row(operator, sources, width(decoded))
    } else {
        None
    };
    let mut found = [None; WARP];
    let mut last: Option<(Origin, SymbolId)> = None;
    for lane in lanes(open) {
        let mut terms_of = sources.iter().filter_map(|source| source.symbol_of(lane));
        if let Some(row) = row.filter(|_| terms_of.all(|symbol| symbolics.is_stable(symbol))) {
            found[lane] = Some(row.lane(lane));
            continue;
        }
        let origin =
            symbolics.origin_among(sources.iter().filter_map(|source| source.symbol_of(lane)));
        let origin = origin.unwrap_or(Origin::Register);
        let known = last.filter(|(known, _)| *known == origin).map(|(_, atom)| atom);
        let symbol = known.unwrap_or_else(|| symbolics.any_number(origin));
        (found[lane], last) = (Some(symbol), Some((origin, symbol)));
    }
    found
}

/// Width of the result in bits.
fn width(decoded: &Decoded) -> u32 {
    match decoded.row.opcode {
        Opcode::Popc | Opcode::Clz | Opcode::Bfind => 32,
        // A signed result is extended to the whole register, which can be wider than its type.
        Opcode::Cvt if decoded.ty().is_signed() => 64,
        _ if decoded.modifiers.has(Modifier::Wide) => (decoded.ty().bits() * 2).min(64),
        _ => decoded.ty().bits(),
    }
}

/// The region of an open result: a sum of one pointer and numbers stays in the pointer's buffer.
fn region(symbolics: &Symbolics, decoded: &Decoded, operands: &[Lane]) -> Region {
    // An address has 64 bits; the addend of a wide product has them too.
    let ty = if decoded.row.opcode == Opcode::Cvt { decoded.source_type() } else { decoded.ty() };
    let is_wide = |at: usize| ty.bits() > 32 || (at == 2 && decoded.modifiers.has(Modifier::Wide));
    let region_of = |at: usize| match operands.get(at) {
        Some(&lane) if is_wide(at) => symbolics.region(lane),
        _ => Region::Number,
    };
    match decoded.row.opcode {
        Opcode::Add => region_of(0).plus(region_of(1)),
        Opcode::Sub
            if region_of(0) == region_of(1)
                && matches!(region_of(0), Region::Number | Region::Buffer(_)) =>
        {
            Region::Number
        }
        Opcode::Sub if region_of(1) == Region::Number => region_of(0),
        Opcode::Mad if region_of(0) == Region::Number && region_of(1) == Region::Number => {
            region_of(2)
        }
        Opcode::Selp | Opcode::Min | Opcode::Max if is_wide(0) => match operands {
            &[a, b, ..] => symbolics.region_of_either(a, b),
            _ => Region::Unclear,
        },
        // A null pointer becomes the start of the window.
        Opcode::Cvta
            if matches!(region_of(0), Region::Among(_)) && decoded.space != Space::Global =>
        {
            Region::Unclear
        }
        Opcode::Cvta => region_of(0),
        _ if (0..operands.len()).all(|at| region_of(at) == Region::Number) => Region::Number,
        _ => Region::Unclear,
    }
}
