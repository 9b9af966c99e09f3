//! Bit-vector expressions: what one arbitrary thread computes, over the atoms of its launch. Equal expressions have one
//! number, so that a comparison of numbers finds them equal.
//!
//! An expression has 1 to 64 bits; predicates have one. Its meaning is that of SMT-LIB's bit-vectors, except for
//! division by zero, which PTX leaves unspecified: whoever relies on a quotient or remainder must know its divisor.

use std::hash::Hash;

use foldhash::fast::RandomState;
use foldhash::{HashMap, HashSet};
use indexmap::IndexSet;
use smallvec::SmallVec;

use super::atom::Atom;
pub(crate) use super::atom::Expr;
pub(crate) use super::binary_operator::BinaryOperator;
use crate::emulate::{signed, truncate};
use crate::flow::BlockId;

/// An expression and its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ExprNode {
    /// A number.
    Constant(u64),
    /// An unknown.
    Atom(Atom),
    /// The complement.
    Not(Expr),
    /// Two operands of one width.
    Binary(BinaryOperator, Expr, Expr),
    /// As many bits as the expression has, from this bit of the operand on.
    Extract(Expr, u8),
    /// The operand, extended by zeros.
    Zext(Expr),
    /// The operand, extended by its sign.
    Sext(Expr),
    /// The second operand where the first holds, else the third.
    Ite(Expr, Expr, Expr),
}

/// All expressions of a kernel.
#[derive(Debug, Default)]
pub(crate) struct Exprs {
    /// Each with its width in bits.
    nodes: IndexSet<(ExprNode, u8), RandomState>,
    unknowns: u32,
}

impl Exprs {
    /// Returns the expression and its operands.
    pub(crate) fn node(&self, of: Expr) -> ExprNode {
        self.nodes[of.index()].0
    }

    /// Returns the width in bits.
    pub(crate) fn bits(&self, of: Expr) -> u32 {
        u32::from(self.nodes[of.index()].1)
    }

    /// Iterates over all expressions, operands before results.
    pub(crate) fn all(&self) -> impl Iterator<Item = Expr> + use<> {
        (0..u32::try_from(self.len()).expect("a kernel has fewer expressions")).map(Expr)
    }

    /// Returns how many expressions there are.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the number that an expression is, if it is one.
    pub(crate) fn as_constant(&self, of: Expr) -> Option<u64> {
        match self.node(of) {
            ExprNode::Constant(value) => Some(value),
            _ => None,
        }
    }

    fn intern(&mut self, node: ExprNode, bits: u32) -> Expr {
        debug_assert!((1..=64).contains(&bits), "{node:?} has {bits} bits");
        let bits = u8::try_from(bits).expect("at most 64 bits");
        let (at, _) = self.nodes.insert_full((node, bits));
        Expr(u32::try_from(at).expect("a kernel has fewer expressions"))
    }

    /// Returns a number, truncated to its width.
    pub(crate) fn constant(&mut self, value: u64, bits: u32) -> Expr {
        self.intern(ExprNode::Constant(truncate(value, bits)), bits)
    }

    /// Returns a predicate that always or never holds.
    pub(crate) fn truth(&mut self, holds: bool) -> Expr {
        self.constant(u64::from(holds), 1)
    }

    /// Returns an unknown.
    pub(crate) fn atom(&mut self, atom: Atom, bits: u32) -> Expr {
        self.intern(ExprNode::Atom(atom), bits)
    }

    /// Returns an unknown that is no other expression's.
    pub(crate) fn unknown(&mut self, bits: u32) -> Expr {
        self.unknowns += 1;
        self.atom(Atom::Unknown(self.unknowns), bits)
    }

    /// Whether a predicate always holds (or, if `holds` is not set, never does).
    pub(crate) fn is_truth(&self, of: Expr, holds: bool) -> bool {
        self.as_constant(of) == Some(u64::from(holds)) && self.bits(of) == 1
    }

    /// Returns the complement.
    pub(crate) fn not(&mut self, of: Expr) -> Expr {
        let bits = self.bits(of);
        match self.node(of) {
            ExprNode::Constant(value) => self.constant(!value, bits),
            ExprNode::Not(inner) => inner,
            _ => self.intern(ExprNode::Not(of), bits),
        }
    }

