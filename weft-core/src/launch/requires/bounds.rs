//! The ranges of variables under requirements, by interval reasoning: each comparison of one variable with a known value
//! narrows the variable's range until nothing changes. A range without numbers, and a requirement that is false of the
//! values that are left, are contradictions. Relations between variables are followed only as far as values are known.

use std::collections::BTreeMap;

use super::condition::{Clause, Comparison, Quantity, Requirement};
use super::variable::{Axis, LaunchVariable};
use crate::launch::Dim3;

/// Maximum number of times that all requirements are gone through.
const MAX_ROUNDS: usize = 64;
/// Maximum number of requirements of which each pair is tried, to name a contradiction.
const MAX_PAIRED: usize = 32;

/// The integers from `low` to `high`, both included; none if `low` is above `high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The least one.
    pub low: i128,
    /// The greatest one.
    pub high: i128,
}

impl Interval {
    /// Returns the interval of one number.
    pub const fn point(value: i128) -> Self {
        Self { low: value, high: value }
    }

    /// Returns the integers of a type of at most 64 bits.
    pub fn of_integer(bits: u32, is_signed: bool) -> Self {
        let bits = bits.min(64);
        let values = 1_i128 << bits;
        if is_signed {
            Self { low: -(values / 2), high: values / 2 - 1 }
        } else {
            Self { low: 0, high: values - 1 }
        }
    }

    /// Returns the extents that devices permit in a dimension of a block or grid; `None` for arguments.
    pub fn of_extent(variable: &LaunchVariable) -> Option<Self> {
        let most = match variable {
            LaunchVariable::Block(axis) => axis.of(Dim3::MAX_BLOCK),
            LaunchVariable::Grid(axis) => axis.of(Dim3::MAX_GRID),
            LaunchVariable::Named(_) | LaunchVariable::Argument(_) => return None,
        };
        Some(Self { low: 1, high: i128::from(most) })
    }

    /// Returns the only number in it, if it has one.
    pub const fn known(self) -> Option<i128> {
        if self.low == self.high { Some(self.low) } else { None }
    }

    /// Whether there is no number in it.
    pub const fn is_empty(self) -> bool {
        self.low > self.high
    }
}

/// Why requirements cannot be fulfilled. Requirements are numbered in the order in which they were given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contradiction {
    /// A requirement is false of the only values that its variables can have.
    Refuted {
        /// The requirement.
        requirement: usize,
        /// The variables in it, with their values.
        values: Vec<(LaunchVariable, i128)>,
    },
    /// A requirement is false of every value of a variable.
    Never {
        /// The requirement.
        requirement: usize,
        /// The variable.
        variable: LaunchVariable,
        /// The values that it could have.
        range: Interval,
    },
    /// Two requirements exclude each other.
    Both {
        /// The one that came first.
        first: usize,
        /// The other one.
        second: usize,
    },
    /// Every block that the requirements permit has more threads than a device supports: at least this many.
    Threads(i128),
}

/// The ranges of the variables of requirements, none of them empty. A range holds every value that the variable can have;
/// that it holds a value does not mean that the requirements permit it.
#[derive(Clone, Debug, Default)]
pub struct Bounds(BTreeMap<LaunchVariable, Interval>);

impl Bounds {
    /// Returns the range of a variable that occurs in the requirements, or of an extent of the block if one of them does.
    pub fn of(&self, variable: &LaunchVariable) -> Option<Interval> {
        self.0.get(variable).copied()
    }

    /// Returns the value of a variable, if only one is left.
    pub fn known(&self, variable: &LaunchVariable) -> Option<i128> {
        self.of(variable)?.known()
    }

    /// Returns all variables with their ranges.
    pub fn all(&self) -> impl Iterator<Item = (&LaunchVariable, Interval)> {
        self.0.iter().map(|(variable, range)| (variable, *range))
    }
}

/// The values that a variable can have without requirements.
type Domain<'a> = &'a dyn Fn(&LaunchVariable) -> Interval;

/// Returns the ranges of the variables of `requirements`. `domain` returns the values that a variable can have without
/// them; it is not empty.
///
/// # Errors
/// A contradiction of the requirements with the domains, or among them; one that concerns few requirements comes first.
pub fn bounds(requirements: &[Requirement], domain: Domain<'_>) -> Result<Bounds, Contradiction> {
    let all: Vec<_> = requirements.iter().enumerate().collect();
    let reason = match narrowed(&all, domain) {
        Ok(bounds) => return Ok(bounds),
        Err(reason) => reason,
    };
    let few = &all[..all.len().min(MAX_PAIRED)];
    for one in few {
        narrowed(&[*one], domain)?;
    }
    for (at, (second, requirement)) in few.iter().enumerate() {
        for (first, before) in &few[..at] {
            if narrowed(&[(*first, before), (*second, requirement)], domain).is_err() {
                return Err(Contradiction::Both { first: *first, second: *second });
            }
        }
    }
    Err(reason)
}

