//! Circuits of quotients and remainders: unknown words `q` and `r` with `a = q * b + r` and `r < b`, which a SAT solver
//! works backwards through as well as forwards.

use super::arithmetic::{
    as_constant, below, choice, constant, equal, negated_if, resized, significant,
};
use super::circuit::{Circuit, Wire};
use super::multiply::{exact_product_sum, scaled_sum};

/// A quotient, a remainder, and what is known of them.
pub(super) struct DivisionCircuit {
    pub(super) quotient: Vec<Wire>,
    pub(super) remainder: Vec<Wire>,
    /// Holds for the quotient and the remainder, and so has to be asserted. It can be made true for all operands, and says
    /// nothing where the divisor is zero: quotient and remainder are then any words.
    pub(super) definition: Wire,
}

/// Divides without signs.
pub(super) fn divided(circuit: &mut Circuit, a: &[Wire], b: &[Wire]) -> DivisionCircuit {
    match as_constant(b) {
        Some(number) if number != 0 => by_number(circuit, a, number),
        _ => by_word(circuit, a, b),
    }
}

/// Divides with signs: the quotient is rounded towards zero, and the remainder has the sign of the dividend.
pub(super) fn divided_signed(circuit: &mut Circuit, a: &[Wire], b: &[Wire]) -> DivisionCircuit {
    let (sign_a, sign_b) = (a[a.len() - 1], b[b.len() - 1]);
    let (absolute_a, absolute_b) = (negated_if(circuit, sign_a, a), negated_if(circuit, sign_b, b));
    let division = divided(circuit, &absolute_a, &absolute_b);
    let sign = circuit.xor(sign_a, sign_b);
    DivisionCircuit {
        quotient: negated_if(circuit, sign, &division.quotient),
        remainder: negated_if(circuit, sign_a, &division.remainder),
        ..division
    }
}

fn by_number(circuit: &mut Circuit, a: &[Wire], number: u128) -> DivisionCircuit {
    let bits = a.len();
    let greatest = (1u128 << significant(a)) - 1;
    let exactly = |quotient: &[Wire], remainder: &[Wire]| DivisionCircuit {
        quotient: resized(quotient, bits),
        remainder: resized(remainder, bits),
        definition: Wire::TRUE,
    };
    if number.is_power_of_two() {
        let (remainder, quotient) = a.split_at((number.trailing_zeros() as usize).min(bits));
        return exactly(quotient, remainder);
    }
    if number > greatest {
        return exactly(&[], a);
    }
    let quotient = circuit.inputs(length(greatest / number));
    let remainder = circuit.inputs(length(number - 1));
    // The quotient is below twice its greatest value, so two more bits hold the product and the sum.
    let wide = bits + 2;
    let start = resized(&remainder, wide);
    let whole = scaled_sum(circuit, &start, &resized(&quotient, wide), number);
    let is_whole = equal(circuit, &whole, &resized(a, wide));
    let divisor = constant(number, remainder.len());
    let is_rest = below(circuit, &remainder, &divisor);
    let definition = circuit.and(is_whole, is_rest);
    DivisionCircuit { definition, ..exactly(&quotient, &remainder) }
}

/// Returns how many bits a number has.
const fn length(number: u128) -> usize {
    (128 - number.leading_zeros()) as usize
}

fn by_word(circuit: &mut Circuit, a: &[Wire], b: &[Wire]) -> DivisionCircuit {
    let bits = a.len();
    let by_zero = equal(circuit, b, &constant(0, bits));
    let (length_a, length_b) = (significant(a), significant(b));
    let quotient = circuit.inputs(length_a);
    let remainder = circuit.inputs(length_a.min(length_b));
    let (whole, is_exact) =
        exact_product_sum(circuit, &quotient, &b[..length_b], &remainder, length_a);
    let is_whole = equal(circuit, &whole, &a[..length_a]);
    let is_rest = below(circuit, &resized(&remainder, bits), b);
    let defined = circuit.all(vec![is_exact, is_whole, is_rest]);
    let definition = circuit.or(by_zero, defined);
    let (any_quotient, any_remainder) = (circuit.inputs(bits), circuit.inputs(bits));
    DivisionCircuit {
        quotient: choice(circuit, by_zero, &any_quotient, &resized(&quotient, bits)),
        remainder: choice(circuit, by_zero, &any_remainder, &resized(&remainder, bits)),
        definition,
    }
}