    /// Returns the result of an operator.
    pub(crate) fn binary(&mut self, operator: BinaryOperator, a: Expr, b: Expr) -> Expr {
        use BinaryOperator::{Add, And, Eq, Mul, Or, Slt, SmulHigh, Ult, UmulHigh, Xor};
        let bits = self.bits(a);
        debug_assert_eq!(bits, self.bits(b), "operands of {operator:?}");
        if let (Some(x), Some(y)) = (self.as_constant(a), self.as_constant(b))
            && let Some(value) = operator.of(x, y, bits)
        {
            return self.constant(value, operator.result_bits(bits));
        }
        let commutes = matches!(operator, Add | Mul | UmulHigh | SmulHigh | And | Or | Xor | Eq);
        // A number comes second, so that there is one place to look for it.
        let (a, b) = if commutes
            && (self.as_constant(a).is_some() || self.as_constant(b).is_none() && b < a)
        {
            (b, a)
        } else {
            (a, b)
        };
        if let Some(simple) = self.simplified(operator, a, b) {
            return simple;
        }
        if commutes && self.as_constant(a).is_some() {
            return self.intern(ExprNode::Binary(operator, b, a), operator.result_bits(bits));
        }
        if matches!(operator, Ult | Slt) && a == b {
            return self.truth(false);
        }
        self.intern(ExprNode::Binary(operator, a, b), operator.result_bits(bits))
    }

    /// Identities that need no look at more than the operands and theirs. A number, if there is one, is `b`.
    fn simplified(&mut self, operator: BinaryOperator, a: Expr, b: Expr) -> Option<Expr> {
        use BinaryOperator::{Add, And, Ashr, Eq, Lshr, Mul, Or, Sdiv, Shl, Udiv, Urem, Xor};
        let bits = self.bits(a);
        let all = truncate(u64::MAX, bits);
        match (operator, self.as_constant(b)) {
            (Add | Or | Xor | Shl | Lshr | Ashr, Some(0)) => return Some(a),
            (Mul | And, Some(0)) => return Some(b),
            (Mul | Udiv | Sdiv, Some(1)) if bits > 1 => return Some(a),
            (Urem, Some(1)) if bits > 1 => return Some(self.constant(0, bits)),
            (And, Some(value)) if value == all => return Some(a),
            (Or, Some(value)) if value == all => return Some(b),
            (Xor, Some(value)) if value == all => return Some(self.not(a)),
            (Eq, Some(1)) if bits == 1 => return Some(a),
            (Eq, Some(0)) if bits == 1 => return Some(self.not(a)),
            (Add, Some(value)) => {
                // x + c + d
                if let ExprNode::Binary(Add, inner, number) = self.node(a)
                    && let Some(other) = self.as_constant(number)
                {
                    let sum = self.constant(value.wrapping_add(other), bits);
                    return Some(self.binary(Add, inner, sum));
                }
            }
            _ => {}
        }
        match operator {
            And | Or if a == b => return Some(a),
            Xor if a == b => return Some(self.constant(0, bits)),
            Eq if a == b => return Some(self.truth(true)),
            _ => {}
        }
        match operator {
            And if bits == 1 => self.conjunction(a, b),
            Or if bits == 1 => self.disjunction(a, b),
            _ => self.division_by_number(operator, a, b),
        }
    }

    /// Whether one predicate is the complement of the other.
    pub(crate) fn are_complements(&self, a: Expr, b: Expr) -> bool {
        self.node(a) == ExprNode::Not(b) || self.node(b) == ExprNode::Not(a)
    }

    fn conjunction(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        if self.are_complements(a, b) {
            return Some(self.truth(false));
        }
        for (whole, part) in [(a, b), (b, a)] {
            if let ExprNode::Binary(BinaryOperator::And, x, y) = self.node(whole) {
                if x == part || y == part {
                    return Some(whole);
                }
                if self.are_complements(x, part) || self.are_complements(y, part) {
                    return Some(self.truth(false));
                }
            }
        }
        None
    }

