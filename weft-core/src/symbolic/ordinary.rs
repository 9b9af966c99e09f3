//! The ranges of unknowns for ordinary inputs: small ones, where nothing states others. What wraps around for these is not
//! taken to be exact.

use std::cell::RefMut;
use std::cmp::Reverse;

use foldhash::HashMap;

use super::atom::{Atom, Expr};
use super::expr::ExprNode;
use super::ordinary_range::{MEDIUM, SMALL, ValueRange};
use super::poly::{Poly, Var, quotient};
use super::system::{Division, System, ValueCases};
use super::var_bounds::VarBounds;
use super::view::Views;
use crate::launch::ExtentBound;

/// Bounds above this, of arguments and of grids, are no bounds in that respect: those of blocks are not.
const LARGE: i128 = 1024;
/// So many times, terms of a polynomial are replaced.
const MOST_REPLACED: u32 = 24;
/// Facts with numbers below this are looked at.
const MOST_NUMBER: i128 = 1 << 24;

/// The most threads of a block, and of ctas of an ordinary grid, in all dimensions together.
const THREADS: i128 = 1024;
pub(super) const CTAS: i128 = 1 << 16;
/// Sizes that are multiplied with each other make at most so many elements.
const ELEMENTS: i128 = 1 << 28;

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

/// A factor of a number of threads, of ctas or of elements.
#[derive(Clone, Copy, PartialEq)]
enum JointExtent {
    /// A dimension of blocks.
    Block(u8),
    /// A dimension of grids.
    Grid(u8),
    /// An argument.
    Size(Var),
}

impl JointExtent {
    fn kind(self) -> usize {
        match self {
            Self::Block(_) => 0,
            Self::Grid(_) => 1,
            Self::Size(_) => 2,
        }
    }
}

impl<'v, 'a> OrdinaryBounds<'v, 'a> {
    pub(super) fn of(views: &'v Views<'a>) -> Self {
        let bounds = &views.system.bounds;
        let system = || System { bounds: bounds.clone(), ..System::default() };
        let are_found = [vec![false; bounds.len()], vec![false; bounds.len()]];
        Self { views, small: system(), medium: system(), are_found, sources: sources(views) }
    }

    /// Whether small inputs keep a polynomial within bounds, `medium` being what inputs of medium size make it: by the ranges of
    /// its unknowns, or by what is known of these, such as that an index is below a size.
    pub(super) fn keeps(&mut self, of: &Poly, within: VarBounds, medium: Option<Var>) -> bool {
        self.range_of_size(of, false);
        let keeps = |ordinary: &mut Self| {
            let fits = |VarBounds { least, most }: VarBounds| {
                within.least.is_none_or(|bound| least.is_some_and(|own| own >= bound))
                    && within.most.is_none_or(|bound| most.is_some_and(|own| own <= bound))
            };
            fits(ordinary.joint_range(of, &ordinary.small))
                || ordinary.range_by_facts(of).is_some_and(fits)
        };
        let Some(var) = medium else { return keeps(self) };
        self.find(var, true);
        let at = var.0 as usize;
        let small = std::mem::replace(&mut self.small.bounds[at], self.medium.bounds[at]);
        let is_kept = keeps(self);
        self.small.bounds[at] = small;
        is_kept
    }

    /// The range of a polynomial for small inputs by what is known of its unknowns: for its greatest value, indices are replaced
    /// by the sizes that they are below. `None` if small inputs do not fulfil the facts.
    fn range_by_facts(&mut self, of: &Poly) -> Option<VarBounds> {
        // That a number fits in its width says nothing of ordinary ones.
        let facts = self.views.system.conditions.positive.iter();
        let mut facts: Vec<Poly> =
            facts.filter(|fact| fact.constant_part().abs() < MOST_NUMBER).cloned().collect();
        for var in facts.iter().flat_map(Poly::vars) {
            self.find(var, false);
        }
        let mut system = self.small.clone();
        system.conditions.positive.clone_from(&facts);
        system.bound_by_facts();
        if system.bounds.iter().any(|bounds| bounds.is_empty()) {
            return None;
        }
        // A dividend is its parts, of which others might be subtracted.
        let mut whole = of.clone();
        for division in &self.views.system.divisions {
            let parts = division.equation()?.times(-1)?;
            let multiple = multiple_within(&whole, &parts, &system).unwrap_or_default();
            whole = whole.plus(&multiple)?;
        }
        let least = self.joint_range(&whole, &system).least;
        // A sum that is below a size comes before its parts.
        facts.sort_by_key(|fact| Reverse(fact.terms().filter(|(_, weight)| *weight < 0).count()));
        let mut above = whole;
        for _ in 0..MOST_REPLACED {
            let mut multiples =
                facts.iter().filter_map(|fact| multiple_within(&above, fact, &system));
            let Some(multiple) = multiples.next() else { break };
            above = above.plus(&multiple)?;
        }
        Some(VarBounds { least, most: self.joint_range(&above, &system).most })
    }

