//! The exact values of integers that are known modulo a power of two: that they do not wrap around is proved, or assumed of
//! values that only large arguments, extents and contents could make wrap around.

use super::assumption::ArithmeticAssumption;
use super::atom::Expr;
use super::expr::ExprNode;
use super::ordinary::OrdinaryBounds;
use super::poly::{Poly, Var};
use super::var_bounds::VarBounds;
use super::view::{Copy, Views};

impl Views<'_> {
    /// Returns the value of an expression, as an unsigned or a signed number, of which a polynomial is congruent to it.
    pub(super) fn fitted(&mut self, of: Expr, poly: Poly, is_signed: bool) -> Poly {
        let bits = self.exprs().bits(of);
        let VarBounds { least: Some(least), most: Some(most) } =
            VarBounds::of_width(bits, is_signed)
        else {
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
        // An unsigned value that might be below zero wraps around for ordinary values, too.
        let is_ordinary = (is_signed || above) && !self.has_ambiguous(&poly, bits);
        if bits >= 32 && is_ordinary && self.wraps_only_if_large(&poly, above, least, most) {
            self.assumed.insert(ArithmeticAssumption::Unwrapped);
            let facts = [poly.minus(&Poly::constant(least)), Poly::constant(most).minus(&poly)];
            let target = if self.choices > 0 {
                &mut self.granted
            } else {
                &mut self.system.conditions.positive
            };
            target.extend(facts.into_iter().flatten());
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
        self.unknown(VarBounds::of_width(bits, is_signed))
    }

    /// Whether a polynomial has an unknown that is any unsigned number of a width, or of a greater one, but is not used as
    /// one: it might be meant to be a small negative number.
    fn has_ambiguous(&self, of: &Poly, bits: u32) -> bool {
        let (vars, all) = (of.vars(), VarBounds::of_width(bits, false).most);
        let is_ambiguous = |((expr, _), (var, _)): (&(Expr, Copy), &(Var, bool))| {
            let bounds = self.system.bounds[var.0 as usize];
            vars.contains(var)
                && bounds.least.is_some_and(|least| least >= 0)
                && bounds.most >= all
                && !self.thread.number_use(*expr).unsigned
                && !self.is_drawn(*expr)
        };
        self.unknowns.iter().any(is_ambiguous)
    }

    /// Whether an expression is drawn from a counter that grows: such counters hold no small negative numbers.
    fn is_drawn(&self, of: Expr) -> bool {
        matches!(self.exprs().node(of), ExprNode::Atom(atom) if self.thread.drawn.contains(&atom))
    }

    /// Whether a value leaves its width only for large values of unknowns that have no bounds of their own: neither if
    /// all are small, nor if one of them is of medium size.
    fn wraps_only_if_large(&self, of: &Poly, above: bool, least: i128, most: i128) -> bool {
        let mut ordinary = OrdinaryBounds::of(self);
        let bounds = VarBounds { least: Some(least).filter(|_| !above), most: Some(most) };
        ordinary.keeps(of, bounds, None)
            && of.vars().into_iter().all(|var| ordinary.keeps(of, bounds, Some(var)))
    }
}