    /// `p and c or p and not c` is `p`: where the sides of a branch merge, both are reached on the branch's condition.
    fn disjunction(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        if self.are_complements(a, b) {
            return Some(self.truth(true));
        }
        for (whole, part) in [(a, b), (b, a)] {
            if let ExprNode::Binary(BinaryOperator::And, x, y) = self.node(whole) {
                if x == part || y == part {
                    return Some(part);
                }
                for (same, other) in [(x, y), (y, x)] {
                    // p and c or not c is p or not c; p and c or p and d is p and (c or d).
                    if self.are_complements(other, part) {
                        return Some(self.binary(BinaryOperator::Or, same, part));
                    }
                    if let ExprNode::Binary(BinaryOperator::And, z, w) = self.node(part) {
                        let rest = if z == same { Some(w) } else { (w == same).then_some(z) };
                        if let Some(rest) = rest {
                            let either = self.binary(BinaryOperator::Or, other, rest);
                            return Some(self.binary(BinaryOperator::And, same, either));
                        }
                    }
                }
            }
        }
        None
    }

    /// Returns `a - b`.
    pub(crate) fn minus(&mut self, a: Expr, b: Expr) -> Expr {
        let minus = self.negated(b);
        self.binary(BinaryOperator::Add, a, minus)
    }

    /// Returns `-a`.
    pub(crate) fn negated(&mut self, a: Expr) -> Expr {
        let bits = self.bits(a);
        let minus = self.constant(u64::MAX, bits);
        self.binary(BinaryOperator::Mul, a, minus)
    }

    /// Returns `bits` bits of an operand, from bit `low` on.
    pub(crate) fn extract(&mut self, of: Expr, low: u32, bits: u32) -> Expr {
        debug_assert!(low + bits <= self.bits(of), "bits {low} to {}", low + bits);
        if bits == self.bits(of) {
            return of;
        }
        let at = u8::try_from(low).expect("at most 64 bits");
        match self.node(of) {
            ExprNode::Constant(value) => self.constant(value >> low, bits),
            ExprNode::Extract(inner, first) => self.extract(inner, low + u32::from(first), bits),
            ExprNode::Zext(inner) | ExprNode::Sext(inner) if low + bits <= self.bits(inner) => {
                self.extract(inner, low, bits)
            }
            ExprNode::Zext(inner) if low >= self.bits(inner) => self.constant(0, bits),
            _ => self.intern(ExprNode::Extract(of, at), bits),
        }
    }

    /// Returns an operand in `bits` bits: truncated, or extended by its sign or by zeros.
    pub(crate) fn resized(&mut self, of: Expr, bits: u32, is_signed: bool) -> Expr {
        let own = self.bits(of);
        if bits <= own {
            return self.extract(of, 0, bits);
        }
        match self.node(of) {
            ExprNode::Constant(value) => {
                let value = if is_signed { signed(value, own).cast_unsigned() } else { value };
                self.constant(value, bits)
            }
            ExprNode::Zext(inner) => self.intern(ExprNode::Zext(inner), bits),
            ExprNode::Sext(inner) if is_signed => self.intern(ExprNode::Sext(inner), bits),
            _ => self.intern(if is_signed { ExprNode::Sext(of) } else { ExprNode::Zext(of) }, bits),
        }
    }

    /// Returns one of two operands.
    pub(crate) fn ite(&mut self, condition: Expr, a: Expr, b: Expr) -> Expr {
        if a == b || self.is_truth(condition, true) {
            return a;
        }
        if self.is_truth(condition, false) {
            return b;
        }
        if self.is_truth(a, true) && self.is_truth(b, false) {
            return condition;
        }
        if self.is_truth(a, false) && self.is_truth(b, true) {
            return self.not(condition);
        }
        if let ExprNode::Not(inner) = self.node(condition) {
            return self.ite(inner, b, a);
        }
        if let Some(division) = self.division_in_two_widths(condition, a, b) {
            return division;
        }
        let bits = self.bits(a);
        self.intern(ExprNode::Ite(condition, a, b), bits)
    }

    /// Returns the operands of an expression.
    pub(crate) fn operands(&self, of: Expr) -> impl Iterator<Item = Expr> + use<> {
        let (a, b, c) = match self.node(of) {
            ExprNode::Constant(_) | ExprNode::Atom(_) => (None, None, None),
            ExprNode::Not(a) | ExprNode::Extract(a, _) | ExprNode::Zext(a) | ExprNode::Sext(a) => {
                (Some(a), None, None)
            }
            ExprNode::Binary(_, a, b) => (Some(a), Some(b), None),
            ExprNode::Ite(a, b, c) => (Some(a), Some(b), Some(c)),
        };
        [a, b, c].into_iter().flatten()
    }

