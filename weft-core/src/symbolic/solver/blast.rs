//! Turns expressions into circuits: a wire for each bit.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;

use super::arithmetic::{self as words, ShiftDirection};
use super::circuit::{Circuit, Wire};
use super::cone::cone;
use super::divide::{divided, divided_signed};
use super::multiply::{product, scaled_sum};
use crate::symbolic::atom::Atom;
use crate::symbolic::expr::{BinaryOperator, Expr, ExprNode, Exprs};

/// The conditions of a query as a circuit.
pub(super) struct Blasted {
    pub(super) circuit: Circuit,
    /// All of these have to hold.
    pub(super) asserted: Vec<Wire>,
    /// The bits of each atom.
    pub(super) atoms: BTreeMap<Atom, Vec<Wire>>,
}

struct Blaster<'e> {
    exprs: &'e Exprs,
    result: Blasted,
    words: HashMap<Expr, Vec<Wire>, RandomState>,
    /// Quotient and remainder by operands, and whether those have signs.
    divisions: HashMap<(Expr, Expr, bool), [Vec<Wire>; 2], RandomState>,
}

/// Returns the circuit of conditions; `None` if it has more than `most` gates.
pub(super) fn blasted(exprs: &Exprs, conditions: &[Expr], most: usize) -> Option<Blasted> {
    let mut blaster = Blaster {
        exprs,
        result: Blasted { circuit: Circuit::new(), asserted: Vec::new(), atoms: BTreeMap::new() },
        words: HashMap::default(),
        divisions: HashMap::default(),
    };
    for condition in conditions {
        blaster.note_length(*condition);
    }
    for part in cone(exprs, conditions) {
        let word = blaster.word(part);
        blaster.words.insert(part, word);
        if blaster.result.circuit.len() > most {
            return None;
        }
    }
    for condition in conditions {
        let word = &blaster.words[condition];
        blaster.result.asserted.push(word[0]);
    }
    Some(blaster.result)
}

