//! The tree of a requirement, its value where its variables are known, and its normal form as text.

use std::fmt;

use super::variable::{Axis, LaunchVariable};

/// A condition that every launch that is meant fulfils: clauses joined by `&&`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Requirement {
    /// The first clause.
    pub first: Clause,
    /// The clauses after it.
    pub rest: Vec<Clause>,
}

/// One condition without `&&`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Clause {
    /// A comparison of two quantities.
    Compare(Quantity, Comparison, Quantity),
    /// `pow2(quantity)`: it is 1, 2, 4, 8, and so on.
    PowerOfTwo(Quantity),
}

/// How two quantities are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of Rust's traits and of SMT-LIB")]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A mathematical integer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// A number as written; negative ones are negations.
    Number(u64),
    /// An argument, or an extent of block or grid.
    Variable(LaunchVariable),
    /// `-quantity`
    Negated(Box<Self>),
    /// Two quantities, combined.
    Combined(Box<Self>, Arithmetic, Box<Self>),
}

/// How two quantities are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of Rust's traits")]
pub enum Arithmetic {
    Add,
    Sub,
    Mul,
    /// Rounds towards zero.
    Div,
    /// Has the sign of the dividend.
    Rem,
}

/// The known values of variables.
type Values<'a> = &'a dyn Fn(&LaunchVariable) -> Option<i128>;

impl Requirement {
    /// Returns the clauses, at least one.
    pub fn clauses(&self) -> impl Iterator<Item = &Clause> {
        std::iter::once(&self.first).chain(&self.rest)
    }

    /// Whether the requirement is fulfilled; `None` if that does not follow from the known values. A requirement that
    /// divides by zero, or has a value beyond 128 bits, has no truth value.
    pub fn holds(&self, of: Values<'_>) -> Option<bool> {
        let mut all = Some(true);
        for clause in self.clauses() {
            match clause.holds(of) {
                Some(false) => return Some(false),
                Some(true) => {}
                None => all = None,
            }
        }
        all
    }

    /// Returns the requirement that blocks have a multiple of `number` threads in a dimension.
    pub fn multiple(of: Axis, number: u64) -> Self {
        let extent = Box::new(Quantity::Variable(LaunchVariable::Block(of)));
        let rest = Quantity::Combined(extent, Arithmetic::Rem, Box::new(Quantity::Number(number)));
        let is_zero = Clause::Compare(rest, Comparison::Equal, Quantity::Number(0));
        Self { first: is_zero, rest: Vec::new() }
    }

    /// Whether one of the clauses says that a variable is a multiple of a number that `number` divides.
    pub fn keeps_multiple(&self, variable: &LaunchVariable, number: u64) -> bool {
        self.clauses().any(|clause| clause.is_multiple(variable, number))
    }

    /// Returns the variables that clauses say are equal to something, with what they are equal to.
    pub fn equalities(&self) -> impl Iterator<Item = (&LaunchVariable, &Quantity)> {
        self.clauses().flat_map(|clause| {
            let sides = match clause {
                Clause::Compare(a, Comparison::Equal, b) => Some([(a, b), (b, a)]),
                _ => None,
            };
            sides.into_iter().flatten().filter_map(|(own, other)| match own {
                Quantity::Variable(variable) => Some((variable, other)),
                _ => None,
            })
        })
    }

    /// Returns the variables that occur, each time that they do.
    pub fn variables(&self) -> Vec<&LaunchVariable> {
        let mut found = Vec::new();
        self.clauses().for_each(|clause| clause.collect(&mut found));
        found
    }

    /// Returns the requirement with each variable replaced.
    ///
    /// # Errors
    /// The first error of `by`.
    pub fn replaced<E>(
        &self,
        by: &dyn Fn(&LaunchVariable) -> Result<LaunchVariable, E>,
    ) -> Result<Self, E> {
        let rest = self.rest.iter().map(|clause| clause.replaced(by)).collect::<Result<_, E>>()?;
        Ok(Self { first: self.first.replaced(by)?, rest })
    }
}

impl Clause {
    /// Whether the clause is fulfilled; `None` if that does not follow from the known values.
    pub fn holds(&self, of: Values<'_>) -> Option<bool> {
        match self {
            Self::Compare(left, how, right) => Some(how.holds(left.value(of)?, right.value(of)?)),
            Self::PowerOfTwo(quantity) => {
                let value = quantity.value(of)?;
                Some(value > 0 && value & (value - 1) == 0)
            }
        }
    }

    /// Whether it says that a variable is a multiple of a number that `number` divides.
    fn is_multiple(&self, variable: &LaunchVariable, number: u64) -> bool {
        let Self::Compare(Quantity::Combined(of, Arithmetic::Rem, by), comparison, zero) = self
        else {
            return false;
        };
        matches!(&**of, Quantity::Variable(own) if own == variable)
            && matches!(**by, Quantity::Number(by) if by > 0 && by % number == 0)
            && (*comparison, zero) == (Comparison::Equal, &Quantity::Number(0))
    }

