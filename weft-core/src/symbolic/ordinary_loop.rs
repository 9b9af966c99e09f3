//! The ranges of what loops carry for ordinary inputs: values that hold where a loop begins, and after each iteration if
//! they do before it, for as many iterations as the loop has at most (`trips.rs`).

use std::collections::BTreeMap;

use super::atom::{Atom, Expr};
use super::expr::BinaryOperator::{Add, Slt, Ult};
use super::expr::{ExprNode, Exprs};
use super::ordinary_range::{AssumedValues, KnownRanges, RangesOfSize, ValueRange, hull};
use super::predicate::conjuncts;
use super::thread::SymbolicLoop;
use super::var_bounds::VarBounds;
use crate::flow::BlockId;

/// The most values that one loop carries.
const MOST_CARRIED: usize = 24;
/// After so many iterations, a range that still grows is taken to be as large as the loop's conditions permit; one that grows
/// beyond that has no end.
const ROUNDS: usize = 3;

impl RangesOfSize<'_> {
    /// The range of what a loop carries, or of the number of its iteration.
    pub(super) fn of_loop(&mut self, header: BlockId, atom: Atom) -> Option<ValueRange> {
        let assumed = self.assumed.iter().rev().map(|(assumed, _)| assumed);
        let known = assumed.chain([&self.loops]).find_map(|assumed| assumed.get(&atom)).copied();
        if let Some(known) = known {
            return known;
        }
        let found = self.look_at(header);
        let range = found.get(&atom).copied().flatten();
        let known = self.assumed.last_mut().map_or(&mut self.loops, |(assumed, _)| assumed);
        known.extend(found);
        known.entry(atom).or_insert(range);
        range
    }

    fn look_at(&mut self, header: BlockId) -> AssumedValues {
        let thread = self.thread;
        let Some(own) = thread.loops.get(&header) else { return AssumedValues::new() };
        let effort = u32::try_from(own.carried.len() + 1).unwrap_or(u32::MAX);
        self.effort = self.effort.saturating_sub(effort);
        let number = Atom::Iteration(header);
        let outer = (std::mem::replace(&mut self.is_end, false), self.entry.take());
        // What holds in every iteration must not be asked of the loop itself.
        let anything = own.carried.keys().chain([&number]).map(|atom| (*atom, None));
        let anything: AssumedValues = anything.collect();
        let firsts = self.under(&anything, |ranges| ranges.firsts(own));
        let trips = self.under(&anything, |ranges| ranges.trips(own, header, &firsts));
        let mut found = if own.carried.len() > MOST_CARRIED || self.effort == 0 {
            anything
        } else {
            self.invariant(own, header, &firsts, trips)
        };
        found.insert(number, trips.map(|trips| (0, trips)));
        (self.is_end, self.entry) = outer;
        found
    }

    /// Evaluates something under assumptions.
    pub(super) fn under<T>(
        &mut self,
        assumed: &AssumedValues,
        of: impl FnOnce(&mut Self) -> T,
    ) -> T {
        self.assumed.push((assumed.clone(), KnownRanges::default()));
        let found = of(self);
        self.assumed.pop();
        found
    }

    fn firsts(&mut self, own: &SymbolicLoop) -> AssumedValues {
        let first = |(atom, values): (&Atom, &Vec<Expr>)| {
            (*atom, values.first().and_then(|first| self.ring(*first, false)))
        };
        own.carried.iter().map(first).collect()
    }

    /// Ranges that contain the first values, and the values after an iteration that begins with others of them.
    fn invariant(
        &mut self,
        own: &SymbolicLoop,
        header: BlockId,
        firsts: &AssumedValues,
        trips: Option<i128>,
    ) -> AssumedValues {
        let number = (Atom::Iteration(header), trips.map(|trips| (0, trips)));
        let mut now = firsts.clone();
        now.extend([number]);
        for round in 0..=ROUNDS + 1 + own.carried.len() {
            let mut next = AssumedValues::from([number]);
            for (atom, values) in &own.carried {
                let first = firsts.get(atom).copied().flatten();
                let found = now.get(atom).copied().flatten().and_then(|old| {
                    let new =
                        self.after(own, (*atom, values), first?, (&now, trips, round == ROUNDS))?;
                    Some(hull(old, new)).filter(|new| round <= ROUNDS || *new == old)
                });
                next.insert(*atom, found);
            }
            if next == now {
                return now;
            }
            now = next;
        }
        now.into_keys().map(|atom| (atom, None)).collect()
    }

    /// The range of a value where iterations begin, if those where the iteration before began are `now`. `is_widened`: what
    /// is limited is as large as the limit.
    fn after(
        &mut self,
        own: &SymbolicLoop,
        (atom, values): (Atom, &[Expr]),
        first: ValueRange,
        (now, trips, is_widened): (&AssumedValues, Option<i128>, bool),
    ) -> Option<ValueRange> {
        let (mut all, mut growth) = (first, (0, 0));
        for (next, again) in values[1..].iter().zip(&own.again) {
            let limits = self.under(now, |ranges| ranges.limits(again.holds));
            let mut within = now.clone();
            for (of, limit) in &limits {
                if let ExprNode::Atom(atom) = self.exprs().node(*of)
                    && let Some(range) = within.get_mut(&atom)
                {
                    *range = Some(limit.applied(range.filter(|_| !is_widened)));
                }
            }
            let bits = self.exprs().bits(*next);
            let (step, value) = self.under(&within, |ranges| {
                (ranges.step(*next, atom, bits), ranges.ring(*next, false))
            });
            let value = match limits.get(next) {
                Some(limit) if is_widened => {
                    let old = now.get(&atom).copied().flatten();
                    Some(limit.widened(value, old))
                }
                Some(limit) => Some(limit.applied(value)),
                None => value,
            };
            match step.zip(trips) {
                Some((step, trips)) if value.is_none_or(|value| !is_within(value, all)) => {
                    let step =
                        (step.0.min(0).checked_mul(trips)?, step.1.max(0).checked_mul(trips)?);
                    growth = hull(growth, step);
                }
                _ => all = hull(all, value?),
            }
        }
        Some((all.0.checked_add(growth.0)?, all.1.checked_add(growth.1)?))
    }

    /// What one iteration adds to what a loop carries, if `next` is that plus something, modulo its `bits`.
    pub(super) fn step(&mut self, next: Expr, atom: Atom, bits: u32) -> Option<ValueRange> {
        match self.exprs().node(next) {
            ExprNode::Atom(own) if own == atom => Some((0, 0)),
            ExprNode::Binary(Add, a, b) => {
                let (first, second) = match self.step(a, atom, bits) {
                    Some(step) => (step, self.ring(b, true)?),
                    None => (self.step(b, atom, bits)?, self.ring(a, true)?),
                };
                Some((first.0 + second.0, first.1 + second.1))
            }
            ExprNode::Ite(_, a, b) => {
                Some(hull(self.step(a, atom, bits)?, self.step(b, atom, bits)?))
            }
            ExprNode::Extract(a, 0) => self.step(a, atom, bits),
            ExprNode::Zext(a) | ExprNode::Sext(a) if self.exprs().bits(a) >= bits => {
                self.step(a, atom, bits)
            }
            _ => None,
        }
    }

    /// What follows from a predicate for the expressions that it compares, without extension: the last word on each.
    fn limits(&mut self, of: Expr) -> BTreeMap<Expr, ValueLimit> {
        let thread = self.thread;
        let exprs = &thread.exprs;
        let mut limits = BTreeMap::new();
        for part in conjuncts(exprs, of) {
            let (part, holds) = match exprs.node(part) {
                ExprNode::Not(inner) => (inner, false),
                _ => (part, true),
            };
            let ExprNode::Binary(operator @ (Ult | Slt), a, b) = exprs.node(part) else {
                continue;
            };
            // `a < b`, or `b <= a`.
            let (less, more, room) = if holds { (a, b, 1) } else { (b, a, 0) };
            for (of, than, is_below) in [(less, more, true), (more, less, false)] {
                let is_signed = operator == Slt;
                let bare = bare(exprs, of);
                let is_same = match exprs.node(of) {
                    ExprNode::Zext(_) => !is_signed,
                    ExprNode::Sext(_) => is_signed,
                    _ => true,
                };
                let Some((least, most)) = self.exact(than, is_signed).filter(|_| is_same) else {
                    continue;
                };
                let (least, most) =
                    if is_below { (None, Some(most - room)) } else { (Some(least + room), None) };
                let width = VarBounds::of_width(exprs.bits(bare), is_signed);
                let known = limits.get(&bare).filter(|limit: &&ValueLimit| limit.width == width);
                let bounds = known.map_or(width, |limit| limit.bounds);
                let Some(bounds) = bounds.within(VarBounds { least, most }) else { continue };
                limits.insert(bare, ValueLimit { width, bounds });
            }
        }
        limits
    }
}

