//! Moves, packing and unpacking, and addresses between state spaces (PTX ISA §9.7.9.3, §9.7.9.19, §9.7.9.20).

use smallvec::smallvec;

use super::results::Results;
use crate::emulate::value::lane::{Lane, LaneMask, truncate};
use crate::emulate::value::origin::Region;
use crate::emulate::value::register::Value;
use crate::emulate::value::symbolics::Symbolics;
use crate::emulate::value::symbolics::operator::Operator;
use crate::flow::{space_of, window};
use crate::ptx::Type;
use crate::ptx::isa::{Decoded, Modifier, Opcode};

/// Whether moves of this type are computed; values of 16 bytes are not.
pub(super) fn is_computed(decoded: &Decoded) -> bool {
    decoded.ty() != Type::B128
}

/// `mov`, between registers or between a register and a vector of its parts.
pub(super) fn mov(
    symbolics: &mut Symbolics,
    decoded: &Decoded,
    sources: &[&Value],
    dests: usize,
) -> Results {
    match (sources, dests) {
        ([source], 0 | 1) => smallvec![Value::clone(source)],
        ([whole], parts) => {
            let bits = decoded.ty().bits() / u32::try_from(parts).expect("vectors are short");
            (0..parts).map(|at| unpacked(symbolics, whole, at, bits)).collect()
        }
        (parts, 1) if (2..=8).contains(&parts.len()) => {
            smallvec![packed(symbolics, decoded, parts)]
        }
        // `mov.v2` of vectors.
        (parts, _) => parts.iter().copied().cloned().collect(),
    }
}

fn unpacked(symbolics: &mut Symbolics, whole: &Value, at: usize, bits: u32) -> Value {
    let shift = u32::try_from(at).expect("vectors are short") * bits;
    if let Some(known) = whole.as_uniform() {
        return Value::uniform(truncate(known.checked_shr(shift).unwrap_or(0), bits));
    }
    Value::from_lanes(|lane| match whole.whole(lane) {
        Lane { bits: number, symbol: None } => {
            Lane::known(truncate(number.checked_shr(shift).unwrap_or(0), bits))
        }
        value => {
            let part = [value, Lane::known(u64::from(shift)), Lane::known(u64::from(bits))];
            let unpacked = symbolics.operator(Operator::Unpacked);
            let atom = symbolics.operation(unpacked, &part, Region::Unclear, bits);
            Lane { bits: 0, symbol: Some(atom) }
        }
    })
}

fn packed(symbolics: &mut Symbolics, decoded: &Decoded, parts: &[&Value]) -> Value {
    let whole = decoded.ty().bits();
    let bits = whole / u32::try_from(parts.len()).expect("vectors are short");
    Value::from_lanes(|lane| {
        let values: Vec<_> = parts.iter().map(|part| part.whole(lane)).collect();
        if values.iter().any(|part| part.symbol.is_some()) {
            let packed = symbolics.operator(Operator::Packed);
            let atom = symbolics.operation(packed, &values, Region::Unclear, whole);
            return Lane { bits: 0, symbol: Some(atom) };
        }
        let shifted = |(at, part): (usize, &Lane)| {
            truncate(part.bits, bits) << (u32::try_from(at).expect("vectors are short") * bits)
        };
        Lane::known(values.iter().enumerate().map(shifted).fold(0, |all, part| all | part))
    })
}

/// `selp` with a known predicate: each lane takes one of the operands, open or not.
pub(super) fn selected(decoded: &Decoded, sources: &[&Value], mask: LaneMask) -> Option<Value> {
    let [first, second, predicate] = sources else { return None };
    if decoded.row.opcode != Opcode::Selp || predicate.open_lanes() & mask != 0 {
        return None;
    }
    let mut value = Value::clone(second);
    value.blend(Value::clone(first), predicate.truth(), LaneMask::MAX);
    Some(value)
}

/// `cvta` and `isspacep`. The windows of the state spaces lie above 32 bits, so `cvta` on addresses of 32 bits gives
/// open values.
pub(super) fn eval(decoded: &Decoded, a: &[u64]) -> Option<u64> {
    let &[address] = a else { return None };
    let base = window(decoded.space);
    match decoded.row.opcode {
        Opcode::Cvta if decoded.ty().bits() != 64 => None,
        Opcode::Cvta if decoded.modifiers.has(Modifier::To) => Some(address.wrapping_sub(base)),
        Opcode::Cvta => Some(address.wrapping_add(base)),
        Opcode::Isspacep => Some(u64::from(space_of(address).0 == decoded.space)),
        _ => None,
    }
}