    /// Adds the variables that occur to `found`.
    pub(super) fn collect<'a>(&'a self, found: &mut Vec<&'a LaunchVariable>) {
        match self {
            Self::Compare(left, _, right) => {
                left.collect(found);
                right.collect(found);
            }
            Self::PowerOfTwo(quantity) => quantity.collect(found),
        }
    }

    fn replaced<E>(
        &self,
        by: &dyn Fn(&LaunchVariable) -> Result<LaunchVariable, E>,
    ) -> Result<Self, E> {
        Ok(match self {
            Self::Compare(left, how, right) => {
                Self::Compare(left.replaced(by)?, *how, right.replaced(by)?)
            }
            Self::PowerOfTwo(quantity) => Self::PowerOfTwo(quantity.replaced(by)?),
        })
    }
}

impl Comparison {
    /// All comparisons, with their symbols. A symbol that begins with another one comes first.
    pub const ALL: [(&str, Self); 6] = [
        ("==", Self::Equal),
        ("!=", Self::NotEqual),
        ("<=", Self::LessOrEqual),
        ("<", Self::Less),
        (">=", Self::GreaterOrEqual),
        (">", Self::Greater),
    ];

    /// Whether the comparison holds of two values.
    pub const fn holds(self, left: i128, right: i128) -> bool {
        match self {
            Self::Equal => left == right,
            Self::NotEqual => left != right,
            Self::Less => left < right,
            Self::LessOrEqual => left <= right,
            Self::Greater => left > right,
            Self::GreaterOrEqual => left >= right,
        }
    }

    /// Returns the comparison that holds with the two sides exchanged.
    #[must_use]
    pub const fn exchanged(self) -> Self {
        match self {
            Self::Equal => Self::Equal,
            Self::NotEqual => Self::NotEqual,
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
        }
    }
}

impl Quantity {
    /// Returns the value; `None` if a variable in it is not known, it divides by zero, or an intermediate result needs more
    /// than 128 bits.
    pub fn value(&self, of: Values<'_>) -> Option<i128> {
        match self {
            Self::Number(number) => Some(i128::from(*number)),
            Self::Variable(variable) => of(variable),
            Self::Negated(quantity) => quantity.value(of)?.checked_neg(),
            Self::Combined(left, how, right) => how.of(left.value(of)?, right.value(of)?),
        }
    }

    fn collect<'a>(&'a self, found: &mut Vec<&'a LaunchVariable>) {
        match self {
            Self::Number(_) => {}
            Self::Variable(variable) => found.push(variable),
            Self::Negated(quantity) => quantity.collect(found),
            Self::Combined(left, _, right) => {
                left.collect(found);
                right.collect(found);
            }
        }
    }

    fn replaced<E>(
        &self,
        by: &dyn Fn(&LaunchVariable) -> Result<LaunchVariable, E>,
    ) -> Result<Self, E> {
        Ok(match self {
            Self::Number(number) => Self::Number(*number),
            Self::Variable(variable) => Self::Variable(by(variable)?),
            Self::Negated(quantity) => Self::Negated(Box::new(quantity.replaced(by)?)),
            Self::Combined(left, how, right) => {
                Self::Combined(Box::new(left.replaced(by)?), *how, Box::new(right.replaced(by)?))
            }
        })
    }

    /// How strongly the outermost operator binds.
    const fn strength(&self) -> u8 {
        match self {
            Self::Combined(_, how, _) => how.strength(),
            _ => 3,
        }
    }
}

impl Arithmetic {
    /// How strongly the operator binds; operators that bind alike are applied from left to right.
    pub(super) const fn strength(self) -> u8 {
        match self {
            Self::Add | Self::Sub => 1,
            Self::Mul | Self::Div | Self::Rem => 2,
        }
    }

    /// All operators, with their symbols.
    pub const ALL: [(&str, Self); 5] =
        [("+", Self::Add), ("-", Self::Sub), ("*", Self::Mul), ("/", Self::Div), ("%", Self::Rem)];

    const fn of(self, left: i128, right: i128) -> Option<i128> {
        match self {
            Self::Add => left.checked_add(right),
            Self::Sub => left.checked_sub(right),
            Self::Mul => left.checked_mul(right),
            Self::Div => left.checked_div(right),
            Self::Rem => left.checked_rem(right),
        }
    }
}

fn symbol<T: PartialEq>(all: &[(&'static str, T)], wanted: &T) -> &'static str {
    all.iter().find(|(_, each)| each == wanted).map_or("", |(symbol, _)| symbol)
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(symbol(&Self::ALL, self))
    }
}

impl fmt::Display for Arithmetic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(symbol(&Self::ALL, self))
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let within = |f: &mut fmt::Formatter<'_>, part: &Self, least: u8| {
            if part.strength() < least { write!(f, "({part})") } else { write!(f, "{part}") }
        };
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Variable(variable) => write!(f, "{variable}"),
            Self::Negated(quantity) => {
                f.write_str("-")?;
                within(f, quantity, 3)
            }
            Self::Combined(left, how, right) => {
                within(f, left, how.strength())?;
                write!(f, " {how} ")?;
                within(f, right, how.strength() + 1)
            }
        }
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compare(left, how, right) => write!(f, "{left} {how} {right}"),
            Self::PowerOfTwo(quantity) => write!(f, "pow2({quantity})"),
        }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first)?;
        self.rest.iter().try_for_each(|clause| write!(f, " && {clause}"))
    }
}
