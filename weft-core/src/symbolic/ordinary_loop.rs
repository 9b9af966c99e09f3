//! The ranges of what loops carry for ordinary inputs: those of a few iterations, and how they grow.

use std::collections::BTreeSet;

use super::atom::{Atom, Expr};
use super::expr::BinaryOperator::{self, Add, Eq, Mul, Shl, Slt, Ult};
use super::expr::ExprNode;
use super::ordinary_range::{AssumedValues, KnownRanges, RangesOfSize, ValueRange, hull};
use super::thread::{SymbolicLoop, conjuncts};
use crate::flow::BlockId;

/// The most values that one loop carries: a change of one might reach the last one after as many iterations, all of which
/// are evaluated.
const MOST_CARRIED: usize = 24;

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
        let number = Atom::Iteration(header);
        // What the first values are must not be asked of the loop itself.
        let nothing = own.carried.keys().map(|atom| (*atom, None));
        let nothing: AssumedValues = nothing.chain([(number, Some((0, 0)))]).collect();
        let trips = self.under(&nothing, |ranges| {
            let purpose = std::mem::replace(&mut ranges.is_of_trips, true);
            let firsts = ranges.firsts(own);
            let trips = ranges.under(&firsts, |ranges| ranges.trips(own, header));
            ranges.is_of_trips = purpose;
            trips
        });
        let mut values = self.under(&nothing, |ranges| ranges.firsts(own));
        values.insert(number, trips.map(|trips| (0, trips)));
        if own.carried.len() > MOST_CARRIED {
            return nothing.into_iter().chain(values.remove_entry(&number)).collect();
        }
        self.grown(own, &values, trips)
    }

    /// Evaluates something under assumptions.
    fn under<T>(&mut self, assumed: &AssumedValues, of: impl FnOnce(&mut Self) -> T) -> T {
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

    /// How often a loop repeats at most. The conditions for another iteration compare numbers that get nearer to each other
    /// by at least one in each iteration, so that the loop ends after as many as the numbers are apart where it begins.
    /// Where the only condition compares the number of the iteration with what is no input, that is the answer. Any other
    /// loop might also repeat as often as a small input says.
    fn trips(&mut self, own: &SymbolicLoop, header: BlockId) -> Option<i128> {
        let exprs = &self.thread.exprs;
        let (mut counted, mut open): (Option<i128>, _) = (None, self.size);
        let mut seen = BTreeSet::new();
        for part in own.again.iter().flat_map(|reach| conjuncts(exprs, reach.holds)) {
            let (inner, holds) = match exprs.node(part) {
                ExprNode::Not(inner) => (inner, false),
                _ => (part, true),
            };
            let ExprNode::Binary(operator @ (Eq | Slt | Ult), a, b) = exprs.node(inner) else {
                continue;
            };
            let atoms = exprs.atoms(inner);
            if exprs.bits(a) == 1
                || !seen.insert(part)
                || !atoms.iter().any(|atom| is_of_loop(*atom, header))
            {
                continue;
            }
            // The last iteration is one more, and another one where equal numbers let the loop go on.
            let distance = self.distance(operator, a, b, holds)? + 2;
            if own.again.len() == 1 && atoms == [Atom::Iteration(header)] {
                counted = Some(counted.map_or(distance, |counted| counted.min(distance)));
            } else {
                open = open.max(distance);
            }
        }
        Some(counted.unwrap_or(open))
    }

    /// How far two numbers are apart at most, if a loop repeats as long as a comparison holds, or does not.
    fn distance(
        &mut self,
        operator: BinaryOperator,
        a: Expr,
        b: Expr,
        holds: bool,
    ) -> Option<i128> {
        let is_signed = operator == Slt;
        let (range_a, range_b) = (self.ring(a, is_signed)?, self.ring(b, is_signed)?);
        let (a_below_b, b_below_a) = (range_b.1 - range_a.0, range_a.1 - range_b.0);
        Some(match (operator, holds) {
            (Slt | Ult, true) => a_below_b,
            (Slt | Ult, false) => b_below_a,
            // What changes is equal to something once.
            (_, true) => 1,
            (_, false) => a_below_b.max(b_below_a),
        })
    }

    /// The ranges in all iterations, from those of the first one.
    fn grown(
        &mut self,
        own: &SymbolicLoop,
        first: &AssumedValues,
        trips: Option<i128>,
    ) -> AssumedValues {
        let mut now = first.clone();
        let (mut growth, mut before) = (AssumedValues::new(), AssumedValues::new());
        // A change of one value gets to all others in so many iterations, to another one in each.
        for _ in 0..own.carried.len() + 2 {
            let next = self.under(&now, |ranges| ranges.nexts(own, &now));
            let grown = own.carried.keys().map(|atom| (*atom, growth_of(&now, &next, *atom)));
            before = std::mem::replace(&mut growth, grown.collect());
            now = next;
            if growth == before {
                break;
            }
        }
        let mut found = now.clone();
        for (atom, growth) in growth {
            let is_steady = before.get(&atom) == Some(&growth);
            let range = now.get(&atom).copied().flatten();
            let steady = range.zip(growth).and_then(|((least, most), (below, above))| {
                if (below, above) == (0, 0) {
                    return Some((least, most));
                }
                let trips = trips.filter(|_| is_steady)?;
                Some((least - trips.checked_mul(below)?, most + trips.checked_mul(above)?))
            });
            let range = steady.or_else(|| self.limited(own, atom, &now));
            found.insert(atom, range);
        }
        found
    }

    /// What the values are in the next iteration, or are already.
    fn nexts(&mut self, own: &SymbolicLoop, now: &AssumedValues) -> AssumedValues {
        let mut next = now.clone();
        for (atom, values) in &own.carried {
            let mut range = now.get(atom).copied().flatten();
            for value in values.iter().skip(1) {
                range = range.zip(self.ring(*value, false)).map(|(a, b)| hull(a, b));
            }
            next.insert(*atom, range);
        }
        next
    }

    /// The range of a value that grows faster and faster, if the loop repeats only while the value is below a limit.
    fn limited(
        &mut self,
        own: &SymbolicLoop,
        atom: Atom,
        now: &AssumedValues,
    ) -> Option<ValueRange> {
        let values = own.carried.get(&atom)?;
        let first = self.under(now, |ranges| ranges.ring(*values.first()?, false))?;
        let limits: Option<Vec<i128>> = self.under(now, |ranges| {
            own.again.iter().map(|reach| ranges.limit(reach.holds, atom)).collect()
        });
        let limit = limits?.into_iter().max()?;
        let mut inside = now.clone();
        let within = (first.0.min(0), first.1.max(limit));
        inside.insert(atom, Some(within));
        let next = self.under(&inside, |ranges| {
            let mut nexts = values.iter().skip(1).map(|value| ranges.ring(*value, false));
            nexts.try_fold(within, |all, next| next.map(|next| hull(all, next)))
        })?;
        (first.0 >= 0 && next.0 >= 0).then_some(next)
    }

    /// The greatest value that a predicate permits what a loop carries.
    fn limit(&mut self, of: Expr, atom: Atom) -> Option<i128> {
        let thread = self.thread;
        let exprs = &thread.exprs;
        let mut least = None;
        for part in conjuncts(exprs, of) {
            let (is_signed, less, limit) = match exprs.node(part) {
                ExprNode::Binary(operator @ (Ult | Slt), less, limit) => {
                    (operator == Slt, less, limit)
                }
                ExprNode::Not(inner) => match exprs.node(inner) {
                    ExprNode::Binary(operator @ (Ult | Slt), limit, less) => {
                        (operator == Slt, less, limit)
                    }
                    _ => continue,
                },
                _ => continue,
            };
            if self.is_sum_with(less, atom) && !exprs.atoms(limit).contains(&atom) {
                let most = self.exact(limit, is_signed).map(|(_, most)| most);
                least = [least, most].into_iter().flatten().min();
            }
        }
        least
    }

    /// Whether a value is computed from `atom` so that it is at least as large: `atom`, and sums and products with it.
    fn is_sum_with(&self, of: Expr, atom: Atom) -> bool {
        let (mut seen, mut work) = (BTreeSet::new(), vec![of]);
        while let Some(part) = work.pop() {
            if !seen.insert(part) {
                continue;
            }
            match self.exprs().node(part) {
                ExprNode::Atom(own) if own == atom => return true,
                ExprNode::Zext(a) | ExprNode::Sext(a) | ExprNode::Binary(Shl, a, _) => work.push(a),
                ExprNode::Binary(Add | Mul, a, b) => work.extend([a, b]),
                _ => {}
            }
        }
        false
    }
}

/// Whether an atom changes with the iterations of a loop.
fn is_of_loop(atom: Atom, header: BlockId) -> bool {
    matches!(atom, Atom::Carried(at, _) | Atom::Iteration(at) if at == header)
}

/// By how much a range gets wider, at both ends.
fn growth_of(last: &AssumedValues, now: &AssumedValues, atom: Atom) -> Option<ValueRange> {
    let of = |round: &AssumedValues| round.get(&atom).copied().flatten();
    let (last, now) = (of(last)?, of(now)?);
    Some((last.0 - now.0, now.1 - last.1))
}
