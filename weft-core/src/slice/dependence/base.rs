//! What begins where no PTX says, and what is taken for granted about where it does.

use crate::ptx::Space;

/// Something that begins where no PTX says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Base {
    /// What a pointer argument points to, by position; fields of structures behind the last parameter.
    Pointer(usize),
    /// A variable, by index of the program's symbols.
    Variable(usize),
    /// The kernel's parameter with this position, in the bank.
    Parameter(usize),
    /// The generic addresses of this state space.
    Window(Space),
}

/// What is taken for granted about where something begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Beginning {
    /// At a multiple of this power of two.
    Multiple(u64),
    /// Where it does in this check.
    Fixed,
}

/// No place is a multiple of more bits than this by the choice of the check.
const MOST_BITS: u8 = 20;

/// What a value that reads so many bits of a base takes for granted.
pub(super) const fn multiple(bits: u8) -> Beginning {
    if bits > MOST_BITS { Beginning::Fixed } else { Beginning::Multiple(1 << bits) }
}
