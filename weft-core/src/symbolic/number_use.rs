//! Which expressions are used as signed numbers, and which as unsigned ones.

use super::atom::{Atom, Expr};
use super::expr::{BinaryOperator, ExprNode, Exprs};
use crate::flow::{NumberKind, Program};

/// How an expression is used where it is compared, extended, divided or shifted, itself or as a part of a sum, a product, a
/// choice or a low part. Both are possible, and neither.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NumberUse {
    pub(super) signed: bool,
    pub(super) unsigned: bool,
}

/// Returns how each expression is used, by its index. Signed parameters of the program count as used so, even if no expression
/// uses them.
pub(super) fn uses(exprs: &Exprs, program: &Program) -> Vec<NumberUse> {
    use BinaryOperator::{
        Add, Ashr, Lshr, Mul, Sdiv, Shl, Slt, SmulHigh, Srem, Udiv, Ult, UmulHigh, Urem,
    };
    const SIGNED: NumberUse = NumberUse { signed: true, unsigned: false };
    const UNSIGNED: NumberUse = NumberUse { signed: false, unsigned: true };
    let is_signed = |at: u64, bytes: u8| {
        let is_it = |own: u64, size: u64| (own, size) == (at, u64::from(bytes));
        program.params.iter().any(|param| param.is_signed && is_it(param.offset, param.size))
            || program
                .fields
                .iter()
                .any(|field| field.kind == NumberKind::Signed && is_it(field.offset, field.size))
    };
    let mut uses = vec![NumberUse::default(); exprs.len()];
    let all: Vec<Expr> = exprs.all().collect();
    for &of in all.iter().rev() {
        let own = uses[of.index()];
        let mut mark = |parts: &[Expr], by: NumberUse| {
            for part in parts {
                let use_of_part = &mut uses[part.index()];
                use_of_part.signed |= by.signed;
                use_of_part.unsigned |= by.unsigned;
            }
        };
        match exprs.node(of) {
            ExprNode::Binary(Slt | Sdiv | Srem | SmulHigh, a, b) => mark(&[a, b], SIGNED),
            ExprNode::Binary(Ashr, a, _) | ExprNode::Sext(a) => mark(&[a], SIGNED),
            ExprNode::Binary(Ult | Udiv | Urem | UmulHigh, a, b) => mark(&[a, b], UNSIGNED),
            ExprNode::Binary(Lshr, a, _) | ExprNode::Zext(a) => mark(&[a], UNSIGNED),
            ExprNode::Binary(Add | Mul, a, b) | ExprNode::Ite(_, a, b) => mark(&[a, b], own),
            ExprNode::Binary(Shl, a, _) | ExprNode::Extract(a, 0) => mark(&[a], own),
            ExprNode::Atom(Atom::Argument(at, bytes)) if is_signed(at, bytes) => {
                mark(&[of], SIGNED);
            }
            _ => {}
        }
    }
    uses
}
