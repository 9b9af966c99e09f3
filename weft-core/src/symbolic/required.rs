//! What the requirements of a launch say about the integers of a query.

use std::collections::BTreeMap;

use super::atom::{Atom, Expr};
use super::expr::Exprs;
use super::launched::LaunchedValues;
use super::poly::{Poly, Var};
use super::system::{Conditions, ValueCases};
use super::var_bounds::VarBounds;
use super::view::{Copy, Views};
use crate::flow::Program;
use crate::launch::requires::{
    Arithmetic, Clause, Comparison, LaunchVariable, Quantity, Requirement,
};
use crate::launch::{ExtentBound, Launch};

/// The requirements of a launch, with the arguments in them as expressions.
#[derive(Clone, Debug, Default)]
pub(super) struct RequiredFacts {
    pub(super) requirements: Vec<Requirement>,
    /// By position; the flag says that the parameter is signed.
    pub(super) arguments: BTreeMap<usize, (Expr, bool)>,
}

impl RequiredFacts {
    /// Returns the requirements of a launch, which name arguments by position.
    pub(super) fn of(
        program: &Program,
        launch: &Launch,
        launched: &LaunchedValues,
        exprs: &mut Exprs,
    ) -> Self {
        let requirements = launch.requires.clone();
        let variables = requirements.iter().flat_map(Requirement::variables);
        let argument = |variable: &LaunchVariable| {
            let LaunchVariable::Argument(at) = variable else { return None };
            let param = program.params.get(*at)?;
            let bytes =
                u32::try_from(param.size).ok().filter(|bytes| [1, 2, 4, 8].contains(bytes))?;
            Some((*at, (launched.argument(exprs, param.offset, bytes), param.is_signed)))
        };
        let arguments = variables.filter_map(argument).collect();
        Self { requirements, arguments }
    }
}

/// The largest quantity that is tried as each power of two.
const MOST_POWER: i128 = 1 << 16;

impl Views<'_> {
    /// Adds what the launch is required to fulfil. A clause that has no polynomial form is left out.
    pub(super) fn require(&mut self, required: &RequiredFacts) {
        for clause in required.requirements.iter().flat_map(Requirement::clauses) {
            let _ = self.clause(required, clause);
        }
    }

    fn clause(&mut self, required: &RequiredFacts, clause: &Clause) -> Option<()> {
        match clause {
            Clause::PowerOfTwo(quantity) => {
                let quantity = self.quantity(required, quantity)?;
                self.at_least_zero(quantity.minus(&Poly::constant(1))?);
                self.power_of_two(&quantity)
            }
            Clause::Compare(a, comparison, b) => {
                let difference = self.quantity(required, a)?.minus(&self.quantity(required, b)?)?;
                let one = Poly::constant(1);
                match comparison {
                    Comparison::Equal => {
                        self.tighten(&difference);
                        self.tighten(&difference.times(-1)?);
                        self.system.conditions.zero.push(difference);
                    }
                    Comparison::NotEqual => self.system.conditions.nonzero.push(difference),
                    Comparison::Less => self.at_least_zero(difference.times(-1)?.minus(&one)?),
                    Comparison::LessOrEqual => self.at_least_zero(difference.times(-1)?),
                    Comparison::Greater => self.at_least_zero(difference.minus(&one)?),
                    Comparison::GreaterOrEqual => self.at_least_zero(difference),
                }
                Some(())
            }
        }
    }

    fn quantity(&mut self, required: &RequiredFacts, of: &Quantity) -> Option<Poly> {
        match of {
            Quantity::Number(number) => Some(Poly::constant(i128::from(*number))),
            Quantity::Variable(variable) => self.variable(required, variable),
            Quantity::Negated(inner) => self.quantity(required, inner)?.times(-1),
            Quantity::Combined(a, arithmetic, b) => {
                let (a, b) = (self.quantity(required, a)?, self.quantity(required, b)?);
                match arithmetic {
                    Arithmetic::Add => a.plus(&b),
                    Arithmetic::Sub => a.minus(&b),
                    Arithmetic::Mul => a.product(&b),
                    Arithmetic::Div | Arithmetic::Rem => {
                        let above = b.minus(&Poly::constant(1))?;
                        if !self.is_positive(&a) || !self.is_positive(&above) {
                            return None;
                        }
                        let (quotient, remainder) = self.divided(a, b)?;
                        Some(if *arithmetic == Arithmetic::Div { quotient } else { remainder })
                    }
                }
            }
        }
    }

    fn variable(&mut self, required: &RequiredFacts, of: &LaunchVariable) -> Option<Poly> {
        let launched = self.launched;
        let (atom, extent) = match of {
            LaunchVariable::Argument(at) => {
                let (argument, is_signed) = *required.arguments.get(at)?;
                return Some(self.exact(argument, is_signed, Copy::Both));
            }
            LaunchVariable::Block(axis) => (Atom::Ntid(axis.number()), launched.block),
            LaunchVariable::Grid(axis) => (Atom::Nctaid(axis.number()), launched.grid),
            LaunchVariable::Named(_) => return None,
        };
        let (Atom::Ntid(part) | Atom::Nctaid(part)) = atom else { return None };
        match extent[usize::from(part)] {
            ExtentBound::Is(number) => Some(Poly::constant(i128::from(number))),
            ExtentBound::UpTo(_) => self.natural(atom, Copy::Both),
        }
    }

    fn at_least_zero(&mut self, of: Poly) {
        self.tighten(&of);
        self.system.conditions.positive.push(of);
    }

    /// Tightens the bounds of an unknown that is the only one in a polynomial, which is at least zero.
    fn tighten(&mut self, of: &Poly) {
        let constant = of.constant_part();
        let mut others = of.terms().filter(|(monomial, _)| !monomial.is_empty());
        let (Some((monomial, coefficient)), None) = (others.next(), others.next()) else { return };
        let [var] = monomial[..] else { return };
        let bounds = &mut self.system.bounds[var.0 as usize];
        if coefficient > 0 {
            let least = -constant.div_euclid(coefficient);
            bounds.least = Some(bounds.least.map_or(least, |own| own.max(least)));
        } else {
            let most = constant.div_euclid(-coefficient);
            bounds.most = Some(bounds.most.map_or(most, |own| own.min(most)));
        }
    }

    /// Adds the powers of two that a quantity can be, if they are few.
    fn power_of_two(&mut self, quantity: &Poly) -> Option<()> {
        let range = self.system.range(quantity);
        let most = range.most.filter(|most| *most <= MOST_POWER)?;
        let var: Var = self.system.var(VarBounds { least: Some(1), most: Some(most) });
        self.system.conditions.zero.push(quantity.minus(&Poly::var(var))?);
        let powers = (0..).map(|exponent| 1_i128 << exponent).take_while(|power| *power <= most);
        let cases = powers.map(|power| (Poly::constant(power), Conditions::default())).collect();
        self.system.alternatives.push(ValueCases { var, cases, is_extreme: false });
        Some(())
    }
}