    fn range_of_size(&mut self, of: &Poly, is_medium: bool) -> VarBounds {
        for var in of.vars() {
            self.find(var, is_medium);
        }
        self.joint_range(of, if is_medium { &self.medium } else { &self.small })
    }

    /// The range of a polynomial, given the bounds of its unknowns, and those of blocks, grids and sizes in all dimensions
    /// together.
    fn joint_range(&self, of: &Poly, system: &System) -> VarBounds {
        let is_open = |extent: &ExtentBound| !matches!(extent, ExtentBound::Is(2..));
        let most_ctas = self.views.launched.grid.iter().all(is_open).then_some(CTAS);
        let limits = [Some(THREADS), most_ctas, Some(ELEMENTS)];
        let mut all = VarBounds { least: Some(0), most: Some(0) };
        for (monomial, coefficient) in of.terms() {
            let mut joint = [VarBounds::ONE; 3];
            let mut term = VarBounds { least: Some(coefficient), most: Some(coefficient) };
            let mut met = Vec::new();
            for var in monomial {
                let bounds = system.bounds[var.0 as usize];
                // Only one index or extent of each dimension is part of a number of threads or ctas, and a size only once of
                // a number of elements.
                let extent = self.extent(*var).filter(|extent| !met.contains(extent));
                met.extend(extent);
                match extent {
                    Some(extent) => {
                        let of_kind = &mut joint[extent.kind()];
                        *of_kind = of_kind.times(bounds);
                    }
                    None => term = term.times(bounds),
                }
            }
            for (of_kind, limit) in joint.iter_mut().zip(limits) {
                let limited = limit.map_or(*of_kind, |limit| {
                    let VarBounds { least, most } = *of_kind;
                    VarBounds {
                        least: least.map(|own| own.max(-limit)),
                        most: most.map(|own| own.min(limit)),
                    }
                });
                term = term.times(limited);
            }
            all = all.plus(term);
        }
        all
    }

    /// What an unknown is an index or an extent of.
    fn extent(&self, var: Var) -> Option<JointExtent> {
        match *self.sources.get(&var)? {
            UnknownSource::Natural(Atom::Tid(at) | Atom::Ntid(at)) => Some(JointExtent::Block(at)),
            UnknownSource::Natural(Atom::Ctaid(at) | Atom::Nctaid(at)) => {
                Some(JointExtent::Grid(at))
            }
            UnknownSource::Expression(of, _)
                if matches!(self.views.exprs().node(of), ExprNode::Atom(Atom::Argument(..))) =>
            {
                Some(JointExtent::Size(var))
            }
            _ => None,
        }
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
            return Some(dividend.divided(divisor));
        }
        let below = divisor.most.map(|most| most - 1);
        let own = if least >= 0 { Some(most) } else { None };
        let most = [below, own].into_iter().flatten().min()?;
        Some(VarBounds { least: Some(0), most: Some(most) })
    }
}

/// A multiple of a fact whose negative terms a polynomial has with the opposite sign: the multiple is not negative, and the sum
/// of both has these terms no longer. `None` if there is none.
fn multiple_within(of: &Poly, fact: &Poly, system: &System) -> Option<Poly> {
    let negative: Vec<_> =
        fact.terms().filter(|(own, weight)| !own.is_empty() && *weight < 0).collect();
    let (longest, least) = *negative.iter().max_by_key(|(own, _)| own.len())?;
    of.terms().find_map(|(product, weight)| {
        let factor = quotient(product, longest).filter(|_| weight >= -least)?;
        let multiple = Poly::term(factor.clone(), weight / -least);
        let has_all = negative.iter().all(|(own, weight)| {
            let needed = Poly::term((*own).clone(), -weight).product(&multiple);
            let needed = needed
                .and_then(|needed| needed.sole_term().map(|(own, weight)| (own.clone(), weight)));
            needed.is_some_and(|(own, weight)| of.coefficient(&own) >= weight)
        });
        let is_natural = factor.iter().all(|var| system.is_natural(*var));
        (is_natural && has_all).then(|| fact.product(&multiple)).flatten()
    })
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
