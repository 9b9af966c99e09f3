//! Circuits of words, whose lowest bit comes first: sums, comparisons, shifts.

use super::circuit::{Circuit, Wire};

/// Returns the bits of a number.
pub(super) fn constant(value: u128, bits: usize) -> Vec<Wire> {
    (0..bits).map(|at| Wire::constant(value >> at & 1 == 1)).collect()
}

/// Returns the number that a word always is.
pub(super) fn as_constant(word: &[Wire]) -> Option<u128> {
    let mut value = 0;
    for (at, wire) in word.iter().enumerate() {
        value |= u128::from(wire.as_constant()?) << at;
    }
    Some(value)
}

/// Returns a word in `bits` bits: its low ones, or extended by zeros.
pub(super) fn resized(word: &[Wire], bits: usize) -> Vec<Wire> {
    let zeros = std::iter::repeat(Wire::FALSE);
    word.iter().copied().chain(zeros).take(bits).collect()
}

/// Returns a word in more bits, extended by its sign or by zeros.
pub(super) fn extended(word: &[Wire], bits: usize, is_signed: bool) -> Vec<Wire> {
    let fill = word.last().copied().filter(|_| is_signed).unwrap_or(Wire::FALSE);
    word.iter().copied().chain(std::iter::repeat(fill)).take(bits).collect()
}

/// Returns how many bits are left without the upper ones that are always zero.
pub(super) fn significant(word: &[Wire]) -> usize {
    word.iter().rposition(|wire| *wire != Wire::FALSE).map_or(0, |at| at + 1)
}

/// Returns the complement of each bit.
pub(super) fn complement(word: &[Wire]) -> Vec<Wire> {
    word.iter().map(|wire| !*wire).collect()
}

/// Returns `a + b + carry` and the carry out of the last bit.
pub(super) fn sum(
    circuit: &mut Circuit,
    a: &[Wire],
    b: &[Wire],
    mut carry: Wire,
) -> (Vec<Wire>, Wire) {
    let mut word = Vec::with_capacity(a.len());
    for (a, b) in a.iter().zip(b) {
        let half = circuit.xor(*a, *b);
        word.push(circuit.xor(half, carry));
        carry = circuit.majority(*a, *b, carry);
    }
    (word, carry)
}

/// Returns `a + b`, or `a - b`.
pub(super) fn sum_or_difference(
    circuit: &mut Circuit,
    a: &[Wire],
    b: &[Wire],
    is_difference: bool,
) -> Vec<Wire> {
    if is_difference {
        sum(circuit, a, &complement(b), Wire::TRUE).0
    } else {
        sum(circuit, a, b, Wire::FALSE).0
    }
}

/// Returns `-a` where the condition holds, else `a`.
pub(super) fn negated_if(circuit: &mut Circuit, condition: Wire, a: &[Wire]) -> Vec<Wire> {
    let flipped: Vec<Wire> = a.iter().map(|wire| circuit.xor(*wire, condition)).collect();
    sum(circuit, &flipped, &vec![Wire::FALSE; a.len()], condition).0
}

/// Whether two words are equal.
pub(super) fn equal(circuit: &mut Circuit, a: &[Wire], b: &[Wire]) -> Wire {
    let same = a.iter().zip(b).map(|(a, b)| !circuit.xor(*a, *b)).collect();
    circuit.all(same)
}

/// Whether `a < b`, without signs.
pub(super) fn below(circuit: &mut Circuit, a: &[Wire], b: &[Wire]) -> Wire {
    let mut is_below = Wire::FALSE;
    for (a, b) in a.iter().zip(b) {
        is_below = circuit.majority(!*a, *b, is_below);
    }
    is_below
}

/// Whether `a < b`, with signs.
pub(super) fn below_signed(circuit: &mut Circuit, a: &[Wire], b: &[Wire]) -> Wire {
    let (mut a, mut b) = (a.to_vec(), b.to_vec());
    // The greatest number without signs is that with the highest bit, which with signs is the least.
    if let (Some(a), Some(b)) = (a.last_mut(), b.last_mut()) {
        std::mem::swap(a, b);
    }
    below(circuit, &a, &b)
}

/// Returns `a` where the condition holds, else `b`.
pub(super) fn choice(circuit: &mut Circuit, condition: Wire, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
    a.iter().zip(b).map(|(a, b)| circuit.choice(condition, *a, *b)).collect()
}

/// Returns `a` shifted up by a number of bits.
pub(super) fn shifted_up(a: &[Wire], amount: usize) -> Vec<Wire> {
    let zeros = std::iter::repeat_n(Wire::FALSE, amount);
    zeros.chain(a.iter().copied()).take(a.len()).collect()
}

/// Returns `a` shifted down by a number of bits, filled up with `fill`.
fn shifted_down(a: &[Wire], amount: usize, fill: Wire) -> Vec<Wire> {
    a.iter().copied().skip(amount).chain(std::iter::repeat(fill)).take(a.len()).collect()
}

/// The direction of a shift.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ShiftDirection {
    Up,
    /// What comes in from above.
    Down(Wire),
}

/// Returns `a`, shifted by a word. An amount of at least the width shifts all bits out.
pub(super) fn shifted(
    circuit: &mut Circuit,
    a: &[Wire],
    amount: &[Wire],
    direction: ShiftDirection,
) -> Vec<Wire> {
    let width = a.len();
    let fill = match direction {
        ShiftDirection::Up => Wire::FALSE,
        ShiftDirection::Down(fill) => fill,
    };
    let mut word = a.to_vec();
    for (at, bit) in amount.iter().enumerate() {
        let by = 1usize.checked_shl(u32::try_from(at).unwrap_or(u32::MAX)).unwrap_or(width);
        let moved = match direction {
            ShiftDirection::Up => shifted_up(&word, by.min(width)),
            ShiftDirection::Down(fill) => shifted_down(&word, by.min(width), fill),
        };
        if by < width {
            word = choice(circuit, *bit, &moved, &word);
        } else {
            word = choice(circuit, *bit, &vec![fill; width], &word);
        }
    }
    word
}
