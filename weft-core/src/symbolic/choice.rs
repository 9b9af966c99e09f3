//! Choices between two values, as integers: an unknown that is one of the two, each under its conditions.

use super::expr::{Expr, ExprNode};
use super::poly::{Poly, Var, gcd};
use super::system::{Conditions, ValueCases};
use super::var_bounds::VarBounds;
use super::view::{Copy, Views};

/// The most steps between two values of a choice that are counted.
const MOST_STEPS: i128 = 1024;

impl Views<'_> {
    /// One of two values.
    pub(super) fn either(
        &mut self,
        of: Expr,
        (condition, [then, otherwise]): (Expr, [Expr; 2]),
        bounds: VarBounds,
        is_signed: bool,
        copy: Copy,
    ) -> Poly {
        let mut side = |holds: bool, value: Expr| {
            self.side(condition, holds, copy, |views| views.exact(value, is_signed, copy))
        };
        let cases = [side(true, then), side(false, otherwise)];
        let [(a, if_a), (b, if_b)] = &cases;
        let whole = bounds.within(self.system.range(a).hull(self.system.range(b)));
        let (value, var, [a, b]) = self.stepped(a, b).unwrap_or_else(|| {
            let var = self.system.var(whole.unwrap_or(bounds));
            self.unknowns.insert((of, copy), (var, is_signed));
            (Poly::var(var), var, [a.clone(), b.clone()])
        });
        let facts = extremes(&value, &cases);
        let is_extreme = !facts.is_empty();
        self.system.conditions.positive.extend(facts);
        let cases = vec![(a, if_a.clone()), (b, if_b.clone())];
        self.system.alternatives.push(ValueCases { var, cases, is_extreme });
        self.chosen.insert((of, copy), (value.clone(), var));
        value
    }

    /// A choice of two values whose distance is a multiple of a number: one of them plus a multiple, and what is multiplied.
    fn stepped(&mut self, a: &Poly, b: &Poly) -> Option<(Poly, Var, [Poly; 2])> {
        let base = if a.len() <= b.len() { a } else { b };
        let distances = [a.minus(base)?, b.minus(base)?];
        let step = gcd(distances[0].content(), distances[1].content());
        let [steps_a, steps_b] = distances.map(|distance| distance.divided(step));
        let (steps_a, steps_b) = (steps_a.filter(|_| step > 1)?, steps_b?);
        let bounds = self.system.range(&steps_a).hull(self.system.range(&steps_b));
        let few = VarBounds { least: Some(-MOST_STEPS), most: Some(MOST_STEPS) };
        let var = self.system.var(bounds.within(few).filter(|kept| *kept == bounds)?);
        Some((base.plus_times(&Poly::var(var), step)?, var, [steps_a, steps_b]))
    }

    /// Returns a value with the conditions under which a choice takes it. What the value takes for granted holds only
    /// there.
    fn side(
        &mut self,
        condition: Expr,
        holds: bool,
        copy: Copy,
        value: impl FnOnce(&mut Self) -> Poly,
    ) -> (Poly, Conditions) {
        let mut conditions = Conditions::default();
        let outer = std::mem::take(&mut self.granted);
        self.choices += 1;
        self.condition(condition, holds, copy, &mut conditions);
        let value = value(self);
        self.choices -= 1;
        conditions.positive.extend(std::mem::replace(&mut self.granted, outer));
        (value, conditions)
    }

    /// A predicate as a number.
    pub(super) fn truth(&mut self, var: Var, of: Expr, is_signed: bool, copy: Copy) {
        let is_comparison =
            matches!(self.exprs().node(of), ExprNode::Binary(..) | ExprNode::Not(_));
        if !is_comparison {
            return;
        }
        // The one bit of a signed number is its sign.
        let one = if is_signed { -1 } else { 1 };
        let mut side = |holds: bool| {
            self.side(of, holds, copy, |_| Poly::constant(if holds { one } else { 0 }))
        };
        let cases = vec![side(true), side(false)];
        self.system.alternatives.push(ValueCases { var, cases, is_extreme: false });
    }

    /// A choice whose condition is known.
    pub(super) fn decided(
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
}

/// What follows for the lesser or the greater of two values: it is at most, or at least, as large as both.
fn extremes(value: &Poly, [(a, if_a), (b, if_b)]: &[(Poly, Conditions); 2]) -> Vec<Poly> {
    let is_said = |conditions: &Conditions, room: Option<Poly>| {
        let rest = |fact: &Poly| room.as_ref()?.minus(fact)?.as_constant();
        conditions.positive.iter().any(|fact| rest(fact).is_some_and(|rest| rest >= 0))
    };
    let room = |to: &Poly, from: &Poly, sign: i128| to.minus(from)?.times(sign);
    let mut facts = Vec::new();
    for sign in [1, -1] {
        if is_said(if_a, room(b, a, sign)) && is_said(if_b, room(a, b, sign)) {
            facts.extend([a, b].into_iter().filter_map(|end| room(end, value, sign)));
        }
    }
    facts
}
