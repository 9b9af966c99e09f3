//! Translates bit-vector expressions of two threads into polynomials over the integers.
//!
//! Sums and products of bit-vectors are sums and products of integers, modulo a power of two. Where an expression is
//! extended, compared or divided, its exact value is needed: that the integer stays within the width is proved from the
//! bounds, or assumed of values that only large arguments, extents and contents could make wrap around. Otherwise the
//! wrapped value is an unknown of its own, the remainder of a division by the power of two.

use std::collections::BTreeSet;

use foldhash::HashMap;

use super::atom::{Atom, Variance};
use super::expr::{BinaryOperator, Expr, Exprs, Node};
use super::launched::LaunchedValues;
use super::poly::{Poly, Var};
use super::system::{Alternatives, Bounds, Conditions, Division, System};
use super::thread::{SymbolicThread, conjuncts};
use super::variance::Variances;
use crate::flow::{BlockId, Program};
use crate::launch::ExtentBound;

/// What a proof takes for granted about arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum ArithmeticAssumption {
    /// Integers do not wrap around.
    Unwrapped,
    /// Divisors are not zero.
    NonzeroDivisors,
}

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
    thread: &'a SymbolicThread,
    launched: &'a LaunchedValues,
    variances: &'a Variances,
    /// The greatest variance with which both threads have the same value.
    shared: Variance,
    /// The synchronized loops that the two threads might be in different iterations of, as bits.
    apart: u64,
    pub(super) system: System,
    pub(super) assumed: BTreeSet<ArithmeticAssumption>,
    exact: HashMap<(Expr, bool, Copy), Poly>,
    unknowns: HashMap<(Expr, Copy), (Var, bool)>,
    atoms: HashMap<(Atom, Copy), Var>,
    /// The predicates that hold for each thread.
    known: BTreeSet<(Expr, Copy)>,
    effort: u32,
}

/// The steps that bounds of one query can take.
const EFFORT: u32 = 4000;
/// Unknowns without bounds of their own are taken to be up to this, where it is judged whether only large values wrap.
const SMALL: i128 = 256;

