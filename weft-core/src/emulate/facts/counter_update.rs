//! How atomics update a location, as far as counters are concerned (PTX ISA, `atom`).

use crate::emulate::value::lane::{Lane, truncate};

/// How an atomic updates its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CounterUpdate {
    /// Adds a known number.
    Adds(i64),
    /// Adds one up to this number, after which zero comes, as it does after greater numbers.
    CountsUpTo(u64),
    /// Anything else.
    Other,
}

impl CounterUpdate {
    /// Whether the location can hold another value afterwards, which is known if the one before is.
    pub(crate) fn is_step(self) -> bool {
        !matches!(self, Self::Adds(0) | Self::Other)
    }

    /// Returns what a location of `bits` bits holds after this number of updates; `first`: what it held before them. `None` if
    /// that is not known.
    pub(crate) fn after(self, updates: u64, first: Lane, bits: u32) -> Option<Lane> {
        match self {
            Self::Adds(amount) => {
                let sum = first.bits.wrapping_add(updates.wrapping_mul(amount.cast_unsigned()));
                Some(Lane { bits: truncate(sum, bits), ..first })
            }
            Self::CountsUpTo(most) if first.symbol.is_none() => {
                // Zero comes after a greater number as it does after `most`.
                let first_in_round = u128::from(first.bits.min(most));
                let held = (first_in_round + u128::from(updates)) % (u128::from(most) + 1);
                let held = u64::try_from(held).ok()?;
                Some(Lane::known(if updates == 0 { first.bits } else { held }))
            }
            Self::CountsUpTo(_) | Self::Other => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `atom.inc` leaves.
    fn counted(held: u64, most: u64) -> u64 {
        if held >= most { 0 } else { held + 1 }
    }

    #[test]
    fn rounds_of_a_count_are_those_of_the_instruction() {
        for most in 0..5 {
            for first in 0..8 {
                let mut held = first;
                for updates in 0..20 {
                    let after =
                        CounterUpdate::CountsUpTo(most).after(updates, Lane::known(first), 32);
                    assert_eq!(after.map(|lane| lane.bits), Some(held), "{first} {updates} {most}");
                    held = counted(held, most);
                }
            }
        }
    }
}
