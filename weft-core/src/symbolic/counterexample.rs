//! Looks for a counterexample to "this polynomial is never negative": a point, that is a value for each unknown, that
//! bounds and conditions of the system permit, and at which the polynomial is negative. No combination of conditions can
//! then show that it is not negative, and none needs to be looked for.
//!
//! The search is local. It begins at the point where the last search ended, and changes one unknown at a time: by as little
//! as fulfils a condition that does not hold there, and so that as few others as possible fail.

use super::poly::{Poly, Var};
use super::system::System;
use super::var_bounds::VarBounds;

/// The most changes of one search.
const MOST_CHANGES: u32 = 24;
/// The value of an unknown in the first search, if its bounds permit it.
const FIRST: i128 = 2;

/// In a system of more facts than this, no counterexample is looked for: each change looks at all of them.
const MOST_FACTS: usize = 200;

impl System {
    /// Whether a polynomial is negative at the point where the last search ended, and the conditions permit that point.
    pub(super) fn is_negative_at_known_point(&self, of: &Poly) -> bool {
        let point = self.point.borrow();
        let is_within = |(value, bounds): (&i128, &VarBounds)| clamped(*value, *bounds) == *value;
        point.len() == self.bounds.len()
            && value(of, &point).is_some_and(|value| value < 0)
            && point.iter().zip(&self.bounds).all(is_within)
            && self.conditions.positive.iter().all(|own| holds(own, &point))
    }

    /// Whether a polynomial is found to be negative at a point that the bounds and the conditions permit. That none is
    /// found says nothing.
    pub(super) fn has_counterexample(&self, of: &Poly) -> bool {
        if self.conditions.positive.len() > MOST_FACTS {
            return false;
        }
        let Some(below) = Poly::constant(-1).minus(of) else { return false };
        let mut point = self.point.take();
        point.resize(self.bounds.len(), FIRST);
        for (value, bounds) in point.iter_mut().zip(&self.bounds) {
            *value = clamped(*value, *bounds);
        }
        let search = PointSearch { system: self, below: &below };
        let is_found = search.run(&mut point).is_some();
        self.point.replace(point);
        is_found
    }
}

/// A search for a point at which `below` is not negative, and no condition fails.
struct PointSearch<'a> {
    system: &'a System,
    below: &'a Poly,
}

impl PointSearch<'_> {
    /// Changes a point until nothing fails; `None` if that takes too long.
    fn run(&self, point: &mut [i128]) -> Option<()> {
        let mut last = None;
        for _ in 0..MOST_CHANGES {
            let Some(failing) = self.conditions().find(|own| !holds(own, point)) else {
                return Some(());
            };
            let (var, value) = self.change(failing, point, last)?;
            point[index(var)] = value;
            last = Some(var);
        }
        None
    }

    fn conditions(&self) -> impl Iterator<Item = &Poly> {
        std::iter::once(self.below).chain(&self.system.conditions.positive)
    }

    /// Returns an unknown, other than the one changed last, and its new value: nearer to fulfilling a condition, and such
    /// that the fewest conditions fail.
    fn change(&self, of: &Poly, point: &mut [i128], last: Option<Var>) -> Option<(Var, i128)> {
        let lacking = value(of, point)?.checked_neg()?;
        let mut best: Option<(usize, Var, i128)> = None;
        for var in of.vars().into_iter().filter(|var| Some(*var) != last) {
            let before = point[index(var)];
            let Some(changed) = self.fulfilling(of, var, lacking, point) else { continue };
            let fewest = best.map_or(usize::MAX, |(fewest, ..)| fewest);
            point[index(var)] = changed;
            // A change with which as many conditions fail is no better: the count ends there.
            let failing = self.conditions().filter(|own| !holds(own, point)).take(fewest).count();
            point[index(var)] = before;
            if failing < fewest {
                best = Some((failing, var, changed));
            }
        }
        best.map(|(_, var, changed)| (var, changed))
    }

    /// Returns the nearest value of an unknown with which a polynomial is greater by a number, or as near to that as its
    /// bounds permit, if the polynomial is linear in it.
    fn fulfilling(&self, of: &Poly, var: Var, lacking: i128, point: &mut [i128]) -> Option<i128> {
        let before = point[index(var)];
        let own = value(of, point)?;
        point[index(var)] = before.checked_add(1)?;
        let next = value(of, point);
        point[index(var)] = before;
        let slope = next?.checked_sub(own)?;
        let size = slope.checked_abs().filter(|size| *size > 0)?;
        let steps = lacking.checked_add(size - 1)? / size;
        let changed = before.checked_add(steps.checked_mul(slope.signum())?)?;
        let bounds = self.system.bounds[index(var)];
        Some(clamped(changed, bounds)).filter(|changed| *changed != before)
    }
}

fn index(var: Var) -> usize {
    var.0 as usize
}

fn clamped(value: i128, VarBounds { least, most }: VarBounds) -> i128 {
    value.max(least.unwrap_or(value)).min(most.unwrap_or(i128::MAX))
}

/// Whether a polynomial is not negative at a point.
fn holds(of: &Poly, point: &[i128]) -> bool {
    value(of, point).is_some_and(|value| value >= 0)
}

/// Returns the value of a polynomial at a point; `None` if it is too large.
fn value(of: &Poly, point: &[i128]) -> Option<i128> {
    of.terms().try_fold(0_i128, |sum, (monomial, coefficient)| {
        let product = monomial
            .iter()
            .try_fold(coefficient, |product, var| product.checked_mul(point[index(*var)]))?;
        sum.checked_add(product)
    })
}
