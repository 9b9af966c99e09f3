//! Bases: what has an address that PTX does not state, and what a check takes for granted about that address.

use crate::ptx::Space;

/// Something whose address PTX does not state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Base {
    /// What a pointer argument points to, by position; fields of structures are numbered after the last parameter.
    Pointer(usize),
    /// A variable, by index of the program's symbols.
    Variable(usize),
    /// The kernel parameter at this position, in the parameter bank.
    Parameter(usize),
    /// The window of this state space in the generic addresses.
    Window(Space),
}

/// What is taken for granted about the address of a base. `Fixed` is more than any `Multiple`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AddressRequirement {
    /// That it is a multiple of this power of two.
    Multiple(u64),
    /// That it is the address that the base has in this check.
    Fixed,
}

/// The check places no base at a multiple of more than two to this power on purpose.
const MOST_BITS: u8 = 20;

/// Returns what a value takes for granted that is computed from the lowest `bits` bits of a base's address.
pub(super) const fn multiple(bits: u8) -> AddressRequirement {
    if bits > MOST_BITS {
        AddressRequirement::Fixed
    } else {
        AddressRequirement::Multiple(1 << bits)
    }
}
