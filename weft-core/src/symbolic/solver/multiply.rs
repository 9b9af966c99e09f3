//! Circuits of products: a sum of shifted copies of one operand, one for each digit of the other.

use super::arithmetic::{
    as_constant, constant, resized, shifted_up, significant, sum, sum_or_difference,
};
use super::circuit::{Circuit, Wire};

/// A digit of a number: the power of two, and whether it is subtracted.
type SignedDigit = (usize, bool);

/// Returns the digits 1 and -1 of a number modulo `2^bits`, no two of them adjacent: there is no shorter such list.
pub(super) fn signed_digits(value: u128, bits: usize) -> Vec<SignedDigit> {
    let mask = if bits < 128 { (1u128 << bits) - 1 } else { u128::MAX };
    let (mut rest, mut at) = (value & mask, 0);
    let mut digits = Vec::new();
    while rest != 0 && at < bits {
        if rest & 1 == 1 {
            // The last bit may be either, modulo 2^bits.
            let is_negative = rest & 3 == 3 && at + 1 < bits;
            digits.push((at, is_negative));
            rest = if is_negative { rest.wrapping_add(1) } else { rest - 1 };
        }
        rest >>= 1;
        at += 1;
    }
    digits
}

/// Returns `start + factor * number`.
pub(super) fn scaled_sum(
    circuit: &mut Circuit,
    start: &[Wire],
    factor: &[Wire],
    number: u128,
) -> Vec<Wire> {
    let mut word = start.to_vec();
    // Digits that add come first: without a start, the first copy costs no gates.
    let mut digits = signed_digits(number, start.len());
    digits.sort_by_key(|(_, is_negative)| *is_negative);
    for (by, is_negative) in digits {
        word = sum_or_difference(circuit, &word, &shifted_up(factor, by), is_negative);
    }
    word
}

/// Returns the low bits of `a * b`.
pub(super) fn product(circuit: &mut Circuit, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
    let zero = constant(0, a.len());
    if let Some(number) = as_constant(a) {
        return scaled_sum(circuit, &zero, b, number);
    }
    if let Some(number) = as_constant(b) {
        return scaled_sum(circuit, &zero, a, number);
    }
    let (a, b) = if distinct(a) < distinct(b) { (b, a) } else { (a, b) };
    let mut word = zero;
    let rows = distinct(b);
    for (by, bit) in b.iter().enumerate().take(rows) {
        let row: Vec<Wire> = a.iter().map(|wire| circuit.and(*wire, *bit)).collect();
        // From the last distinct bit on, all are the sign: together they count as one that is subtracted.
        let is_sign = by + 1 == rows && rows < b.len() && b[rows] == *bit;
        word = sum_or_difference(circuit, &word, &shifted_up(&row, by), is_sign);
    }
    word
}

/// Returns up to which bit a word has more than copies of its sign, or of zero.
fn distinct(word: &[Wire]) -> usize {
    let significant = significant(word);
    let last = word.last().copied().unwrap_or(Wire::FALSE);
    let sign = word.iter().rposition(|wire| *wire != last).map_or(1, |at| at + 2);
    significant.min(sign)
}

/// Returns `a * b + c` without its upper bits, and whether those are zero.
pub(super) fn exact_product_sum(
    circuit: &mut Circuit,
    a: &[Wire],
    b: &[Wire],
    c: &[Wire],
    bits: usize,
) -> (Vec<Wire>, Wire) {
    let mut word = resized(c, bits);
    let mut exact: Vec<Wire> = c.iter().skip(bits).map(|wire| !*wire).collect();
    let a = resized(a, significant(a));
    for (by, bit) in b.iter().enumerate() {
        let row: Vec<Wire> = a.iter().map(|wire| circuit.and(*wire, *bit)).collect();
        let lost = row.iter().skip(bits.saturating_sub(by));
        exact.extend(lost.map(|wire| !*wire));
        if by < bits {
            let row = resized(&row, bits - by);
            let (upper, carry) = sum(circuit, &word[by..], &row, Wire::FALSE);
            word.splice(by.., upper);
            exact.push(!carry);
        }
    }
    (word, circuit.all(exact))
}
