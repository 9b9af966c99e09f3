//! Computes one lane of an instruction whose operands are known, by the file of its family.

use super::{bits, compare, convert, float, integer, moves};
use crate::ptx::isa::{Decoded, Effect, Family, Opcode};

/// Most operands of an instruction.
pub(crate) const MAX_OPERANDS: usize = 8;

/// Computes one lane. Returns two results, the second one 0 if the instruction has none; `None`: unspecified or not
/// modelled.
pub(crate) fn eval(decoded: &Decoded, a: &[u64]) -> Option<(u64, u64)> {
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

/// Computes an instruction whose operands are known and equal in all lanes. Returns both results; `None` where the
/// lanes have to be computed by `compute`.
pub(crate) fn compute_once(
    decoded: &Decoded,
    operands: &[u64],
    dests: usize,
) -> Option<(u64, u64)> {
    match (decoded.row.opcode, operands) {
        (Opcode::Mov, &[source]) if dests < 2 && moves::is_computed(decoded) => Some((source, 0)),
        (Opcode::Mov, _) => None,
        _ if decoded.row.effect == Effect::Opaque => None,
        _ => eval(decoded, operands),
    }
}

/// Whether `eval` models the instruction, so that known operands give a known result. For some operands the result can
/// still be unspecified.
pub(crate) fn is_computed(decoded: &Decoded) -> bool {
    // The operands to try: small integers, and falling positive numbers in every floating-point format.
    const INTEGERS: [u64; 5] = [1; 5];
    const FLOATS: [u64; 5] = [
        0x3c00_3c00_3c00_3c00,
        0x3800_3800_3800_3800,
        0x3400_3400_3400_3400,
        0x3000_3000_3000_3000,
        0x2c00_2c00_2c00_2c00,
    ];
    if decoded.row.effect != Effect::Compute || decoded.is_strange {
        return false;
    }
    if decoded.row.opcode == Opcode::Mov {
        return moves::is_computed(decoded);
    }
    let least = decoded.row.shape.matches('s').count();
    let computes = |operands: &[u64]| {
        [least, least + 1].iter().any(|count| {
            operands.get(..*count).is_some_and(|operands| eval(decoded, operands).is_some())
        })
    };
    computes(&INTEGERS) || computes(&FLOATS)
}
