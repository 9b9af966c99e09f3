//! What is known of an open value apart from its sum: where it comes from, and what it has to do with addresses.

use crate::flow::addresses::argument_of;
use crate::flow::{Params, Pc};
use crate::ptx::Space;

/// Where an open value comes from first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// The value of a kernel argument, by position.
    Argument(usize),
    /// The contents of the buffer behind a pointer argument.
    Contents(usize),
    /// The contents of a variable that has no initial value, by index of the program's symbols.
    Symbol(usize),
    /// Local memory that nothing wrote, or no memory at all, read here.
    Nothing(Pc),
    /// Shared memory that nothing wrote, read here: any value of 32 bits at least.
    Unwritten(Pc),
    /// The same in fewer bits than the value has: any value that fits.
    NarrowUnwritten(Pc),
    /// What is another value for other contents of such memory, but not any value.
    OfUnwritten(Pc),
    /// What might be.
    PerhapsUnwritten(Pc),
    /// The result of an atomic.
    Atomic(Pc),
    /// The result of an instruction that is not modelled, or left out.
    Unsupported(Pc),
    /// A special register that only the hardware knows.
    Hardware(Pc),
    /// A volatile or relaxed load of contended memory: what it sees is up to the schedule.
    Strong(Pc),
    /// The size of dynamic shared memory, which the launch does not state.
    DynamicShared,
    /// A load of bytes that race: what it sees is up to the schedule.
    Racing(Pc),
    /// Memory of which more was written than is kept.
    Unkept,
    /// A register that nothing wrote.
    Register,
}

impl Origin {
    /// Where memory that nothing wrote was read.
    pub const fn unwritten(self) -> Option<Pc> {
        match self {
            Self::Unwritten(pc)
            | Self::NarrowUnwritten(pc)
            | Self::OfUnwritten(pc)
            | Self::PerhapsUnwritten(pc) => Some(pc),
            _ => None,
        }
    }

    /// That of a word that a load reads where nothing was written.
    pub(crate) const fn unwritten_at(pc: Pc, space: Space, size: u32) -> Self {
        if !matches!(space, Space::Shared) {
            return Self::Nothing(pc);
        }
        if size < 4 { Self::NarrowUnwritten(pc) } else { Self::Unwritten(pc) }
    }

    /// That of such a word with zeros or its sign above it.
    pub(crate) const fn extended(self) -> Self {
        match self {
            Self::Unwritten(pc) => Self::NarrowUnwritten(pc),
            _ => self,
        }
    }

    /// That of such a word times a number, which may be any value again, or not.
    pub(crate) const fn scaled(self) -> Self {
        match self {
            Self::NarrowUnwritten(pc) => Self::PerhapsUnwritten(pc),
            _ => self,
        }
    }

    /// That of what is made of such a value in some way or other.
    pub(crate) const fn perhaps(self) -> Self {
        match self.unwritten() {
            Some(pc) => Self::PerhapsUnwritten(pc),
            None => self,
        }
    }
}

/// That of what is made of values with these origins, if one of them is memory that nothing wrote.
pub(crate) fn perhaps_unwritten(mut origins: impl Iterator<Item = Origin>) -> Option<Origin> {
    origins.find(|origin| origin.unwritten().is_some()).map(Origin::perhaps)
}

/// What a value has to do with addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Region {
    /// No address is in it: added to a pointer, it leads to somewhere in the pointer's buffer.
    Number,
    /// An address in the buffer of this argument.
    Buffer(usize),
    /// An address in the buffer of one of these arguments, or a number that leads nowhere, such as null.
    Among(Params),
    /// Addresses are in it in some other way, such as a difference of pointers.
    Unclear,
}

impl Region {
    /// That of known bits.
    pub(crate) fn of(bits: u64) -> Self {
        const LARGEST_NUMBER: u64 = 1 << 40;
        match argument_of(bits) {
            Some(argument) => Self::Buffer(argument),
            None if bits.cast_signed().unsigned_abs() < LARGEST_NUMBER => Self::Number,
            None => Self::Unclear,
        }
    }

    /// That of a value which is one of two, nobody knows which.
    pub(crate) fn or(self, other: Self) -> Self {
        match (self.params(), other.params()) {
            _ if self == other => self,
            (Some(params), Some(others)) => Self::Among(params.and(others)),
            _ => Self::Unclear,
        }
    }

    /// The arguments in whose buffers it may be, if it is an address in one of them.
    fn params(self) -> Option<Params> {
        match self {
            Self::Buffer(argument) => Params::one(argument),
            Self::Among(params) => Some(params),
            Self::Number | Self::Unclear => None,
        }
    }

    /// That of a sum: one pointer and numbers stay in the pointer's buffer.
    pub(crate) const fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Number, region) | (region, Self::Number) => region,
            _ => Self::Unclear,
        }
    }
}