/// Bounds of a value, as a signed number or not.
#[derive(Clone, Copy, Debug)]
struct ValueLimit {
    /// The numbers of its width.
    width: VarBounds,
    bounds: VarBounds,
}

impl ValueLimit {
    /// As `applied`, but an end of the range that has moved away from that of the `old` range is as far away as the bounds permit.
    fn widened(&self, range: Option<ValueRange>, old: Option<ValueRange>) -> ValueRange {
        let (least, most) = self.applied(None);
        let Some((range, old)) = range.zip(old) else { return (least, most) };
        let (low, high) = self.applied(Some(range));
        (if range.0 < old.0 { least } else { low }, if range.1 > old.1 { most } else { high })
    }

    /// The range of integers of which one is congruent to a value that has these bounds, and one that is within `range`.
    fn applied(&self, range: Option<ValueRange>) -> ValueRange {
        let own = |bounds: VarBounds| {
            (bounds.least.unwrap_or(i128::MIN), bounds.most.unwrap_or(i128::MAX))
        };
        let (width, (least, most)) = (own(self.width), own(self.bounds));
        match range.filter(|range| is_within(*range, width)) {
            Some(range) if range.0.max(least) <= range.1.min(most) => {
                (range.0.max(least), range.1.min(most))
            }
            _ => (least, most),
        }
    }
}

/// An expression without the extensions around it.
fn bare(exprs: &Exprs, of: Expr) -> Expr {
    match exprs.node(of) {
        ExprNode::Zext(a) | ExprNode::Sext(a) => a,
        _ => of,
    }
}

fn is_within(range: ValueRange, whole: ValueRange) -> bool {
    whole.0 <= range.0 && range.1 <= whole.1
}
