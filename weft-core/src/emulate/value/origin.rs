//! What is known of an open value besides its sum: where it comes from (`Origin`), and which addresses it can be part
//! of (`Region`).

use crate::flow::addresses::argument_of;
use crate::flow::{Params, Pc};
use crate::ptx::Space;

/// Where an open value comes from in the first place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// The value of a kernel argument, by position.
    Argument(usize),
    /// The contents of the buffer behind a pointer argument.
    Contents(usize),
    /// The contents of a variable without an initial value, by its index among the program's symbols.
    Symbol(usize),
    /// Local memory that nothing wrote, or an address without memory, read by this instruction.
    Nothing(Pc),
    /// Shared memory that nothing wrote, read by this instruction with at least 32 bits: any value of that width is
    /// possible.
    Unwritten(Pc),
    /// As `Unwritten`, but the loaded word has fewer bits than the value: any value that fits the word is possible.
    NarrowUnwritten(Pc),
    /// A value that surely depends on shared memory that nothing wrote, but is not known to be any value of its width.
    OfUnwritten(Pc),
    /// A value that might depend on memory that nothing wrote, or might not.
    PerhapsUnwritten(Pc),
    /// The result of an atomic.
    Atomic(Pc),
    /// The result of an instruction that is not modelled, or that the slice left out.
    Unsupported(Pc),
    /// A special register that only the hardware knows.
    Hardware(Pc),
    /// A strong load (volatile, relaxed or acquire) of bytes that other threads, ctas that are not run, or the host might
    /// write: what it sees depends on the schedule.
    Strong(Pc),
    /// The size of dynamic shared memory, which the launch does not state.
    DynamicShared,
    /// A load of bytes that race: what it sees depends on the schedule.
    Racing(Pc),
    /// Memory whose contents were dropped because more was written than is kept.
    Unkept,
    /// A register that nothing wrote.
    Register,
}

impl Origin {
    /// The instruction that read memory that nothing wrote, if the value comes or might come from there.
    pub const fn unwritten(self) -> Option<Pc> {
        match self {
            Self::Unwritten(pc)
            | Self::NarrowUnwritten(pc)
            | Self::OfUnwritten(pc)
            | Self::PerhapsUnwritten(pc) => Some(pc),
            _ => None,
        }
    }

    /// Whether the launch leaves the value open, whatever the kernel computes.
    pub(crate) const fn is_of_launch(self) -> bool {
        matches!(
            self,
            Self::Argument(_) | Self::Contents(_) | Self::Symbol(_) | Self::DynamicShared
        )
    }

    /// The origin of `size` bytes of `space` that nothing wrote and that the instruction at `pc` reads.
    pub(crate) const fn unwritten_at(pc: Pc, space: Space, size: u32) -> Self {
        if !matches!(space, Space::Shared) {
            return Self::Nothing(pc);
        }
        if size < 4 { Self::NarrowUnwritten(pc) } else { Self::Unwritten(pc) }
    }

    /// The origin of the value after zero- or sign-extension.
    pub(crate) const fn extended(self) -> Self {
        match self {
            Self::Unwritten(pc) => Self::NarrowUnwritten(pc),
            _ => self,
        }
    }

    /// The origin of the value after multiplication by a number; a narrow unwritten word is then only perhaps any
    /// value.
    pub(crate) const fn scaled(self) -> Self {
        match self {
            Self::NarrowUnwritten(pc) => Self::PerhapsUnwritten(pc),
            _ => self,
        }
    }

    /// The origin of a value computed from this one in a way that might hide that memory was not written.
    pub(crate) const fn perhaps(self) -> Self {
        match self.unwritten() {
            Some(pc) => Self::PerhapsUnwritten(pc),
            None => self,
        }
    }
}

/// The origin of a value computed from values with these origins, if one of them is memory that nothing wrote; else
/// `None`.
pub(crate) fn perhaps_unwritten(mut origins: impl Iterator<Item = Origin>) -> Option<Origin> {
    origins.find(|origin| origin.unwritten().is_some()).map(Origin::perhaps)
}

/// How a value is related to addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Region {
    /// The value contains no address: added to a pointer, it gives an address in the pointer's buffer.
    Number,
    /// The value is an address in the buffer of this argument.
    Buffer(usize),
    /// The value is an address in the buffer of one of these arguments, or a number that is no address, such as null.
    Among(Params),
    /// The value contains addresses in some other way, such as a difference of pointers.
    Unclear,
}

impl Region {
    /// The region of known bits.
    pub(crate) fn of(bits: u64) -> Self {
        const LARGEST_NUMBER: u64 = 1 << 40;
        match argument_of(bits) {
            Some(argument) => Self::Buffer(argument),
            None if bits.cast_signed().unsigned_abs() < LARGEST_NUMBER => Self::Number,
            None => Self::Unclear,
        }
    }

    /// The region of a value that is one of two, with these regions, not known which.
    pub(crate) fn or(self, other: Self) -> Self {
        match (self.params(), other.params()) {
            _ if self == other => self,
            (Some(params), Some(others)) => Self::Among(params.and(others)),
            _ => Self::Unclear,
        }
    }

    /// The arguments whose buffers the value can point into, if it is an address in one of them.
    fn params(self) -> Option<Params> {
        match self {
            Self::Buffer(argument) => Params::one(argument),
            Self::Among(params) => Some(params),
            Self::Number | Self::Unclear => None,
        }
    }

    /// The region of a sum: one pointer plus numbers stays in the pointer's buffer.
    pub(crate) const fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Number, region) | (region, Self::Number) => region,
            _ => Self::Unclear,
        }
    }
}
