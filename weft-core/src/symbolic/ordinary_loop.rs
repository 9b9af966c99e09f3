//! The ranges of what loops carry for ordinary inputs: those of a few iterations, and how they grow.

use std::collections::BTreeSet;

use super::atom::{Atom, Expr};
use super::expr::{BinaryOperator, ExprNode};
use super::ordinary_range::{AssumedValues, RangesOfSize, ValueRange, hull};
use super::thread::{SymbolicLoop, conjuncts};
use crate::flow::BlockId;

/// The most values that one loop carries. A change needs as many iterations to get from the first to the last.
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
        if own.carried.len() > MOST_CARRIED {
            let carried = own.carried.keys().map(|atom| (*atom, None));
            return carried.chain([(number, None)]).collect();
        }
        // What the first values are must not be asked of the loop itself.
        let nothing: AssumedValues =
            own.carried.keys().map(|atom| (*atom, None)).chain([(number, Some((0, 0)))]).collect();
        let mut values = self.under(&nothing, |ranges| ranges.firsts(own));
        values.insert(number, Some((0, 0)));
        let trips = self.under(&values, |ranges| ranges.trips(own, header));
        values.insert(number, trips.map(|trips| (0, trips)));
        self.grown(own, &values, trips)
    }

    /// Evaluates something under assumptions.
    fn under<T>(&mut self, assumed: &AssumedValues, of: impl FnOnce(&mut Self) -> T) -> T {
        self.assumed.push((assumed.clone(), Default::default()));
        let found = of(self);
        self.assumed.pop();
        found
    }

    fn firsts(&mut self, own: &SymbolicLoop) -> AssumedValues {
        let first = |values: &Vec<Expr>| values.first().and_then(|first| self.ring(*first, false));
        own.carried
            .values()
            .map(first)
            .zip(own.carried.keys())
            .map(|(range, atom)| (*atom, range))
            .collect()
    }

    /// How often a loop repeats: as often as its conditions compare numbers that are so far apart where it begins, or as
    /// often as inputs say.
    fn trips(&mut self, own: &SymbolicLoop, header: BlockId) -> Option<i128> {
        let mut trips = self.size;
        let is_own = |atom: &Atom| match atom {
            Atom::Carried(at, _) | Atom::Iteration(at) => *at == header,
            _ => false,
        };
        let mut seen = BTreeSet::new();
        let mut work: Vec<Expr> = own.again.iter().map(|reach| reach.holds).collect();
        while let Some(part) = work.pop() {
            if !seen.insert(part) {
                continue;
            }
            use BinaryOperator::{Eq, Slt, Ult};
            match self.exprs().node(part) {
                ExprNode::Binary(operator @ (Eq | Slt | Ult), a, b) if self.exprs().bits(a) > 1 => {
                    if self.exprs().atoms(part).iter().any(is_own) {
                        let is_signed = operator == Slt;
                        let (a, b) = (self.ring(a, is_signed)?, self.ring(b, is_signed)?);
                        let (least, most) = hull(a, b);
                        trips = trips.max(most - least);
                    }
                }
                _ => work.extend(self.exprs().operands(part)),
            }
        }
        Some(trips)
    }

    /// The ranges in all iterations, from those of the first one.
    fn grown(
        &mut self,
        own: &SymbolicLoop,
        first: &AssumedValues,
        trips: Option<i128>,
    ) -> AssumedValues {
        let mut rounds = vec![first.clone()];
        for _ in 0..own.carried.len() + 2 {
            let last = rounds.last().unwrap_or(first).clone();
            let next = self.under(&last, |ranges| ranges.nexts(own, &last));
            rounds.push(next);
        }
        let [.., before, last, now] = rounds.as_slice() else { return first.clone() };
        let mut found = now.clone();
        for atom in own.carried.keys() {
            let of = |round: &AssumedValues| round.get(atom).copied().flatten();
            let range = of(before).zip(of(last)).zip(of(now)).and_then(|((before, last), now)| {
                let (below, above) = (last.0 - now.0, now.1 - last.1);
                let is_steady = below <= before.0 - last.0 && above <= last.1 - before.1;
                if below == 0 && above == 0 {
                    return Some(now);
                }
                let trips = trips.filter(|_| is_steady)?;
                Some((now.0 - trips.checked_mul(below)?, now.1 + trips.checked_mul(above)?))
            });
            let range = range.or_else(|| self.limited(own, *atom, now));
            found.insert(*atom, range);
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
        use BinaryOperator::{Slt, Ult};
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
        use BinaryOperator::{Add, Mul, Shl};
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
