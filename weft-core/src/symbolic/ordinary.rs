//! Which unknowns are small for ordinary inputs: those that stand for inputs, and what is computed from them without
//! wrapping around. A number that stands for "none", such as -1, and what a subtraction below zero leaves, are large for
//! ordinary inputs, too.

use std::collections::BTreeSet;

use foldhash::HashMap;

use super::atom::{Atom, Expr};
use super::expr::{BinaryOperator, ExprNode};
use super::poly::{Poly, Var};
use super::system::{Division, System, VarBounds};
use super::thread::conjuncts;
use super::view::Views;
use crate::flow::BlockId;

/// Unknowns without bounds of their own are taken to be up to this, where it is judged whether only large values wrap.
const SMALL: i128 = 256;
/// One unknown is taken to be up to this, beside others that are small.
const MEDIUM: i128 = 1 << 12;
/// Bounds above this, of arguments and of grids, are no bounds in that respect: those of blocks are not.
const LARGE: i128 = 1024;
/// What is computed of small inputs is below this, and above its negative: -1 as an unsigned number is not.
const EXTREME: i128 = 1 << 31;

/// The bounds of unknowns for ordinary inputs.
pub(super) struct OrdinaryBounds<'v, 'a> {
    views: &'v Views<'a>,
    /// Whether unknowns are small for ordinary inputs, as far as that is known.
    is_small: HashMap<Var, bool>,
    /// Bounds for ordinary inputs.
    system: System,
}

impl<'v, 'a> OrdinaryBounds<'v, 'a> {
    pub(super) fn of(views: &'v Views<'a>) -> Self {
        Self {
            views,
            is_small: HashMap::default(),
            system: System { bounds: views.system.bounds.clone(), ..System::default() },
        }
    }

    /// Returns the range of a polynomial for ordinary inputs.
    pub(super) fn range(&mut self, of: &Poly) -> VarBounds {
        self.are_small(of);
        self.system.range(of)
    }

    /// Returns the range of a polynomial for inputs that are ordinary, except that an unknown can be of medium size.
    pub(super) fn range_with_medium(&mut self, of: &Poly, var: Var) -> VarBounds {
        let at = var.0 as usize;
        let mut bounds = self.views.system.bounds[at];
        if self.is_small(var) {
            limit(&mut bounds, MEDIUM);
        }
        let before = std::mem::replace(&mut self.system.bounds[at], bounds);
        let range = self.system.range(of);
        self.system.bounds[at] = before;
        range
    }

    fn are_small(&mut self, of: &Poly) -> bool {
        // Of each one, since bounds are found on the way.
        let small: Vec<bool> = of.vars().into_iter().map(|var| self.is_small(var)).collect();
        small.into_iter().all(|is_small| is_small)
    }

    fn is_small(&mut self, var: Var) -> bool {
        if let Some(known) = self.is_small.get(&var) {
            return *known;
        }
        self.is_small.insert(var, false);
        let is_small = self.stays_small(var);
        self.is_small.insert(var, is_small);
        if is_small {
            limit(&mut self.system.bounds[var.0 as usize], SMALL);
        }
        is_small
    }

    fn stays_small(&mut self, var: Var) -> bool {
        let views = self.views;
        if views.atoms.values().any(|atom| *atom == var) {
            return true;
        }
        let own = Poly::var(var);
        let is_part = |division: &&Division| division.quotient == own || division.remainder == own;
        if let Some(division) = views.system.divisions.iter().find(is_part) {
            return self.is_ordinary_division(division);
        }
        if let Some(choice) = views.system.alternatives.iter().find(|choice| choice.var == var) {
            return choice.cases.iter().all(|(value, _)| self.is_ordinary(value));
        }
        let unknown = views.unknowns.iter().find(|(_, (own, _))| *own == var);
        unknown.is_some_and(|((expr, _), _)| !self.has_extreme(*expr, &mut BTreeSet::new()))
    }

    /// Whether a value is made of small unknowns, and of no number that stands for something else.
    fn is_ordinary(&mut self, of: &Poly) -> bool {
        let is_small = self.are_small(of);
        let VarBounds { least: Some(least), most: Some(most) } = self.system.range(of) else {
            return false;
        };
        is_small && -EXTREME < least && most < EXTREME
    }

    fn is_ordinary_division(&mut self, division: &Division) -> bool {
        let is_small = self.is_ordinary(&division.dividend) && {
            // The width of a value that might wrap around is a large divisor.
            division.divisor.as_constant().is_some() || self.is_ordinary(&division.divisor)
        };
        let is_natural = division.quotient.vars().into_iter().all(|quotient| {
            let bounds = self.views.system.bounds[quotient.0 as usize];
            bounds.least.is_some_and(|least| least >= 0)
        });
        is_small
            && (is_natural
                || self.system.range(&division.dividend).least.is_some_and(|all| all >= 0))
    }