fn narrowed(
    requirements: &[(usize, &Requirement)],
    domain: Domain<'_>,
) -> Result<Bounds, Contradiction> {
    let block = Axis::ALL.map(LaunchVariable::Block);
    let mut bounds = Bounds::default();
    for variable in requirements.iter().flat_map(|(_, requirement)| requirement.variables()) {
        bounds.0.insert(variable.clone(), domain(variable));
    }
    let has_block = block.iter().any(|extent| bounds.0.contains_key(extent));
    if has_block {
        bounds.0.extend(block.each_ref().map(|extent| (extent.clone(), domain(extent))));
    }
    for _ in 0..MAX_ROUNDS {
        let before = bounds.0.clone();
        for (requirement, all) in requirements {
            all.clauses().try_for_each(|clause| bounds.narrow(*requirement, clause))?;
        }
        if has_block {
            bounds.limit_threads(&block)?;
        }
        if bounds.0 == before {
            break;
        }
    }
    Ok(bounds)
}

impl Bounds {
    /// Narrows the variable that a clause compares with a known value.
    fn narrow(&mut self, requirement: usize, clause: &Clause) -> Result<(), Contradiction> {
        let known = |variable: &LaunchVariable| self.known(variable);
        if clause.holds(&known) == Some(false) {
            let mut variables = Vec::new();
            clause.collect(&mut variables);
            let value = |variable: &LaunchVariable| Some((variable.clone(), known(variable)?));
            let mut values: Vec<_> = variables.into_iter().filter_map(value).collect();
            values.sort_unstable();
            values.dedup();
            return Err(Contradiction::Refuted { requirement, values });
        }
        let mut limits = Vec::new();
        match clause {
            Clause::Compare(left, how, right) => {
                if let (Quantity::Variable(variable), Some(value)) = (left, right.value(&known)) {
                    limits.push((variable, Limits::Compared(*how, value)));
                }
                if let (Some(value), Quantity::Variable(variable)) = (left.value(&known), right) {
                    limits.push((variable, Limits::Compared(how.exchanged(), value)));
                }
            }
            Clause::PowerOfTwo(Quantity::Variable(variable)) => {
                limits.push((variable, Limits::PowersOfTwo));
            }
            Clause::PowerOfTwo(_) => {}
        }
        for (variable, limits) in limits {
            let Some(range) = self.0.get_mut(variable) else { continue };
            let before = std::mem::replace(range, limits.within(*range));
            if range.is_empty() {
                let variable = variable.clone();
                return Err(Contradiction::Never { requirement, variable, range: before });
            }
        }
        Ok(())
    }

    /// Narrows the extents of a block to what its number of threads leaves.
    fn limit_threads(&mut self, block: &[LaunchVariable; 3]) -> Result<(), Contradiction> {
        let most = i128::from(Dim3::MAX_THREADS);
        let lows =
            block.each_ref().map(|extent| self.of(extent).map_or(1, |range| range.low.max(1)));
        let threads = lows.into_iter().fold(1_i128, i128::saturating_mul);
        if threads > most {
            return Err(Contradiction::Threads(threads));
        }
        for (extent, low) in block.iter().zip(lows) {
            if let Some(range) = self.0.get_mut(extent) {
                range.high = range.high.min(most / (threads / low));
            }
        }
        Ok(())
    }
}

/// What a clause says about one variable.
enum Limits {
    Compared(Comparison, i128),
    PowersOfTwo,
}

impl Limits {
    /// Returns a part of `range` that holds all of its values that these limits permit. Its ends are permitted values,
    /// or it is empty, once this has been repeated until nothing changes.
    fn within(&self, range: Interval) -> Interval {
        let Interval { low, high } = range;
        match *self {
            Self::Compared(how, value) => match how {
                Comparison::Equal => Interval { low: low.max(value), high: high.min(value) },
                Comparison::NotEqual => Interval {
                    low: low.saturating_add(i128::from(low == value)),
                    high: high.saturating_sub(i128::from(high == value)),
                },
                Comparison::Less => Interval { low, high: high.min(value.saturating_sub(1)) },
                Comparison::LessOrEqual => Interval { low, high: high.min(value) },
                Comparison::Greater => Interval { low: low.max(value.saturating_add(1)), high },
                Comparison::GreaterOrEqual => Interval { low: low.max(value), high },
            },
            Self::PowersOfTwo => {
                let most = u128::try_from(high).ok().filter(|most| *most > 0);
                let Some(most) = most else { return Interval { low: 1, high: 0 } };
                let least = u128::try_from(low.max(1)).unwrap_or(1).checked_next_power_of_two();
                let signed = |value: u128| i128::try_from(value).unwrap_or(i128::MAX);
                Interval { low: least.map_or(i128::MAX, signed), high: signed(1 << most.ilog2()) }
            }
        }
    }
}
