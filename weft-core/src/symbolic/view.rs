//! Translates bit-vector expressions of two threads into polynomials over the integers.
//!
//! Sums and products of bit-vectors are sums and products of integers, modulo a power of two. Where an expression is
//! extended, compared or divided, its exact value is needed: that the integer stays within the width is proved from the
//! bounds, or assumed of values that only large arguments, extents and contents could make wrap around. Otherwise the
//! wrapped value is an unknown of its own, the remainder of a division by the power of two.

use std::cell::RefCell;
use std::collections::BTreeSet;

use foldhash::HashMap;

use super::assumption::ArithmeticAssumption;
use super::atom::{Atom, Variance};
use super::expr::{BinaryOperator, Expr, ExprNode, Exprs};
use super::launched::LaunchedValues;
use super::ordinary_range::OrdinaryRanges;
use super::poly::{Poly, Var};
use super::predicate::{conjuncts, resolved};
use super::system::{Conditions, System};
use super::thread::SymbolicThread;
use super::var_bounds::VarBounds;
use super::variance::Variances;
use crate::launch::ExtentBound;

/// Which of the two threads an expression is evaluated for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Copy {
    /// Both have the same value.
    Both,
    First,
    Second,
}

/// The two threads of a query, as integers.
pub(super) struct Views<'a> {
    pub(super) thread: &'a SymbolicThread,
    pub(super) launched: &'a LaunchedValues,
    pub(super) variances: &'a Variances,
    /// The greatest variance with which both threads have the same value.
    pub(super) shared: Variance,
    /// The synchronized loops that the two threads might be in different iterations of, as bits.
    pub(super) apart: u64,
    pub(super) system: System,
    pub(super) assumed: BTreeSet<ArithmeticAssumption>,
    /// The integers of expressions that were asked for, exact and modulo their widths, under what is known.
    pub(super) exact: HashMap<(Expr, bool, Copy), Poly>,
    pub(super) rings: HashMap<(Expr, bool, Copy), Poly>,
    pub(super) unknowns: HashMap<(Expr, Copy), (Var, bool)>,
    /// The choices between two values, and the unknown that each depends on.
    pub(super) chosen: HashMap<(Expr, Copy), (Poly, Var)>,
    pub(super) atoms: HashMap<(Atom, Copy), Var>,
    /// The predicates that hold for each thread.
    pub(super) known: BTreeSet<(Expr, Copy)>,
    pub(super) effort: u32,
    /// How deep the present expression lies in the one that was asked for.
    pub(super) depth: u32,
    /// How many choices the present expression is one side of.
    pub(super) choices: u32,
    /// What is taken for granted on that side.
    pub(super) granted: Vec<Poly>,
    /// How many predicates can still be looked at.
    pub(super) predicates: u32,
    pub(super) ordinary: &'a RefCell<OrdinaryRanges<'a>>,
}

/// The steps that bounds of one query can take.
const EFFORT: u32 = 4000;
/// The deepest expression that is followed.
const MOST_DEPTH: u32 = 200;
/// The most predicates that are looked at in one query.
const MOST_PREDICATES: u32 = 5000;

impl<'a> Views<'a> {
    pub(super) fn new(
        thread: &'a SymbolicThread,
        launched: &'a LaunchedValues,
        variances: &'a Variances,
        shared: Variance,
        apart: u64,
        ordinary: &'a RefCell<OrdinaryRanges<'a>>,
    ) -> Self {
        Self {
            thread,
            launched,
            variances,
            shared,
            apart,
            system: System::default(),
            assumed: BTreeSet::new(),
            exact: HashMap::default(),
            rings: HashMap::default(),
            unknowns: HashMap::default(),
            chosen: HashMap::default(),
            atoms: HashMap::default(),
            known: BTreeSet::new(),
            effort: EFFORT,
            depth: 0,
            choices: 0,
            granted: Vec::new(),
            predicates: MOST_PREDICATES,
            ordinary,
        }
    }

