//! Conditions as combinations of simpler ones: comparisons of whole numbers, and predicates joined by and, or and not.

use super::{Identity, Lane, SymbolId, Symbolics};
use crate::emulate::value::lane::{signed, truncate};
use crate::ptx::Type;
use crate::ptx::isa::{Decoded, Modifier, Opcode};

/// An operation whose result is a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Logic {
    Compares(Type, Relation),
    And,
    Or,
    Not,
    /// One of two values, as a condition says (`selp`); the result need not be a condition.
    Choice,
}

/// How two whole numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Logic {
    /// The condition that an instruction with `operands` operands puts into its first result; `None` if it is none of
    /// these.
    pub(crate) fn of(decoded: &Decoded, operands: usize) -> Option<Self> {
        let ty = decoded.ty();
        match (decoded.row.opcode, operands) {
            (Opcode::Not, 1) if ty == Type::Pred => Some(Self::Not),
            (Opcode::Selp, 3) => Some(Self::Choice),
            (Opcode::And, 2) if ty == Type::Pred => Some(Self::And),
            (Opcode::Or, 2) if ty == Type::Pred => Some(Self::Or),
            // Comparisons of floating-point numbers are left out: with NaN, neither operand is less and they are not
            // equal.
            (Opcode::Setp, 2) if !ty.is_float() && ty != Type::Other => {
                Relation::of(decoded).map(|relation| Self::Compares(ty, relation))
            }
            _ => None,
        }
    }
}

impl Relation {
    /// The relation that a comparison states; `None` if it states another one, or none.
    pub(crate) fn of(decoded: &Decoded) -> Option<Self> {
        const ALL: [(Modifier, Relation); 10] = [
            (Modifier::Eq, Relation::Equal),
            (Modifier::Ne, Relation::NotEqual),
            (Modifier::Lt, Relation::Less),
            (Modifier::Lo, Relation::Less),
            (Modifier::Le, Relation::LessOrEqual),
            (Modifier::Ls, Relation::LessOrEqual),
            (Modifier::Gt, Relation::Greater),
            (Modifier::Hi, Relation::Greater),
            (Modifier::Ge, Relation::GreaterOrEqual),
            (Modifier::Hs, Relation::GreaterOrEqual),
        ];
        ALL.into_iter()
            .find(|(modifier, _)| decoded.modifiers.has(*modifier))
            .map(|(_, relation)| relation)
    }
}

/// A condition that is not taken apart further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Literal {
    /// A comparison by `Less` or `Equal`; all other comparisons are expressed by these two.
    Compared(Type, Relation, Lane, Lane),
    /// A predicate of which nothing else is known.
    Itself(Lane),
}

/// Nesting depth up to which conditions are taken apart.
const MOST: u32 = 8;

fn in_order(a: Lane, b: Lane) -> (Lane, Lane) {
    if (a.symbol, a.bits) <= (b.symbol, b.bits) { (a, b) } else { (b, a) }
}

impl Symbolics {
    /// The literals that follow from the outcome of a condition, each with its own outcome.
    pub(crate) fn literals(&self, condition: Lane, holds: bool) -> Vec<(Literal, bool)> {
        let mut found = Vec::new();
        self.collect_literals(condition, holds, MOST, &mut found);
        found
    }

    /// The operation and the operands of a condition, if it is a combination or a comparison.
    fn logic_of(&self, condition: SymbolId) -> Option<(Logic, &[Lane])> {
        match self.all.get_index(condition.place()) {
            Some((Identity::Operation(operator, operands), _))
                if condition.as_number().is_none() =>
            {
                Some((*self.logic.get(operator)?, operands))
            }
            _ => None,
        }
    }

    /// The condition that a comparison for equality is about, if it compares one of two known numbers, chosen by that
    /// condition, with a third one; and whether the comparison holds where the condition does.
    fn chosen_by(
        &self,
        ty: Type,
        relation: Relation,
        (a, b): (Lane, Lane),
    ) -> Option<(Lane, bool)> {
        let is_equal = match relation {
            Relation::Equal => true,
            Relation::NotEqual => false,
            _ => return None,
        };
        let (open, number) = match (a.symbol, b.symbol) {
            (Some(_), None) => (a, b.bits),
            (None, Some(_)) => (b, a.bits),
            _ => return None,
        };
        let (then, otherwise, condition) = self.choice(open, MOST)?;
        let is_it = |value: u64| truncate(value ^ number, ty.bits()) == 0;
        let holds = (is_it(then) == is_equal, is_it(otherwise) == is_equal);
        (holds.0 != holds.1).then_some((condition, holds.0))
    }

    /// The two numbers of which a value is one: the one where a condition holds, and the other one.
    fn choice(&self, Lane { bits: added, symbol }: Lane, depth: u32) -> Option<(u64, u64, Lane)> {
        let sum = symbol.filter(|sum| depth > 0 && self.is_stable(*sum))?;
        if let Some((Logic::Choice, &[then, otherwise, condition])) = self.logic_of(sum) {
            let is_known = then.symbol.or(otherwise.symbol).is_none() && added == 0;
            return is_known.then_some((then.bits, otherwise.bits, condition));
        }
        let [(atom, factor)] = *self.atoms(sum) else { return None };
        let (then, otherwise, condition) = match self.extension(atom) {
            Some(of) => {
                let inner = Lane { bits: of.added, symbol: Some(of.of) };
                let (then, otherwise, condition) = self.choice(inner, depth - 1)?;
                let extended = |value: u64| {
                    let low = truncate(value, of.from);
                    if of.is_signed { signed(low, of.from).cast_unsigned() } else { low }
                };
                (extended(then), extended(otherwise), condition)
            }
            None if atom == sum => return None,
            None => self.choice(Lane::open(atom), depth - 1)?,
        };
        let of =
            |value: u64| truncate(value.wrapping_mul(factor).wrapping_add(added), self.bits(sum));
        Some((of(then), of(otherwise), condition))
    }

