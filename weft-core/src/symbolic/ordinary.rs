//! The ranges of unknowns for ordinary inputs: small ones, where nothing states others. What wraps around for these is not
//! taken to be exact.

use std::cell::RefMut;

use foldhash::HashMap;

use super::atom::{Atom, Expr};
use super::ordinary_range::{MEDIUM, SMALL, ValueRange};
use super::poly::{Poly, Var};
use super::system::{Division, System, ValueCases};
use super::var_bounds::VarBounds;
use super::view::Views;
use crate::launch::ExtentBound;

/// Bounds above this, of arguments and of grids, are no bounds in that respect: those of blocks are not.
const LARGE: i128 = 1024;

/// The most threads of a block, and of ctas of an ordinary grid, in all dimensions together.
const THREADS: i128 = 1024;
const CTAS: i128 = 1 << 16;

/// The bounds of unknowns for ordinary inputs.
pub(super) struct OrdinaryBounds<'v, 'a> {
    views: &'v Views<'a>,
    /// Bounds for inputs that are small, and for inputs of medium size.
    small: System,
    medium: System,
    /// Whether the bounds of each unknown are found, for either size; it is also if they are being looked for.
    are_found: [Vec<bool>; 2],
    sources: HashMap<Var, UnknownSource<'v>>,
}