impl Blaster<'_> {
    /// The upper bits of an atom that is below a number are zero. As constants they save gates; the condition itself is
    /// asserted with the others.
    fn note_length(&mut self, condition: Expr) {
        let (smaller, greater, is_strict) = match self.exprs.node(condition) {
            ExprNode::Binary(BinaryOperator::Ult, a, b) => (a, b, true),
            ExprNode::Not(inner) => match self.exprs.node(inner) {
                ExprNode::Binary(BinaryOperator::Ult, a, b) => (b, a, false),
                _ => return,
            },
            _ => return,
        };
        let ExprNode::Atom(atom) = self.exprs.node(smaller) else { return };
        let Some(limit) = self.exprs.as_constant(greater) else { return };
        let greatest = limit.saturating_sub(u64::from(is_strict));
        let length = (u64::BITS - greatest.leading_zeros()) as usize;
        // An atom is one word in all widths: what is known of its low bits says nothing about the others.
        let bits = self.exprs.bits(smaller) as usize;
        if length < bits {
            let wires = self.result.atoms.entry(atom).or_default();
            let circuit = &mut self.result.circuit;
            for at in wires.len()..bits {
                wires.push(if at < length { circuit.input() } else { Wire::FALSE });
            }
            for wire in &mut wires[length..bits] {
                *wire = Wire::FALSE;
            }
        }
    }

    /// Returns the bits of an atom. Nodes of several widths share the low bits.
    fn atom(&mut self, atom: Atom, bits: usize) -> Vec<Wire> {
        let wires = self.result.atoms.entry(atom).or_default();
        while wires.len() < bits {
            wires.push(self.result.circuit.input());
        }
        wires[..bits].to_vec()
    }

    /// Returns the bits of an expression whose operands have theirs.
    fn word(&mut self, of: Expr) -> Vec<Wire> {
        let bits = self.exprs.bits(of) as usize;
        match self.exprs.node(of) {
            ExprNode::Constant(value) => words::constant(u128::from(value), bits),
            ExprNode::Atom(atom) => self.atom(atom, bits),
            ExprNode::Not(a) => words::complement(&self.words[&a]),
            ExprNode::Binary(operator, a, b) => self.binary(operator, a, b),
            ExprNode::Extract(a, low) => self.words[&a][usize::from(low)..][..bits].to_vec(),
            ExprNode::Zext(a) => words::extended(&self.words[&a], bits, false),
            ExprNode::Sext(a) => words::extended(&self.words[&a], bits, true),
            ExprNode::Ite(condition, a, b) => {
                let condition = self.words[&condition][0];
                let (a, b) = (&self.words[&a], &self.words[&b]);
                words::choice(&mut self.result.circuit, condition, a, b)
            }
        }
    }

    fn binary(&mut self, operator: BinaryOperator, x: Expr, y: Expr) -> Vec<Wire> {
        use BinaryOperator as Op;
        let (a, b) = (&self.words[&x], &self.words[&y]);
        let circuit = &mut self.result.circuit;
        let mut bitwise = |gate: fn(&mut Circuit, Wire, Wire) -> Wire| {
            a.iter().zip(b).map(|(a, b)| gate(circuit, *a, *b)).collect()
        };
        match operator {
            Op::And => bitwise(Circuit::and),
            Op::Or => bitwise(Circuit::or),
            Op::Xor => bitwise(Circuit::xor),
            Op::Add => self.sum(x, y),
            Op::Mul => product(circuit, a, b),
            Op::UmulHigh | Op::SmulHigh => {
                let (bits, is_signed) = (a.len(), operator == Op::SmulHigh);
                let [a, b] = [a, b].map(|word| words::extended(word, 2 * bits, is_signed));
                product(circuit, &a, &b)[bits..].to_vec()
            }
            Op::Udiv => self.division(x, y, false)[0].clone(),
            Op::Urem => self.division(x, y, false)[1].clone(),
            Op::Sdiv => self.division(x, y, true)[0].clone(),
            Op::Srem => self.division(x, y, true)[1].clone(),
            Op::Shl => words::shifted(circuit, a, b, ShiftDirection::Up),
            Op::Lshr => words::shifted(circuit, a, b, ShiftDirection::Down(Wire::FALSE)),
            Op::Ashr => {
                let sign = a[a.len() - 1];
                words::shifted(circuit, a, b, ShiftDirection::Down(sign))
            }
            Op::Eq => vec![words::equal(circuit, a, b)],
            Op::Ult => vec![words::below(circuit, a, b)],
            Op::Slt => vec![words::below_signed(circuit, a, b)],
        }
    }

    /// A product with a number is added digit by digit, so that `a - b` takes one adder.
    fn sum(&mut self, x: Expr, y: Expr) -> Vec<Wire> {
        for (start, scaled) in [(x, y), (y, x)] {
            if let ExprNode::Binary(BinaryOperator::Mul, factor, number) = self.exprs.node(scaled)
                && let Some(number) = self.exprs.as_constant(number)
            {
                let (start, factor) = (&self.words[&start], &self.words[&factor]);
                return scaled_sum(&mut self.result.circuit, start, factor, u128::from(number));
            }
        }
        let (a, b) = (&self.words[&x], &self.words[&y]);
        words::sum(&mut self.result.circuit, a, b, Wire::FALSE).0
    }

    fn division(&mut self, x: Expr, y: Expr, is_signed: bool) -> [Vec<Wire>; 2] {
        if let Some(known) = self.divisions.get(&(x, y, is_signed)) {
            return known.clone();
        }
        let (a, b) = (&self.words[&x], &self.words[&y]);
        let divide = if is_signed { divided_signed } else { divided };
        let division = divide(&mut self.result.circuit, a, b);
        self.result.asserted.push(division.definition);
        let words = [division.quotient, division.remainder];
        self.divisions.insert((x, y, is_signed), words.clone());
        words
    }
}