    fn collect_literals(
        &self,
        lane: Lane,
        holds: bool,
        depth: u32,
        found: &mut Vec<(Literal, bool)>,
    ) {
        let logic = lane.symbol.filter(|_| lane.bits == 0 && depth > 0);
        match logic.and_then(|symbol| self.logic_of(symbol)) {
            Some((Logic::Not, [of])) => self.collect_literals(*of, !holds, depth - 1, found),
            Some((Logic::And, both @ [_, _])) if holds => {
                for value in both {
                    self.collect_literals(*value, true, depth - 1, found);
                }
            }
            Some((Logic::Or, both @ [_, _])) if !holds => {
                for part in both {
                    self.collect_literals(*part, false, depth - 1, found);
                }
            }
            Some((Logic::Compares(ty, relation), &[a, b]))
                if let Some((of, is_first)) = self.chosen_by(ty, relation, (a, b)) =>
            {
                self.collect_literals(of, is_first == holds, depth - 1, found);
            }
            Some((Logic::Compares(ty, relation), &[a, b])) => {
                let (relation, (a, b), is_it) = match relation {
                    Relation::Less => (Relation::Less, (a, b), true),
                    Relation::Greater => (Relation::Less, (b, a), true),
                    Relation::GreaterOrEqual => (Relation::Less, (a, b), false),
                    Relation::LessOrEqual => (Relation::Less, (b, a), false),
                    Relation::Equal => (Relation::Equal, in_order(a, b), true),
                    Relation::NotEqual => (Relation::Equal, in_order(a, b), false),
                };
                found.push((Literal::Compared(ty, relation, a, b), holds == is_it));
            }
            _ => found.push((Literal::Itself(lane), holds)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emulate::value::origin::{Origin, Region};
    use crate::emulate::value::symbolics::operator::Operator;
    use crate::ptx::isa::decode;

    type Compares = fn(u64, u64) -> bool;
    type Formula = (Lane, Box<dyn Fn(u64, u64) -> bool>);

    const RELATIONS: [(Relation, Compares); 6] = [
        (Relation::Equal, |a, b| a == b),
        (Relation::NotEqual, |a, b| a != b),
        (Relation::Less, |a, b| a < b),
        (Relation::LessOrEqual, |a, b| a <= b),
        (Relation::Greater, |a, b| a > b),
        (Relation::GreaterOrEqual, |a, b| a >= b),
    ];

    /// Two comparisons, each negated or not, are combined in every way: all literals hold exactly where the condition
    /// has the outcome in question.
    #[test]
    fn literals_hold_where_the_condition_does() {
        let mut symbolics = Symbolics::default();
        let word = |symbolics: &mut Symbolics, at| {
            Lane::open(symbolics.initial(Origin::Argument(at), 0, 4))
        };
        let numbers = [0, 1].map(|at| word(&mut symbolics, at));
        let mut made = |result: u8, logic, operands: &[Lane]| {
            let (meaning, only_at) = (decode("setp.eq.u32").unwrap().meaning(), None);
            let operator = Operator::Instruction { meaning, only_at, result };
            let operator = symbolics.condition_operator(operator, logic);
            Lane::open(symbolics.operation(operator, operands, Region::Number, 1))
        };
        let mut conditions: Vec<Formula> = Vec::new();
        for (key, (relation, holds)) in (0..).zip(RELATIONS) {
            let one = made(key, Logic::Compares(Type::U32, relation), &numbers);
            conditions.push((one, Box::new(holds)));
            let not = made(10, Logic::Not, &[one]);
            conditions.push((not, Box::new(move |a, b| !holds(a, b))));
        }
        let simple = conditions.len();
        for (first, second) in (0..simple).flat_map(|a| (0..simple).map(move |b| (a, b))) {
            let both = [conditions[first].0, conditions[second].0];
            for (key, logic) in [(11, Logic::And), (12, Logic::Or)] {
                let condition = made(key, logic, &both);
                let of = |at: usize| RELATIONS[at / 2].1;
                let (f, g, turned) = (of(first), of(second), (first % 2 == 1, second % 2 == 1));
                let is_and = logic == Logic::And;
                conditions.push((
                    condition,
                    Box::new(move |a, b| {
                        let (x, y) = (f(a, b) != turned.0, g(a, b) != turned.1);
                        if is_and { x && y } else { x || y }
                    }),
                ));
            }
        }
        for ((condition, says), outcome) in
            conditions.iter().flat_map(|formula| [true, false].map(|outcome| (formula, outcome)))
        {
            let literals = symbolics.literals(*condition, outcome);
            for (a, b) in (0..3).flat_map(|a| (0..3).map(move |b| (a, b))) {
                let value = |lane: Lane| if lane == numbers[0] { a } else { b };
                let all = literals.iter().all(|(literal, holds)| match literal {
                    Literal::Compared(_, Relation::Less, x, y) => (value(*x) < value(*y)) == *holds,
                    Literal::Compared(_, _, x, y) => (value(*x) == value(*y)) == *holds,
                    // A combination from which nothing follows for its parts.
                    Literal::Itself(_) => says(a, b) == *holds,
                });
                assert_eq!(all, says(a, b) == outcome, "{literals:?} {a} {b}");
            }
        }
    }
}
