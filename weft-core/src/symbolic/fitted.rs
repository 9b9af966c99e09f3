//! The exact values of integers that are known modulo a power of two: that they do not wrap around is proved, or assumed of
//! values that only large arguments, extents and contents could make wrap around.

use super::atom::Expr;
use super::poly::{Poly, Var};
use super::system::{System, VarBounds};
use super::view::{ArithmeticAssumption, Copy, Views, width};

/// Unknowns without bounds of their own are taken to be up to this, where it is judged whether only large values wrap.
const SMALL: i128 = 256;
/// Likewise, of one unknown beside others that are small.
const MEDIUM: i128 = 1 << 12;
/// Bounds above this, of arguments and of grids, are no bounds in that respect: those of blocks are not.
const LARGE: i128 = 1024;

impl Views<'_> {
    /// Returns the value of an expression, as an unsigned or a signed number, of which a polynomial is congruent to it.
    pub(super) fn fitted(&mut self, of: Expr, poly: Poly, is_signed: bool) -> Poly {
        let bits = self.exprs().bits(of);
        let VarBounds { least: Some(least), most: Some(most) } = width(bits, is_signed) else {
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
        self.unknown(width(bits, is_signed))
    }

    /// Whether a polynomial has an unknown that is any unsigned number of a width, or of a greater one, but is not used as
    /// one: it might be meant to be a small negative number.
    fn has_ambiguous(&self, of: &Poly, bits: u32) -> bool {
        let (vars, all) = (of.vars(), width(bits, false).most);
        let is_ambiguous = |((expr, _), (var, _)): (&(Expr, Copy), &(Var, bool))| {
            let bounds = self.system.bounds[var.0 as usize];
            vars.contains(var)
                && bounds.least == Some(0)
                && bounds.most >= all
                && !self.thread.number_use(*expr).unsigned
        };
        self.unknowns.iter().any(is_ambiguous)
    }

    /// Whether a value leaves its width only for large values of unknowns that have no bounds of their own: neither if
    /// all are small, nor if one of them is of medium size.
    fn wraps_only_if_large(&self, of: &Poly, above: bool, least: i128, most: i128) -> bool {
        let mut small = System { bounds: self.system.bounds.clone(), ..System::default() };
        let fits = |system: &System| {
            let range = system.range(of);
            (above || range.least.is_some_and(|own| own >= least))
                && range.most.is_some_and(|own| own <= most)
        };
        let limit = |bounds: &mut VarBounds, to: i128| {
            let is_open = |bound: Option<i128>| bound.is_none_or(|bound| bound.abs() > LARGE);
            // A value that is required to be large is as small as it can be.
            let required = bounds.least.filter(|least| *least > SMALL);
            if is_open(bounds.most) {
                bounds.most = Some(required.unwrap_or(to));
            }
            if is_open(bounds.least) && required.is_none() {
                bounds.least = Some(-to);
            }
        };
        small.bounds.iter_mut().for_each(|bounds| limit(bounds, SMALL));
        fits(&small)
            && of.vars().into_iter().all(|var| {
                let at = var.0 as usize;
                let mut medium = self.system.bounds[at];
                limit(&mut medium, MEDIUM);
                let before = std::mem::replace(&mut small.bounds[at], medium);
                let still = fits(&small);
                small.bounds[at] = before;
                still
            })
    }
}
