//! Prints queries as SMT-LIB 2.6, which other solvers read.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::cone::cone;
use crate::symbolic::atom::Atom;
use crate::symbolic::expr::{BinaryOperator, Expr, ExprNode, Exprs};

/// A query as a script, which asks for the values of all atoms too.
pub(crate) struct Script {
    pub(crate) text: String,
    /// The atoms; the script names them `a0`, `a1` and so on.
    pub(crate) atoms: Vec<Atom>,
}

/// Returns the question whether all conditions can hold. A quotient by zero is an unknown function of the dividend, where
/// SMT-LIB's own is a number.
pub(crate) fn smtlib(exprs: &Exprs, conditions: &[Expr]) -> Script {
    let parts = cone(exprs, conditions);
    let mut atoms: BTreeMap<Atom, u32> = BTreeMap::new();
    let mut divisions: BTreeSet<(&str, u32)> = BTreeSet::new();
    for part in &parts {
        let bits = exprs.bits(*part);
        match exprs.node(*part) {
            ExprNode::Atom(atom) => {
                let widest = atoms.entry(atom).or_default();
                *widest = bits.max(*widest);
            }
            ExprNode::Binary(operator, ..) if divides(operator) => {
                divisions.insert((name(operator), bits));
            }
            _ => {}
        }
    }
    let logic = if divisions.is_empty() { "QF_BV" } else { "QF_UFBV" };
    let mut text = format!("(set-option :produce-models true)\n(set-logic {logic})\n");
    for (number, (atom, bits)) in atoms.iter().enumerate() {
        let atom = format!("{atom:?}");
        line(&mut text, format_args!("(declare-const a{number} (_ BitVec {bits})) ; {atom}"));
    }
    for (name, bits) in divisions {
        let sort = format!("(_ BitVec {bits})");
        line(&mut text, format_args!("(declare-fun {name}-by-zero-{bits} ({sort}) {sort})"));
    }
    for part in parts {
        let (at, bits, term) = (part.index(), exprs.bits(part), term(exprs, part, &atoms));
        line(&mut text, format_args!("(define-fun e{at} () (_ BitVec {bits}) {term})"));
    }
    for condition in conditions {
        line(&mut text, format_args!("(assert (= e{} #b1))", condition.index()));
    }
    text.push_str("(check-sat)\n");
    if !atoms.is_empty() {
        let names: Vec<String> = (0..atoms.len()).map(|number| format!("a{number}")).collect();
        line(&mut text, format_args!("(get-value ({}))", names.join(" ")));
    }
    Script { text, atoms: atoms.into_keys().collect() }
}

fn line(text: &mut String, of: std::fmt::Arguments) {
    writeln!(text, "{of}").expect("a string takes all text");
}

fn divides(operator: BinaryOperator) -> bool {
    use BinaryOperator::{Sdiv, Srem, Udiv, Urem};
    matches!(operator, Udiv | Urem | Sdiv | Srem)
}

/// Returns an expression in terms of its operands' names.
fn term(exprs: &Exprs, of: Expr, atoms: &BTreeMap<Atom, u32>) -> String {
    let bits = exprs.bits(of);
    let place = |part: Expr| part.index();
    match exprs.node(of) {
        ExprNode::Constant(value) => format!("(_ bv{value} {bits})"),
        ExprNode::Atom(atom) => {
            let number = atoms.range(..atom).count();
            format!("((_ extract {} 0) a{number})", bits - 1)
        }
        ExprNode::Not(a) => format!("(bvnot e{})", place(a)),
        ExprNode::Extract(a, low) => {
            let high = u32::from(low) + bits - 1;
            format!("((_ extract {high} {low}) e{})", place(a))
        }
        ExprNode::Zext(a) => format!("((_ zero_extend {}) e{})", bits - exprs.bits(a), place(a)),
        ExprNode::Sext(a) => format!("((_ sign_extend {}) e{})", bits - exprs.bits(a), place(a)),
        ExprNode::Ite(c, a, b) => {
            format!("(ite (= e{} #b1) e{} e{})", place(c), place(a), place(b))
        }
        ExprNode::Binary(operator, a, b) => {
            let name = name(operator);
            let plain = format!("({name} e{} e{})", place(a), place(b));
            match operator {
                BinaryOperator::Eq | BinaryOperator::Ult | BinaryOperator::Slt => {
                    format!("(ite {plain} #b1 #b0)")
                }
                BinaryOperator::UmulHigh | BinaryOperator::SmulHigh => {
                    let of = |part: Expr| format!("((_ {name} {bits}) e{})", place(part));
                    let product = format!("(bvmul {} {})", of(a), of(b));
                    format!("((_ extract {} {bits}) {product})", 2 * bits - 1)
                }
                _ if divides(operator) => {
                    let zero = format!("(= e{} (_ bv0 {bits}))", place(b));
                    format!("(ite {zero} ({name}-by-zero-{bits} e{}) {plain})", place(a))
                }
                _ => plain,
            }
        }
    }
}

fn name(operator: BinaryOperator) -> &'static str {
    match operator {
        BinaryOperator::Add => "bvadd",
        BinaryOperator::Mul => "bvmul",
        // How the factors are extended.
        BinaryOperator::UmulHigh => "zero_extend",
        BinaryOperator::SmulHigh => "sign_extend",
        BinaryOperator::And => "bvand",
        BinaryOperator::Or => "bvor",
        BinaryOperator::Xor => "bvxor",
        BinaryOperator::Udiv => "bvudiv",
        BinaryOperator::Urem => "bvurem",
        BinaryOperator::Sdiv => "bvsdiv",
        BinaryOperator::Srem => "bvsrem",
        BinaryOperator::Shl => "bvshl",
        BinaryOperator::Lshr => "bvlshr",
        BinaryOperator::Ashr => "bvashr",
        BinaryOperator::Eq => "=",
        BinaryOperator::Ult => "bvult",
        BinaryOperator::Slt => "bvslt",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_printed_with_its_atoms_and_divisions() {
        let exprs = &mut Exprs::default();
        let (a, b) = (exprs.atom(Atom::Tid(0), 8), exprs.atom(Atom::Ctaid(0), 8));
        let low = exprs.atom(Atom::Tid(0), 4);
        let quotient = exprs.binary(BinaryOperator::Udiv, a, b);
        let low = exprs.resized(low, 8, true);
        let is_low = exprs.binary(BinaryOperator::Eq, quotient, low);
        let Script { text, atoms } = smtlib(exprs, &[is_low]);
        assert_eq!(atoms, [Atom::Tid(0), Atom::Ctaid(0)]);
        let expected = "\
(set-option :produce-models true)
(set-logic QF_UFBV)
(declare-const a0 (_ BitVec 8)) ; Tid(0)
(declare-const a1 (_ BitVec 8)) ; Ctaid(0)
(declare-fun bvudiv-by-zero-8 ((_ BitVec 8)) (_ BitVec 8))
(define-fun e0 () (_ BitVec 8) ((_ extract 7 0) a0))
(define-fun e1 () (_ BitVec 8) ((_ extract 7 0) a1))
(define-fun e2 () (_ BitVec 4) ((_ extract 3 0) a0))
(define-fun e3 () (_ BitVec 8) (ite (= e1 (_ bv0 8)) (bvudiv-by-zero-8 e0) (bvudiv e0 e1)))
(define-fun e4 () (_ BitVec 8) ((_ sign_extend 4) e2))
(define-fun e5 () (_ BitVec 1) (ite (= e3 e4) #b1 #b0))
(assert (= e5 #b1))
(check-sat)
(get-value (a0 a1))
";
        assert_eq!(text, expected);
    }
}