    /// Returns the same operation on other operands, given in the order of [`Exprs::operands`].
    pub(crate) fn rebuilt(&mut self, of: Expr, operands: &[Expr]) -> Expr {
        let bits = self.bits(of);
        match (self.node(of), operands) {
            (ExprNode::Not(_), &[a]) => self.not(a),
            (ExprNode::Binary(operator, ..), &[a, b]) => self.binary(operator, a, b),
            (ExprNode::Extract(_, low), &[a]) => self.extract(a, u32::from(low), bits),
            (ExprNode::Zext(_), &[a]) => self.resized(a, bits, false),
            (ExprNode::Sext(_), &[a]) => self.resized(a, bits, true),
            (ExprNode::Ite(..), &[a, b, c]) => self.ite(a, b, c),
            _ => of,
        }
    }

    /// Returns an expression with parts replaced. Outer parts are replaced before those inside them.
    pub(crate) fn replaced(&mut self, of: Expr, by: &HashMap<Expr, Expr>) -> Expr {
        let mut done: HashMap<Expr, Expr> = by.clone();
        let mut work = vec![of];
        while let Some(&part) = work.last() {
            if done.contains_key(&part) {
                work.pop();
                continue;
            }
            let operands: SmallVec<[Expr; 3]> = self.operands(part).collect();
            let missing: SmallVec<[Expr; 3]> =
                operands.iter().copied().filter(|own| !done.contains_key(own)).collect();
            if missing.is_empty() {
                let new: SmallVec<[Expr; 3]> = operands.iter().map(|own| done[own]).collect();
                let result = if new == operands { part } else { self.rebuilt(part, &new) };
                done.insert(part, result);
                work.pop();
            } else {
                work.extend(missing);
            }
        }
        done[&of]
    }

    /// Returns the atoms of an expression, each once, those of addresses of loads included.
    pub(crate) fn atoms(&self, of: Expr) -> Vec<Atom> {
        let (mut seen, mut atoms, mut work) = (HashSet::default(), Vec::new(), vec![of]);
        while let Some(part) = work.pop() {
            if !seen.insert(part) {
                continue;
            }
            if let ExprNode::Atom(atom) = self.node(part) {
                atoms.push(atom);
                if let Atom::Loaded(address, _) = atom {
                    work.push(address);
                }
            }
            work.extend(self.operands(part));
        }
        atoms
    }

    /// Whether an expression depends on nothing that a loop changes but the number of the iteration. `is_inside`: whether
    /// a block belongs to the loop.
    pub(crate) fn is_of_iteration(
        &self,
        of: Expr,
        header: BlockId,
        is_inside: impl Fn(BlockId) -> bool,
    ) -> bool {
        self.atoms(of).into_iter().all(|atom| match atom {
            Atom::Unknown(_) => false,
            Atom::Iteration(at) => at == header || !is_inside(at),
            Atom::Carried(at, _) | Atom::Result(_, at, _) => !is_inside(at),
            _ => true,
        })
    }

    #[cfg(test)]
    /// Returns the value of an expression, given those of its atoms; `None` if a division by zero decides it.
    pub(crate) fn value(&self, of: Expr, atoms: &dyn Fn(Atom) -> u64) -> Option<u64> {
        let mut values: Vec<Option<u64>> = Vec::with_capacity(of.index() + 1);
        for at in 0..=of.0 {
            let value = self.value_of(Expr(at), &|part| values[part.index()], atoms);
            values.push(value);
        }
        values[of.index()]
    }

    /// Returns the value of an expression, given those of its operands and, if it is an atom, its own.
    pub(crate) fn value_of(
        &self,
        of: Expr,
        get: &dyn Fn(Expr) -> Option<u64>,
        atoms: &dyn Fn(Atom) -> u64,
    ) -> Option<u64> {
        let value = match self.node(of) {
            ExprNode::Constant(value) => value,
            ExprNode::Atom(atom) => atoms(atom),
            ExprNode::Not(a) => !get(a)?,
            ExprNode::Binary(operator, a, b) => operator.of(get(a)?, get(b)?, self.bits(a))?,
            ExprNode::Extract(a, low) => get(a)? >> low,
            ExprNode::Zext(a) => get(a)?,
            ExprNode::Sext(a) => signed(get(a)?, self.bits(a)).cast_unsigned(),
            ExprNode::Ite(c, a, b) => get(if get(c)? == 1 { a } else { b })?,
        };
        Some(truncate(value, self.bits(of)))
    }
}