impl<'a> Views<'a> {
    pub(super) fn new(
        thread: &'a SymbolicThread,
        launched: &'a LaunchedValues,
        variances: &'a Variances,
        shared: Variance,
        apart: u64,
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
            unknowns: HashMap::default(),
            atoms: HashMap::default(),
            known: BTreeSet::new(),
            effort: EFFORT,
        }
    }

    fn exprs(&self) -> &'a Exprs {
        &self.thread.exprs
    }

    /// The copy of an expression: one for both threads if it has the same value for both.
    fn copy(&self, of: Expr, copy: Copy) -> Copy {
        let is_shared = self.variances.variance(of) <= self.shared
            && self.variances.iterations_of(of) & self.apart == 0;
        if is_shared { Copy::Both } else { copy }
    }

    fn unknown(&mut self, bounds: Bounds) -> Poly {
        Poly::var(self.system.var(bounds))
    }

    /// The integer of an atom that is never negative.
    pub(super) fn natural(&mut self, atom: Atom, copy: Copy) -> Option<Poly> {
        let (least, most) = match atom {
            Atom::Tid(part) => (0, self.most(self.launched.block, part) - 1),
            Atom::Ntid(part) => (1, self.most(self.launched.block, part)),
            Atom::Ctaid(part) => (0, self.most(self.launched.grid, part) - 1),
            Atom::Nctaid(part) => (1, self.most(self.launched.grid, part)),
            Atom::Iteration(_) => (0, i128::from(i64::MAX)),
            _ => return None,
        };
        if let Some(var) = self.atoms.get(&(atom, copy)) {
            return Some(Poly::var(*var));
        }
        let var = self.system.var(Bounds { least: Some(least), most: Some(most) });
        self.atoms.insert((atom, copy), var);
        self.bound_index(atom, var);
        Some(Poly::var(var))
    }

    fn most(&self, extents: [ExtentBound; 3], part: u8) -> i128 {
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

    /// An unknown for an expression, in the view in which it is first asked for.
    fn opaque(&mut self, of: Expr, is_signed: bool, copy: Copy) -> Poly {
        if let Node::Atom(atom) = self.exprs().node(of)
            && let Some(known) = self.natural(atom, copy)
        {
            return known;
        }
        if let Some((var, _)) = self.unknowns.get(&(of, copy)) {
            return Poly::var(*var);
        }
        let bits = self.exprs().bits(of);
        let var = self.system.var(width(bits, is_signed));
        self.unknowns.insert((of, copy), (var, is_signed));
        if let Node::Ite(condition, a, b) = self.exprs().node(of) {
            self.either(var, condition, [a, b], is_signed, copy);
        } else if bits == 1 {
            self.truth(var, of, copy);
        }
        Poly::var(var)
    }

    /// One of two values.
    fn either(
        &mut self,
        var: Var,
        condition: Expr,
        values: [Expr; 2],
        is_signed: bool,
        copy: Copy,
    ) {
        let side = |holds: bool, value: Expr, views: &mut Self| {
            let mut conditions = Conditions::default();
            views.condition(condition, holds, copy, &mut conditions);
            (views.exact(value, is_signed, copy), conditions)
        };
        let cases = vec![side(true, values[0], self), side(false, values[1], self)];
        self.system.alternatives.push(Alternatives { var, cases });
    }

    /// A predicate as a number.
    fn truth(&mut self, var: Var, of: Expr, copy: Copy) {
        let is_comparison = matches!(self.exprs().node(of), Node::Binary(..) | Node::Not(_));
        if !is_comparison {
            return;
        }
        let mut side = |holds: bool| {
            let mut conditions = Conditions::default();
            self.condition(of, holds, copy, &mut conditions);
            (Poly::constant(i128::from(holds)), conditions)
        };
        let cases = vec![side(true), side(false)];
        self.system.alternatives.push(Alternatives { var, cases });
    }

    /// An integer that is congruent to an expression modulo its width.
    fn ring(&mut self, of: Expr, is_signed: bool, copy: Copy) -> Poly {
        let copy = self.copy(of, copy);
        let exprs = self.exprs();
        let bits = exprs.bits(of);
        let found = match exprs.node(of) {
            Node::Constant(value) => {
                Some(Poly::constant(i128::from(crate::emulate::signed(value, bits))))
            }
            Node::Not(a) if bits > 1 => {
                let minus_one = Poly::constant(-1);
                minus_one.minus(&self.ring(a, is_signed, copy))
            }
            Node::Extract(a, 0) => Some(self.ring(a, is_signed, copy)),
            Node::Zext(a) => Some(self.exact(a, false, copy)),
            Node::Sext(a) => Some(self.exact(a, true, copy)),
            Node::Binary(operator, a, b) => self.operation(of, operator, a, b, is_signed, copy),
            Node::Ite(condition, a, b) => self.decided(condition, a, b, is_signed, copy),
            _ => None,
        };
        match found {
            Some(poly) => poly,
            None => self.opaque(of, is_signed, copy),
        }
    }

    /// A choice whose condition is known.
    fn decided(
        &mut self,
        condition: Expr,
        a: Expr,
        b: Expr,
        is_signed: bool,
        copy: Copy,
    ) -> Option<Poly> {
        let is_known = |expr: Expr| {
            self.known.contains(&(expr, copy)) || self.known.contains(&(expr, Copy::Both))
        };
        if is_known(condition) {
            return Some(self.ring(a, is_signed, copy));
        }
        let is_false = self.known.iter().any(|(own, of)| {
            (*of == copy || *of == Copy::Both) && self.exprs().are_complements(*own, condition)
        });
        is_false.then(|| self.ring(b, is_signed, copy))
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
            BinaryOperator::Shl => {
                let amount = number.filter(|amount| *amount < u64::from(bits))?;
                self.ring(a, is_signed, copy).times(1 << amount)
            }
            BinaryOperator::And if bits > 1 => self.masked(a, number?, copy, bits),
            BinaryOperator::Or | BinaryOperator::Xor if bits > 1 => {
                self.joined(a, b, is_signed, copy)
            }
            BinaryOperator::Lshr => {
                let amount = number.filter(|amount| *amount < u64::from(bits))?;
                let dividend = self.exact(a, false, copy);
                Some(self.divided(dividend, Poly::constant(1 << amount))?.0)
            }
            BinaryOperator::Ashr => {
                let amount = number.filter(|amount| *amount < u64::from(bits))?;
                let dividend = self.exact(a, true, copy);
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

    fn is_positive(&mut self, of: &Poly) -> bool {
        let mut effort = self.effort.min(300);
        self.system.is_positive(of, &mut effort)
    }

    /// The bits of a mask: of a mask of the lowest bits, the remainder; of one of all others, what is left.
    fn masked(&mut self, a: Expr, mask: u64, copy: Copy, bits: u32) -> Option<Poly> {
        let whole = self.ring(a, false, copy);
        let all = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
        if mask & mask.wrapping_add(1) == 0 {
            return self.remainder(whole, mask.count_ones());
        }
        let low = !mask & all;
        if low & low.wrapping_add(1) == 0 {
            let low = self.remainder(whole.clone(), low.count_ones())?;
            return whole.minus(&low);
        }
        None
    }

    /// The lowest bits of an integer.
    fn remainder(&mut self, of: Poly, bits: u32) -> Option<Poly> {
        Some(self.divided(of, Poly::constant(1_i128.checked_shl(bits)?))?.1)
    }

    /// `a | b` and `a ^ b` of numbers that share no bits: a multiple of a power of two, and one below it.
    fn joined(&mut self, a: Expr, b: Expr, is_signed: bool, copy: Copy) -> Option<Poly> {
        for (high, low) in [(a, b), (b, a)] {
            let (upper, lower) = (self.ring(high, is_signed, copy), self.ring(low, false, copy));
            let power = match upper.content() {
                0 => return Some(lower),
                content => content & content.wrapping_neg(),
            };
            let range = self.system.range(&lower);
            let fits = range.least.is_some_and(|least| least >= 0)
                && range.most.is_some_and(|most| most < power);
            if fits {
                return upper.plus(&lower);
            }
        }
        None
    }

    /// Quotient and remainder of a floor division by a positive divisor.
    fn divided(&mut self, dividend: Poly, divisor: Poly) -> Option<(Poly, Poly)> {
        if let Some(number) = divisor.as_constant() {
            if number < 1 {
                return None;
            }
            if let Some(exact) = split(&self.system, &dividend, number) {
                return Some(exact);
            }
        } else {
            let room = divisor.minus(&dividend)?.minus(&Poly::constant(1))?;
            if self.is_positive(&dividend) && self.is_positive(&room) {
                return Some((Poly::default(), dividend));
            }
            let above = divisor.minus(&Poly::constant(1))?;
            if !self.is_positive(&above) {
                // A negative divisor is not followed.
                if self.system.range(&divisor).least.is_none_or(|least| least < 0) {
                    return None;
                }
                self.assumed.insert(ArithmeticAssumption::NonzeroDivisors);
                self.system.conditions.positive.push(above);
            }
        }
        let known = self
            .system
            .divisions
            .iter()
            .find(|known| known.dividend == dividend && known.divisor == divisor);
        if let Some(known) = known {
            return Some((known.quotient.clone(), known.remainder.clone()));
        }
        Some(self.new_division(dividend, divisor))
    }

    fn new_division(&mut self, dividend: Poly, divisor: Poly) -> (Poly, Poly) {
        let (of_dividend, of_divisor) = (self.system.range(&dividend), self.system.range(&divisor));
        let is_natural = self.is_positive(&dividend);
        let least = if is_natural { Some(0) } else { of_dividend.least.map(|least| least.min(0)) };
        let quotient =
            self.unknown(Bounds { least, most: of_dividend.most.map(|most| most.max(0)) });
        let most = of_divisor.most.map(|most| most - 1);
        let remainder = self.unknown(Bounds { least: Some(0), most });
        let below = divisor.minus(&remainder).and_then(|room| room.minus(&Poly::constant(1)));
        if divisor.as_constant().is_none() {
            self.system.conditions.positive.extend(below);
        }
        self.system.divisions.push(Division {
            dividend,
            divisor,
            quotient: quotient.clone(),
            remainder: remainder.clone(),
        });
        (quotient, remainder)
    }

    /// The exact value of an expression, as an unsigned or a signed number.
    pub(super) fn exact(&mut self, of: Expr, is_signed: bool, copy: Copy) -> Poly {
        let copy = self.copy(of, copy);
        if let Some(known) = self.exact.get(&(of, is_signed, copy)) {
            return known.clone();
        }
        let poly = self.ring(of, is_signed, copy);
        let fitted = self.fitted(of, poly, is_signed, copy);
        self.exact.insert((of, is_signed, copy), fitted.clone());
        fitted
    }

    fn fitted(&mut self, of: Expr, poly: Poly, is_signed: bool, copy: Copy) -> Poly {
        let bits = self.exprs().bits(of);
        let Bounds { least: Some(least), most: Some(most) } = width(bits, is_signed) else {
            return poly;
        };
        let range = self.system.range(&poly);
        let above = range.least.is_some_and(|own| own >= least)
            || poly.minus(&Poly::constant(least)).is_some_and(|room| self.is_positive(&room));
        let below = range.most.is_some_and(|own| own <= most)
            || Poly::constant(most).minus(&poly).is_some_and(|room| self.is_positive(&room));
        if above && below {
            return poly;
        }
        if bits >= 32 && self.wraps_only_if_large(&poly, above, least, most) {
            self.assumed.insert(ArithmeticAssumption::Unwrapped);
            let one =
                |room: Option<Poly>, system: &mut System| system.conditions.positive.extend(room);
            one(poly.minus(&Poly::constant(least)), &mut self.system);
            one(Poly::constant(most).minus(&poly), &mut self.system);
            return poly;
        }
        if let Some(number) = poly.as_constant() {
            let modulus = 1_i128 << bits;
            let unsigned = number.rem_euclid(modulus);
            let wraps = is_signed && unsigned > most;
            return Poly::constant(if wraps { unsigned - modulus } else { unsigned });
        }
        if is_signed {
            // The remainder of the shifted value, shifted back.
            let shifted = poly.minus(&Poly::constant(least));
            let low = shifted.and_then(|shifted| self.remainder(shifted, bits));
            if let Some(value) = low.and_then(|low| low.plus(&Poly::constant(least))) {
                return value;
            }
        } else if let Some(value) = self.remainder(poly, bits) {
            return value;
        }
        let _ = copy;
        self.unknown(width(bits, is_signed))
    }

    /// Whether a value leaves its width only for large values of unknowns that have no bounds of their own.
    fn wraps_only_if_large(&self, of: &Poly, above: bool, least: i128, most: i128) -> bool {
        let mut small = System { bounds: self.system.bounds.clone(), ..System::default() };
        for bounds in &mut small.bounds {
            let is_open = |bound: Option<i128>| bound.is_none_or(|bound| bound.abs() > 1 << 16);
            if is_open(bounds.most) {
                bounds.most = Some(SMALL);
            }
            if is_open(bounds.least) {
                bounds.least = Some(-SMALL);
            }
        }
        let range = small.range(of);
        (above || range.least.is_some_and(|own| own >= least))
            && range.most.is_some_and(|own| own <= most)
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
        match exprs.node(of) {
            Node::Not(inner) => self.condition(inner, !holds, copy, conditions),
            Node::Binary(BinaryOperator::And, a, b) if holds => {
                self.condition(a, true, copy, conditions);
                self.condition(b, true, copy, conditions);
            }
            Node::Binary(BinaryOperator::Or, a, b) if !holds => {
                self.condition(a, false, copy, conditions);
                self.condition(b, false, copy, conditions);
            }
            Node::Binary(BinaryOperator::Eq, a, b) if exprs.bits(a) > 1 => {
                let is_signed = self.is_signed(a, copy) || self.is_signed(b, copy);
                let (a, b) = (self.exact(a, is_signed, copy), self.exact(b, is_signed, copy));
                let target = if holds { &mut conditions.zero } else { &mut conditions.nonzero };
                target.extend(a.minus(&b));
            }
            Node::Binary(operator @ (BinaryOperator::Ult | BinaryOperator::Slt), a, b) => {
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
    }

    /// Adds that a thread has gone on after every earlier iteration of the loops around a block. What let it go on then is
    /// known if it depends on nothing but the iteration: it is the condition at the end of an iteration, one earlier.
    pub(super) fn repeated(&mut self, program: &Program, block: BlockId, copy: Copy) {
        for header in &program.blocks[block.index()].loops {
            let Some(symbolic) = self.thread.loops.get(header) else { continue };
            let [again] = symbolic.again.as_slice() else { continue };
            let Some(Poly { terms }) = self.natural_iteration(*header, copy) else { continue };
            let Some(&[iteration]) = terms.keys().next().map(|product| product.as_slice()) else {
                continue;
            };
            let inside: BTreeSet<BlockId> = program.blocks_in(*header).collect();
            for part in conjuncts(self.exprs(), *again) {
                if self.depends_on_iteration(part, *header, &inside) {
                    self.invariant(part, symbolic.entry, iteration, copy);
                }
            }
        }
    }

    fn natural_iteration(&mut self, header: BlockId, copy: Copy) -> Option<Poly> {
        let shared = self.variances.bit(header);
        let is_shared = shared != 0 && shared & self.apart == 0 && self.shared >= Variance::Cta;
        self.natural(Atom::Iteration(header), if is_shared { Copy::Both } else { copy })
    }

    /// Whether an expression has one value in each iteration of a loop, whatever happens in it.
    fn depends_on_iteration(&self, of: Expr, header: BlockId, inside: &BTreeSet<BlockId>) -> bool {
        is_of_iteration(self.exprs(), of, header, |at| inside.contains(&at))
    }

    /// Adds a condition at the end of the iteration before, if it also holds where the loop begins.
    fn invariant(&mut self, of: Expr, entry: Expr, iteration: Var, copy: Copy) {
        let conditions = self.in_every_iteration(of, entry, copy);
        let one = Poly::constant(1);
        let Some(before) = Poly::var(iteration).minus(&one) else { return };
        let minus_one = Poly::constant(-1);
        let mut holds_first = |poly: &Poly, views: &mut Self| {
            poly.substituted(iteration, &minus_one).is_some_and(|first| views.is_positive(&first))
        };
        for poly in conditions.positive {
            if poly.has(iteration) && holds_first(&poly, self) {
                self.system.conditions.positive.extend(poly.substituted(iteration, &before));
            }
        }
        for poly in conditions.nonzero {
            self.counts_down(&poly, iteration);
        }
    }

    /// What follows from a predicate in whichever iteration it is evaluated: that its integers are exact must not be
    /// concluded from what is known of the present iteration.
    fn in_every_iteration(&mut self, of: Expr, entry: Expr, copy: Copy) -> Conditions {
        let conditions = std::mem::take(&mut self.system.conditions);
        let (known, exact) = (std::mem::take(&mut self.known), std::mem::take(&mut self.exact));
        self.assume(entry, copy);
        let mut found = Conditions::default();
        self.condition(of, true, copy, &mut found);
        let learnt = std::mem::replace(&mut self.system.conditions, conditions);
        self.system.conditions.extend(&learnt);
        (self.known, self.exact) = (known, exact);
        found
    }

    /// A loop that goes on while a number is not zero, which it steps towards zero by one divisor of it, stays above zero.
    fn counts_down(&mut self, number: &Poly, iteration: Var) {
        for sign in [1, -1] {
            let Some(number) = number.times(sign) else { continue };
            let Some(step) =
                number.terms.get(&std::iter::once(iteration).collect::<super::poly::Monomial>())
            else {
                continue;
            };
            let step = -*step;
            let is_linear =
                number.terms.keys().filter(|product| product.contains(&iteration)).count() == 1;
            let Some(first) = number.substituted(iteration, &Poly::constant(-1)) else { continue };
            let is_divided = first.content() % step.max(1) == 0;
            if step < 1 || !is_linear || !is_divided {
                continue;
            }
            // Before the first iteration the number is at least one step.
            let above = first.minus(&Poly::constant(step));
            if above.is_some_and(|above| self.is_positive(&above)) {
                let now = Poly::var(iteration).minus(&Poly::constant(1));
                let now = now.and_then(|before| number.substituted(iteration, &before));
                self.system
                    .conditions
                    .positive
                    .extend(now.and_then(|now| now.minus(&Poly::constant(step))));
            }
        }
    }

    /// Whether an expression is better compared as a signed number: some unknown of it might be negative.
    fn is_signed(&mut self, of: Expr, copy: Copy) -> bool {
        if self.exprs().as_constant(of).is_some() {
            return false;
        }
        let poly = self.ring(of, false, copy);
        self.system.range(&poly).least.is_none_or(|least| least < 0)
    }
}

/// Whether an expression depends on nothing that a loop changes but the number of the iteration. `is_inside`: whether a
/// block belongs to the loop.
pub(super) fn is_of_iteration(
    exprs: &Exprs,
    of: Expr,
    header: BlockId,
    is_inside: impl Fn(BlockId) -> bool,
) -> bool {
    exprs.atoms(of).into_iter().all(|atom| match atom {
        Atom::Unknown(_) => false,
        Atom::Iteration(at) => at == header || !is_inside(at),
        Atom::Carried(at, _) | Atom::Result(_, at, _) => !is_inside(at),
        _ => true,
    })
}

/// The values of a width.
fn width(bits: u32, is_signed: bool) -> Bounds {
    let (least, most) = if is_signed {
        (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1)
    } else {
        (0, (1_i128 << bits) - 1)
    };
    Bounds { least: Some(least), most: Some(most) }
}

/// Splits a dividend by a number, if the terms that the number divides and the rest are quotient and remainder.
fn split(system: &System, dividend: &Poly, number: i128) -> Option<(Poly, Poly)> {
    let (mut quotient, mut remainder) = (Poly::default(), Poly::default());
    for (monomial, coefficient) in &dividend.terms {
        let (high, low) = (coefficient.div_euclid(number), coefficient.rem_euclid(number));
        if monomial.is_empty() || low == 0 {
            quotient = quotient.plus(&Poly::term(monomial.clone(), high))?;
            remainder = remainder.plus(&Poly::term(monomial.clone(), low))?;
        } else {
            remainder = remainder.plus(&Poly::term(monomial.clone(), *coefficient))?;
        }
    }
    let range = system.range(&remainder);
    let fits = range.least? >= 0 && range.most? < number;
    fits.then_some((quotient, remainder))
}