/// What an unknown stands for.
#[derive(Clone, Copy)]
enum UnknownSource<'v> {
    Quotient(&'v Division),
    Remainder(&'v Division),
    Choice(&'v ValueCases),
    Natural(Atom),
    /// An expression, as a signed number or not.
    Expression(Expr, bool),
}

impl<'v, 'a> OrdinaryBounds<'v, 'a> {
    pub(super) fn of(views: &'v Views<'a>) -> Self {
        let bounds = &views.system.bounds;
        let system = || System { bounds: bounds.clone(), ..System::default() };
        let are_found = [vec![false; bounds.len()], vec![false; bounds.len()]];
        Self { views, small: system(), medium: system(), are_found, sources: sources(views) }
    }

    /// Returns the range of a polynomial for small inputs.
    pub(super) fn range(&mut self, of: &Poly) -> VarBounds {
        self.range_of_size(of, false)
    }

    /// Returns the range of a polynomial for small inputs, except that one unknown is what inputs of medium size make it.
    pub(super) fn range_with_medium(&mut self, of: &Poly, var: Var) -> VarBounds {
        self.range(of);
        self.find(var, true);
        let at = var.0 as usize;
        let small = std::mem::replace(&mut self.small.bounds[at], self.medium.bounds[at]);
        let range = self.joint_range(of, &self.small);
        self.small.bounds[at] = small;
        range
    }

    fn range_of_size(&mut self, of: &Poly, is_medium: bool) -> VarBounds {
        for var in of.vars() {
            self.find(var, is_medium);
        }
        self.joint_range(of, if is_medium { &self.medium } else { &self.small })
    }

    /// The range of a polynomial, given the bounds of its unknowns and those of blocks and grids in all dimensions together.
    fn joint_range(&self, of: &Poly, system: &System) -> VarBounds {
        let is_open = |extent: &ExtentBound| !matches!(extent, ExtentBound::Is(2..));
        let most_ctas = self.views.launched.grid.iter().all(is_open).then_some(CTAS);
        let mut all = VarBounds { least: Some(0), most: Some(0) };
        for (monomial, coefficient) in of.terms() {
            let mut extents = [VarBounds::ONE; 2];
            let mut term = VarBounds { least: Some(coefficient), most: Some(coefficient) };
            let mut met = [[false; 3]; 2];
            for var in monomial {
                let bounds = system.bounds[var.0 as usize];
                let dimension = match self.sources.get(var) {
                    Some(UnknownSource::Natural(Atom::Tid(at) | Atom::Ntid(at))) => Some((0, *at)),
                    Some(UnknownSource::Natural(Atom::Ctaid(at) | Atom::Nctaid(at))) => {
                        Some((1, *at))
                    }
                    _ => None,
                };
                // Only one index or extent of each dimension is part of a number of threads or ctas.
                let dimension = dimension.filter(|(of_grid, at)| {
                    !std::mem::replace(&mut met[*of_grid][usize::from(*at)], true)
                });
                match dimension {
                    Some((of_grid, _)) => extents[of_grid] = extents[of_grid].times(bounds),
                    None => term = term.times(bounds),
                }
            }
            for (extents, limit) in extents.iter_mut().zip([Some(THREADS), most_ctas]) {
                extents.most = extents.most.map(|own| limit.map_or(own, |limit| own.min(limit)));
                term = term.times(*extents);
            }
            all = all.plus(term);
        }
        all
    }

    /// Finds the bounds of an unknown.
    fn find(&mut self, var: Var, is_medium: bool) {
        let at = var.0 as usize;
        if std::mem::replace(&mut self.are_found[usize::from(is_medium)][at], true) {
            return;
        }
        let found = self.bounds(var, is_medium);
        // What inputs of medium size make wrap around is what small ones make it.
        let found = found.or_else(|| is_medium.then(|| self.bounds(var, false)).flatten());
        if let Some(found) = found {
            let system = if is_medium { &mut self.medium } else { &mut self.small };
            let bounds = &mut system.bounds[at];
            *bounds = bounds.within(found).unwrap_or(*bounds);
        }
    }

    fn bounds(&mut self, var: Var, is_medium: bool) -> Option<VarBounds> {
        let of_range =
            |(least, most): ValueRange| VarBounds { least: Some(least), most: Some(most) };
        let views = self.views;
        let ranges =
            || RefMut::map(views.ordinary.borrow_mut(), |ranges| ranges.of_size(is_medium));
        match *self.sources.get(&var)? {
            UnknownSource::Quotient(division) => self.of_division(division, true, is_medium),
            UnknownSource::Remainder(division) => self.of_division(division, false, is_medium),
            UnknownSource::Choice(choice) => {
                let values = choice.cases.iter().map(|(value, _)| value);
                values.map(|value| self.range_of_size(value, is_medium)).reduce(VarBounds::hull)
            }
            UnknownSource::Natural(atom) => ranges().of_natural(atom).map(of_range),
            UnknownSource::Expression(of, is_signed) => {
                let is_input = ranges().is_input(of);
                let found = ranges().exact(of, is_signed).map(of_range)?;
                Some(if is_input { self.required(var, found, is_medium) } else { found })
            }
        }
    }

    /// The bounds of an input: what is required of it counts, unless it is more than ordinary inputs have.
    fn required(&self, var: Var, mut found: VarBounds, is_medium: bool) -> VarBounds {
        let stated = self.views.system.bounds[var.0 as usize];
        let size = if is_medium { MEDIUM } else { SMALL };
        if let Some(least) = stated.least.filter(|least| *least > size) {
            // A value that is required to be large is as small as it can be.
            return VarBounds { least: Some(least), most: Some(least) };
        }
        if let Some(most) = stated.most.filter(|most| (SMALL..=LARGE).contains(most)) {
            found.most = Some(most);
        }
        found
    }

    fn of_division(
        &mut self,
        division: &Division,
        is_quotient: bool,
        is_medium: bool,
    ) -> Option<VarBounds> {
        let dividend = self.range_of_size(&division.dividend, is_medium);
        let divisor = self.range_of_size(&division.divisor, is_medium);
        let (least, most) = (dividend.least?, dividend.most?);
        if is_quotient {
            return Some(VarBounds { least: Some(least.min(0)), most: Some(most.max(0)) });
        }
        let below = divisor.most.map(|most| most - 1);
        let own = if least >= 0 { Some(most) } else { None };
        let most = [below, own].into_iter().flatten().min()?;
        Some(VarBounds { least: Some(0), most: Some(most) })
    }
}

/// What the unknowns of a query stand for.
fn sources<'v>(views: &'v Views<'_>) -> HashMap<Var, UnknownSource<'v>> {
    let mut all = HashMap::default();
    let unknowns = views.unknowns.iter();
    all.extend(
        unknowns.map(|((of, _), (var, signed))| (*var, UnknownSource::Expression(*of, *signed))),
    );
    let choices = views.system.alternatives.iter();
    all.extend(choices.map(|choice| (choice.var, UnknownSource::Choice(choice))));
    for division in &views.system.divisions {
        let parts = [&division.remainder, &division.quotient].map(Poly::as_var);
        let [remainder, quotient] = parts;
        all.extend(remainder.map(|var| (var, UnknownSource::Remainder(division))));
        all.extend(quotient.map(|var| (var, UnknownSource::Quotient(division))));
    }
    // The number of an iteration might also be a choice, between the first one and a later one that nothing bounds.
    all.extend(views.atoms.iter().map(|((atom, _), var)| (*var, UnknownSource::Natural(*atom))));
    all
}