    /// Whether an expression might have a large value for ordinary inputs, because of a number with its highest bit set or
    /// of an instruction that is not followed.
    fn has_extreme(&self, of: Expr, seen: &mut BTreeSet<Expr>) -> bool {
        use BinaryOperator::{Add, And, Mul, Or, Shl, Xor};
        if !seen.insert(of) {
            return false;
        }
        let thread = self.views.thread;
        let exprs = self.views.exprs();
        let is_constant = |part: Expr| exprs.as_constant(part).is_some();
        match exprs.node(of) {
            ExprNode::Constant(value) => value >> (exprs.bits(of) - 1) & 1 == 1,
            ExprNode::Not(_) => exprs.bits(of) > 1,
            ExprNode::Ite(_, a, b) | ExprNode::Binary(Or | Xor, a, b) => {
                self.has_extreme(a, seen) || self.has_extreme(b, seen)
            }
            ExprNode::Binary(And, a, b) => self.has_extreme(a, seen) && self.has_extreme(b, seen),
            // One less than a number is no extreme one.
            ExprNode::Binary(Add | Mul | Shl, a, b) => {
                [a, b].into_iter().any(|part| !is_constant(part) && self.has_extreme(part, seen))
            }
            ExprNode::Zext(a) | ExprNode::Sext(a) | ExprNode::Extract(a, 0) => {
                self.has_extreme(a, seen)
            }
            ExprNode::Atom(atom @ Atom::Result(..)) => {
                thread.results.get(&atom).is_some_and(Option::is_some)
            }
            ExprNode::Atom(atom @ Atom::Carried(header, _)) => {
                let Some(own) = thread.loops.get(&header) else { return true };
                let values = || own.carried.get(&atom).into_iter().flatten();
                let is_limited = own.again.iter().all(|reach| self.limits(reach.holds, atom));
                values().any(|part| self.has_extreme(*part, seen))
                    || !is_limited && values().any(|next| self.multiplies(*next, header))
            }
            _ => false,
        }
    }

    /// Whether an expression contains a multiple of a value that a loop carries, or a sum of several such values: what a
    /// loop carries so is large after a few iterations, whatever the inputs are.
    fn multiplies(&self, next: Expr, header: BlockId) -> bool {
        use BinaryOperator::{Add, Mul, Shl};
        let exprs = self.views.exprs();
        let is_own = |atom: Atom| matches!(atom, Atom::Carried(own, _) if own == header);
        let carries = |part: Expr| exprs.atoms(part).into_iter().any(is_own);
        let (mut seen, mut work) = (BTreeSet::new(), vec![next]);
        while let Some(part) = work.pop() {
            let is_multiple = match exprs.node(part) {
                ExprNode::Binary(Mul | Shl, a, b) => carries(a) || carries(b),
                ExprNode::Binary(Add, a, b) => carries(a) && carries(b),
                _ => false,
            };
            if is_multiple {
                return true;
            }
            work.extend(exprs.operands(part).filter(|operand| seen.insert(*operand)));
        }
        false
    }

    /// Whether a predicate says that what a loop carries is less than some value that is no number.
    fn limits(&self, of: Expr, atom: Atom) -> bool {
        use BinaryOperator::{Slt, Ult};
        let exprs = self.views.exprs();
        let is_limit = |less: Expr, limit: Expr| {
            self.is_sum_with(less, atom)
                && exprs.as_constant(limit).is_none()
                && !exprs.atoms(limit).contains(&atom)
        };
        conjuncts(exprs, of).into_iter().any(|part| match exprs.node(part) {
            ExprNode::Binary(Ult | Slt, less, limit) => is_limit(less, limit),
            ExprNode::Not(inner) => {
                matches!(exprs.node(inner), ExprNode::Binary(Ult | Slt, limit, less) if is_limit(less, limit))
            }
            _ => false,
        })
    }

    /// Whether a value is computed from `atom` so that it is large where `atom` is: `atom`, and sums and products with it.
    fn is_sum_with(&self, of: Expr, atom: Atom) -> bool {
        use BinaryOperator::{Add, Mul, Shl};
        match self.views.exprs().node(of) {
            ExprNode::Atom(own) => own == atom,
            ExprNode::Zext(a) | ExprNode::Sext(a) | ExprNode::Binary(Shl, a, _) => {
                self.is_sum_with(a, atom)
            }
            ExprNode::Binary(Add | Mul, a, b) => {
                self.is_sum_with(a, atom) || self.is_sum_with(b, atom)
            }
            _ => false,
        }
    }
}

/// Bounds an unknown that has no bounds of its own.
fn limit(bounds: &mut VarBounds, to: i128) {
    let is_open = |bound: Option<i128>| bound.is_none_or(|bound| bound.abs() > LARGE);
    // A value that is required to be large is as small as it can be.
    let required = bounds.least.filter(|least| *least > SMALL);
    if is_open(bounds.most) {
        bounds.most = Some(required.unwrap_or(to));
    }
    if is_open(bounds.least) && required.is_none() {
        bounds.least = Some(-to);
    }
}
