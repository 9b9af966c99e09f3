//! Loops that go on while a number is on one side of a limit, and whose bodies the compiler might have copied: an iteration
//! then steps the number once in each copy, and compares it once.
//!
//! That the number is on this side of the limit in the last copy, too, follows from the number of iterations, which a branch in
//! front of the loop decides. This is shown once for each loop, so that the comparisons of accesses need not show it again.

use std::cell::RefCell;
use std::collections::BTreeSet;

use foldhash::HashMap;

use super::assumption::ArithmeticAssumption;
use super::atom::{Atom, Variance};
use super::expr::{BinaryOperator, Expr, ExprNode, Exprs};
use super::iteration_fact::IterationFact;
use super::launched::LaunchedValues;
use super::ordinary_range::OrdinaryRanges;
use super::predicate::conjuncts;
use super::required::RequiredFacts;
use super::system::Conditions;
use super::thread::SymbolicThread;
use super::variance::Variances;
use super::view::{Copy, Views};
use crate::emulate::signed;
use crate::flow::{BlockId, Program};

/// The steps that the proof for one loop can take.
const EFFORT: u32 = 30_000;
/// The numbers of copies of a body that are tried where an iteration steps the number in one addition. Compilers mask the number
/// of rounds with one less than that, to find how many rounds are left over.
const COPIES: [u64; 4] = [16, 8, 4, 2];

/// Finds what holds in every iteration of the loops of a thread. `effort`: the steps that are left.
pub(super) fn find(
    program: &Program,
    thread: &mut SymbolicThread,
    (launched, variances, required): (&LaunchedValues, &Variances, &RequiredFacts),
    effort: &mut u32,
) {
    let copies: Vec<u64> =
        COPIES.into_iter().filter(|copies| has_field(&thread.exprs, copies - 1)).collect();
    let headers: Vec<BlockId> = thread.loops.keys().copied().collect();
    for header in headers {
        for tried in candidates(thread, header, &copies) {
            let proved = tried.into_iter().find_map(|holds| {
                let ordinary = RefCell::new(OrdinaryRanges::of(thread, launched));
                let (shared, apart) = (Variance::Launch, u64::MAX);
                let mut views = Views::new(thread, launched, variances, shared, apart, &ordinary);
                views.require(required);
                let granted = EFFORT.min(*effort);
                let mut left = granted;
                let assumed = views.always_holds(program, header, holds, &mut left);
                *effort -= granted - left;
                Some(IterationFact { holds, assumed: assumed? })
            });
            if let Some(own) = thread.loops.get_mut(&header) {
                own.facts.extend(proved);
            }
        }
    }
}

/// Whether a kernel has a mask of these bits, at whatever place in the word.
fn has_field(exprs: &Exprs, field: u64) -> bool {
    let is_field = |mask: u64| mask.checked_shr(mask.trailing_zeros()) == Some(field);
    exprs.all().any(|of| match exprs.node(of) {
        ExprNode::Binary(BinaryOperator::And, _, b) => exprs.as_constant(b).is_some_and(is_field),
        _ => false,
    })
}

/// What might hold in every iteration of a loop, for each comparison that lets it go on, the strongest first.
fn candidates(thread: &mut SymbolicThread, header: BlockId, copies: &[u64]) -> Vec<Vec<Expr>> {
    let own = &thread.loops[&header];
    let [again] = own.again.as_slice() else { return Vec::new() };
    let parts = conjuncts(&thread.exprs, again.holds);
    let entry = conjuncts(&thread.exprs, own.entry.holds);
    let mut steps = Steps { exprs: &mut thread.exprs, header, entry, copies };
    parts.into_iter().map(|part| steps.earlier(part)).collect()
}

/// Takes the steps of an iteration back.
struct Steps<'a> {
    exprs: &'a mut Exprs,
    header: BlockId,
    /// What holds where the loop begins.
    entry: Vec<Expr>,
    /// The numbers of copies that are tried.
    copies: &'a [u64],
}