    pub(super) fn exprs(&self) -> &'a Exprs {
        &self.thread.exprs
    }

    /// Whether an expression has the same value for both threads.
    pub(super) fn is_same_for_both(&self, of: Expr) -> bool {
        self.variances.is_common(of, self.shared, self.apart)
    }

    /// The copy of an expression: one for both threads if it has the same value for both.
    fn copy(&self, of: Expr, copy: Copy) -> Copy {
        if self.is_same_for_both(of) { Copy::Both } else { copy }
    }

    pub(super) fn unknown(&mut self, bounds: VarBounds) -> Poly {
        Poly::var(self.system.var(bounds))
    }

    /// The integer of an atom that is never negative.
    pub(super) fn natural(&mut self, atom: Atom, copy: Copy) -> Option<Poly> {
        let (least, most) = match atom {
            Atom::Tid(part) => (0, Self::most(self.launched.block, part) - 1),
            Atom::Ntid(part) => (1, Self::most(self.launched.block, part)),
            Atom::Ctaid(part) => (0, Self::most(self.launched.grid, part) - 1),
            Atom::Nctaid(part) => (1, Self::most(self.launched.grid, part)),
            Atom::Iteration(_) => (0, i128::from(i64::MAX)),
            _ => return None,
        };
        if let Some(var) = self.atoms.get(&(atom, copy)) {
            return Some(Poly::var(*var));
        }
        let var = self.system.var(VarBounds { least: Some(least), most: Some(most) });
        self.atoms.insert((atom, copy), var);
        self.bound_index(atom, var);
        Some(Poly::var(var))
    }

    fn most(extents: [ExtentBound; 3], part: u8) -> i128 {
        match extents[usize::from(part)] {
            ExtentBound::Is(number) | ExtentBound::UpTo(number) => i128::from(number),
        }
    }

    /// An index is below its extent, and a cta has at most 1024 threads.
    fn bound_index(&mut self, atom: Atom, var: Var) {
        let (extent, is_open) = match atom {
            Atom::Tid(part) => (Atom::Ntid(part), self.launched.block[usize::from(part)]),
            Atom::Ctaid(part) => (Atom::Nctaid(part), self.launched.grid[usize::from(part)]),
            Atom::Ntid(_) => return self.bound_block(),
            _ => return,
        };
        if matches!(is_open, ExtentBound::UpTo(_))
            && let Some(extent) = self.natural(extent, Copy::Both)
        {
            let below =
                extent.minus(&Poly::var(var)).and_then(|room| room.minus(&Poly::constant(1)));
            self.system.conditions.positive.extend(below);
        }
    }

    fn bound_block(&mut self) {
        let extents: Vec<Var> = (0..3)
            .filter_map(|part| self.atoms.get(&(Atom::Ntid(part), Copy::Both)).copied())
            .collect();
        if extents.len() > 1 {
            let threads = Poly::term(extents.into_iter().collect(), -1);
            self.system.conditions.positive.extend(threads.plus(&Poly::constant(1024)));
        }
    }

    /// The bounds of a value that a loop carries, as an unsigned number.
    fn carried_bounds(&self, of: Expr) -> Option<VarBounds> {
        let ExprNode::Atom(atom) = self.exprs().node(of) else { return None };
        let VarBounds { least, most } = self.thread.carried.get(&atom)?;
        let all = VarBounds::of_width(self.exprs().bits(of), false);
        Some(VarBounds { least: least.or(all.least), most: most.or(all.most) })
    }

    /// An unknown for an expression, in the view in which it is first asked for.
    fn opaque(&mut self, of: Expr, is_signed: bool, copy: Copy) -> Poly {
        if let ExprNode::Atom(atom) = self.exprs().node(of)
            && let Some(known) = self.natural(atom, copy)
        {
            return known;
        }
        if let Some((var, _)) = self.unknowns.get(&(of, copy)) {
            return Poly::var(*var);
        }
        if let Some((known, _)) = self.chosen.get(&(of, copy)) {
            return known.clone();
        }
        let bits = self.exprs().bits(of);
        let is_signed = is_signed || self.thread.number_use(of).signed;
        let bounds = self.carried_bounds(of).filter(|_| !is_signed);
        let bounds = bounds.unwrap_or(VarBounds::of_width(bits, is_signed));
        if self.depth <= MOST_DEPTH
            && let ExprNode::Ite(condition, a, b) = self.exprs().node(of)
        {
            return self.either(of, (condition, [a, b]), bounds, is_signed, copy);
        }
        let var = self.system.var(bounds);
        self.unknowns.insert((of, copy), (var, is_signed));
        if self.depth <= MOST_DEPTH && bits == 1 {
            self.truth(var, of, is_signed, copy);
        }
        Poly::var(var)
    }

    /// An integer that is congruent to an expression modulo its width.
    pub(super) fn ring(&mut self, of: Expr, is_signed: bool, copy: Copy) -> Poly {
        let copy = self.copy(of, copy);
        if let Some(known) = self.rings.get(&(of, is_signed, copy)) {
            return known.clone();
        }
        let exprs = self.exprs();
        let bits = exprs.bits(of);
        self.depth += 1;
        let found = match exprs.node(of) {
            _ if self.depth > MOST_DEPTH => None,
            ExprNode::Constant(value) => {
                Some(Poly::constant(i128::from(crate::emulate::signed(value, bits))))
            }
            ExprNode::Not(a) if bits > 1 => {
                let minus_one = Poly::constant(-1);
                minus_one.minus(&self.ring(a, is_signed, copy))
            }
            ExprNode::Extract(a, 0) => Some(self.ring(a, is_signed, copy)),
            ExprNode::Extract(a, low) => {
                let whole = self.exact(a, false, copy);
                self.divided(whole, Poly::constant(1 << low)).map(|(upper, _)| upper)
            }
            ExprNode::Zext(a) => Some(self.exact(a, false, copy)),
            ExprNode::Sext(a) => Some(self.exact(a, true, copy)),
            ExprNode::Binary(operator, a, b) => self.operation(of, operator, a, b, is_signed, copy),
            ExprNode::Ite(condition, a, b) => self.decided(condition, a, b, is_signed, copy),
            _ => None,
        };
        let found = match found {
            Some(poly) => poly,
            None => self.opaque(of, is_signed, copy),
        };
        self.depth -= 1;
        self.rings.insert((of, is_signed, copy), found.clone());
        found
    }

    fn operation(
        &mut self,
        of: Expr,
        operator: BinaryOperator,
        a: Expr,
        b: Expr,
        is_signed: bool,
        copy: Copy,
    ) -> Option<Poly> {
        let bits = self.exprs().bits(of);
        let number = self.exprs().as_constant(b);
        match operator {
            BinaryOperator::Add => {
                let a = self.ring(a, is_signed, copy);
                a.plus(&self.ring(b, is_signed, copy))
            }
            BinaryOperator::Mul => {
                let a = self.ring(a, is_signed, copy);
                a.product(&self.ring(b, is_signed, copy))
            }
            BinaryOperator::UmulHigh | BinaryOperator::SmulHigh => {
                let are_signed = operator == BinaryOperator::SmulHigh;
                let a = self.exact(a, are_signed, copy);
                let product = a.product(&self.exact(b, are_signed, copy))?;
                Some(self.divided(product, Poly::constant(1 << bits))?.0)
            }
            BinaryOperator::Shl => {
                let amount = number.filter(|amount| *amount < u64::from(bits))?;
                self.ring(a, is_signed, copy).times(1 << amount)
            }
            BinaryOperator::And if bits > 1 => self.masked(a, number?, copy, bits),
            BinaryOperator::Or | BinaryOperator::Xor if bits > 1 => {
                self.joined(a, b, is_signed, copy)
            }
            BinaryOperator::Lshr | BinaryOperator::Ashr => {
                let amount = number.filter(|amount| *amount < u64::from(bits))?;
                let dividend = self.exact(a, operator == BinaryOperator::Ashr, copy);
                Some(self.divided(dividend, Poly::constant(1 << amount))?.0)
            }
            BinaryOperator::Udiv | BinaryOperator::Urem => {
                let (dividend, divisor) = (self.exact(a, false, copy), self.exact(b, false, copy));
                let (quotient, remainder) = self.divided(dividend, divisor)?;
                Some(if operator == BinaryOperator::Udiv { quotient } else { remainder })
            }
            BinaryOperator::Sdiv | BinaryOperator::Srem => {
                let (dividend, divisor) = (self.exact(a, true, copy), self.exact(b, true, copy));
                if !self.is_positive(&dividend) {
                    return None;
                }
                let (quotient, remainder) = self.divided(dividend, divisor)?;
                Some(if operator == BinaryOperator::Sdiv { quotient } else { remainder })
            }
            _ => None,
        }
    }

    pub(super) fn is_positive(&mut self, of: &Poly) -> bool {
        let mut effort = self.effort.min(300);
        self.system.is_positive(of, &mut effort)
    }

    /// The exact value of an expression, as an unsigned or a signed number.
    pub(super) fn exact(&mut self, of: Expr, is_signed: bool, copy: Copy) -> Poly {
        let copy = self.copy(of, copy);
        if let Some(known) = self.exact.get(&(of, is_signed, copy)) {
            return known.clone();
        }
        let poly = self.ring(of, is_signed, copy);
        let fitted = self.fitted(of, poly, is_signed);
        self.exact.insert((of, is_signed, copy), fitted.clone());
        fitted
    }

    /// Adds what follows from a thread's reaching a place.
    pub(super) fn assume(&mut self, reach: Expr, copy: Copy) {
        let mut parts = conjuncts(self.exprs(), reach);
        parts.sort_unstable();
        for part in &parts {
            self.known.insert((*part, self.copy(*part, copy)));
        }
        for part in parts {
            let mut conditions = Conditions::default();
            self.condition(part, true, copy, &mut conditions);
            self.system.conditions.extend(&conditions);
        }
    }

    /// Adds what follows from a predicate that holds, or does not.
    pub(super) fn condition(
        &mut self,
        of: Expr,
        holds: bool,
        copy: Copy,
        conditions: &mut Conditions,
    ) {
        let exprs = self.exprs();
        if self.depth > MOST_DEPTH || self.predicates == 0 {
            return;
        }
        self.predicates -= 1;
        self.depth += 1;
        match exprs.node(of) {
            ExprNode::Not(inner) => self.condition(inner, !holds, copy, conditions),
            ExprNode::Binary(BinaryOperator::And, a, b) if holds => {
                self.condition(a, true, copy, conditions);
                self.condition(b, true, copy, conditions);
            }
            ExprNode::Binary(BinaryOperator::Or, a, b) if !holds => {
                self.condition(a, false, copy, conditions);
                self.condition(b, false, copy, conditions);
            }
            ExprNode::Binary(BinaryOperator::And | BinaryOperator::Or, a, b) => {
                let known = self.known.iter().filter(|(_, own)| [copy, Copy::Both].contains(own));
                let known = known.map(|(own, _)| *own);
                if let Some((part, holds)) = resolved(exprs, [(a, holds), (b, holds)], known) {
                    self.condition(part, holds, copy, conditions);
                }
            }
            ExprNode::Binary(BinaryOperator::Eq, a, b) if exprs.bits(a) > 1 => {
                let is_signed = self.is_signed(a, copy) || self.is_signed(b, copy);
                let (a, b) = (self.exact(a, is_signed, copy), self.exact(b, is_signed, copy));
                let target = if holds { &mut conditions.zero } else { &mut conditions.nonzero };
                target.extend(a.minus(&b));
            }
            ExprNode::Binary(operator @ (BinaryOperator::Ult | BinaryOperator::Slt), a, b) => {
                let is_signed = operator == BinaryOperator::Slt;
                let (a, b) = (self.exact(a, is_signed, copy), self.exact(b, is_signed, copy));
                let above = if holds {
                    b.minus(&a).and_then(|room| room.minus(&Poly::constant(1)))
                } else {
                    a.minus(&b)
                };
                conditions.positive.extend(above);
            }
            _ => {}
        }
        self.depth -= 1;
    }

    /// Whether an expression is better compared as a signed number: some unknown of it might be negative.
    fn is_signed(&mut self, of: Expr, copy: Copy) -> bool {
        if self.exprs().as_constant(of).is_some() {
            return false;
        }
        let poly = self.ring(of, false, copy);
        let range = self.system.range(&poly);
        let most = VarBounds::of_width(self.exprs().bits(of), false).most;
        range.least.is_none_or(|least| least < 0) || range.most > most
    }
}
