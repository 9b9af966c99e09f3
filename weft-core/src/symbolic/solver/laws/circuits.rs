//! Gates and words on numbers: with constant wires a circuit computes, so every case can be compared.

use crate::symbolic::solver::Conflicts;
use crate::symbolic::solver::circuit::{Circuit, Wire};
use crate::symbolic::solver::multiply::signed_digits;
use crate::symbolic::solver::sat::{Search, SearchResult};

type GateFunction = fn(&mut Circuit, [Wire; 3]) -> Wire;
type TruthTable = fn([bool; 3]) -> bool;

const GATES: [(GateFunction, TruthTable); 5] = [
    (|circuit, [a, b, _]| circuit.and(a, b), |[a, b, _]| a && b),
    (|circuit, [a, b, _]| circuit.or(a, b), |[a, b, _]| a || b),
    (|circuit, [a, b, _]| circuit.xor(a, b), |[a, b, _]| a != b),
    (
        |circuit, [a, b, c]| circuit.majority(a, b, c),
        |[a, b, c]| u8::from(a) + u8::from(b) + u8::from(c) > 1,
    ),
    (|circuit, [a, b, c]| circuit.choice(a, b, c), |[a, b, c]| if a { b } else { c }),
];

/// Whether the wire can have the value where the inputs have theirs.
fn can_be(circuit: &Circuit, inputs: &[(Wire, bool)], wire: Wire, value: bool) -> bool {
    let mut search = Search::new(circuit, Conflicts(1000));
    for (input, value) in inputs.iter().copied().chain([(wire, value)]) {
        search.assert(if value { input } else { !input });
    }
    search.run() == SearchResult::Satisfiable
}

/// Operands of gates: constants, inputs and gates over them, and all complements.
fn operands(circuit: &mut Circuit, inputs: &[Wire]) -> Vec<(Wire, TruthTable)> {
    let [x, y] = [inputs[0], inputs[1]];
    let pair = circuit.and(x, y);
    let other = circuit.and(x, !y);
    vec![
        (Wire::FALSE, |_| false),
        (Wire::TRUE, |_| true),
        (x, |[x, _, _]| x),
        (!x, |[x, _, _]| !x),
        (y, |[_, y, _]| y),
        (!y, |[_, y, _]| !y),
        (pair, |[x, y, _]| x && y),
        (!pair, |[x, y, _]| !(x && y)),
        (other, |[x, y, _]| x && !y),
        (!other, |[x, y, _]| !x || y),
        (inputs[2], |[_, _, z]| z),
        (!inputs[2], |[_, _, z]| !z),
    ]
}

#[test]
fn gates_have_their_truth_tables() {
    let mut circuit = Circuit::new();
    let inputs = circuit.inputs(3);
    let operands = operands(&mut circuit, &inputs);
    let mut cases = Vec::new();
    for (gate, truth) in GATES {
        for a in &operands {
            for b in &operands {
                for c in &operands {
                    let wire = gate(&mut circuit, [a.0, b.0, c.0]);
                    for values in (0..8).map(|at| [at & 1 == 1, at & 2 == 2, at & 4 == 4]) {
                        let value = truth([a.1(values), b.1(values), c.1(values)]);
                        cases.push((wire, values, value));
                    }
                }
            }
        }
    }
    cases.sort_unstable();
    cases.dedup();
    for (wire, values, value) in cases {
        let known: Vec<_> = inputs.iter().copied().zip(values).collect();
        assert!(can_be(&circuit, &known, wire, value), "{wire:?} for {values:?}");
        assert!(!can_be(&circuit, &known, wire, !value), "{wire:?} for {values:?}");
    }
}

#[test]
fn signed_digits_sum_to_the_number() {
    for bits in [1, 2, 3, 7, 12, 64, 66, 128] {
        let mask = u128::MAX >> (128 - bits);
        for number in (0..5000).chain([mask, mask - 1, mask / 3]) {
            let digits = signed_digits(number & mask, bits);
            let sum = digits.iter().fold(0u128, |sum, (at, is_negative)| {
                let digit = 1u128 << at;
                sum.wrapping_add(if *is_negative { digit.wrapping_neg() } else { digit })
            });
            assert_eq!(sum & mask, number & mask, "{number} in {bits} bits: {digits:?}");
            let is_apart = |pair: &[(usize, bool)]| pair[0].0 + 1 < pair[1].0;
            assert!(digits.windows(2).all(is_apart), "{number} in {bits} bits: {digits:?}");
        }
    }
}