impl Steps<'_> {
    /// A comparison with a limit, for earlier values that its number might have had in the iteration: the latest one first.
    fn earlier(&mut self, of: Expr) -> Vec<Expr> {
        let (comparison, holds) = match self.exprs.node(of) {
            ExprNode::Not(inner) => (inner, false),
            _ => (of, true),
        };
        let ExprNode::Binary(operator @ (BinaryOperator::Ult | BinaryOperator::Slt), a, b) =
            self.exprs.node(comparison)
        else {
            return Vec::new();
        };
        let is_left = !self.is_fixed(a);
        let (number, limit) = if is_left { (a, b) } else { (b, a) };
        if !self.is_fixed(limit) {
            return Vec::new();
        }
        let compare = |exprs: &mut Exprs, number: Expr| {
            let (a, b) = if is_left { (number, limit) } else { (limit, number) };
            let compared = exprs.binary(operator, a, b);
            if holds { compared } else { exprs.not(compared) }
        };
        let Some((before, step)) = self.last_step(number) else { return Vec::new() };
        if self.last_step(before).is_some() {
            return vec![compare(self.exprs, before)];
        }
        // One addition for all copies, or for the only one.
        let first = self.first(before);
        let first = compare(self.exprs, first);
        if self.entry.contains(&first) {
            return Vec::new();
        }
        let mut found = Vec::new();
        for copies in self.copies {
            if let Some(part) = divided(self.exprs, step, *copies) {
                let number = self.exprs.minus(number, part);
                found.push(compare(self.exprs, number));
            }
        }
        found
    }

    /// Whether an expression is the same in all iterations.
    fn is_fixed(&self, of: Expr) -> bool {
        let changes = |atom: &Atom| match atom {
            Atom::Iteration(header) | Atom::Carried(header, _) => *header == self.header,
            _ => false,
        };
        !self.exprs.atoms(of).iter().any(changes)
    }

    /// An expression in the first iteration.
    fn first(&mut self, of: Expr) -> Expr {
        let iteration = self.exprs.atom(Atom::Iteration(self.header), 64);
        let zero = self.exprs.constant(0, 64);
        self.exprs.replaced(of, &HashMap::from_iter([(iteration, zero)]))
    }

    /// A number before its last step, and the step; `None` if it has not made one in this iteration.
    fn last_step(&self, number: Expr) -> Option<(Expr, Expr)> {
        let (before, step) = self.addend(number)?;
        let is_stepped = match self.exprs.node(before) {
            ExprNode::Atom(_) => true,
            // The iteration times its step: what is added is the first value of the number, or a step of one that begins at zero.
            ExprNode::Binary(BinaryOperator::Mul, a, b) => a == step || b == step,
            _ => self.addend(before).is_some(),
        };
        is_stepped.then_some((before, step))
    }

    /// A sum without an addend that is the same in all iterations, and the addend.
    fn addend(&self, sum: Expr) -> Option<(Expr, Expr)> {
        let ExprNode::Binary(BinaryOperator::Add, a, b) = self.exprs.node(sum) else {
            return None;
        };
        match (self.is_fixed(a), self.is_fixed(b)) {
            (false, true) => Some((a, b)),
            (true, false) => Some((b, a)),
            _ => None,
        }
    }
}

/// A step divided by the number of copies, if it is a multiple of it.
fn divided(exprs: &mut Exprs, step: Expr, copies: u64) -> Option<Expr> {
    let bits = exprs.bits(step);
    let part = |factor: u64| {
        let (factor, copies) = (signed(factor, bits), copies.cast_signed());
        (factor % copies == 0).then(|| (factor / copies).cast_unsigned())
    };
    match exprs.node(step) {
        ExprNode::Constant(value) => {
            let part = part(value)?;
            Some(exprs.constant(part, bits))
        }
        ExprNode::Binary(BinaryOperator::Mul, a, b) => {
            let part = part(exprs.as_constant(b)?)?;
            let factor = exprs.constant(part, bits);
            Some(exprs.binary(BinaryOperator::Mul, a, factor))
        }
        ExprNode::Binary(BinaryOperator::Shl, a, b) => {
            let amount = exprs.as_constant(b)?.checked_sub(copies.trailing_zeros().into())?;
            let amount = exprs.constant(amount, bits);
            Some(exprs.binary(BinaryOperator::Shl, a, amount))
        }
        _ => None,
    }
}

impl Views<'_> {
    /// What the proof assumes that a predicate holds in every iteration of a loop that a thread begins; `None` if there is no
    /// proof.
    fn always_holds(
        mut self,
        program: &Program,
        header: BlockId,
        holds: Expr,
        effort: &mut u32,
    ) -> Option<BTreeSet<ArithmeticAssumption>> {
        self.assume(self.thread.loops[&header].entry.holds, Copy::First);
        self.repeated(program, header, Copy::First);
        let mut opposite = Conditions::default();
        self.condition(holds, false, Copy::First, &mut opposite);
        let says_something = opposite.count() > 0;
        self.system.conditions.extend(&opposite);
        (says_something && self.system.is_refuted(effort)).then_some(self.assumed)
    }
}
