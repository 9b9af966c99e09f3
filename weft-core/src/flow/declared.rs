//! What a kernel declares: its variables and parameters, and what it loads of structures.

use std::sync::Arc;

use crate::ptx::Space;

/// A named piece of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// As declared.
    pub name: String,
    /// Where it lives.
    pub space: Space,
    /// Its first byte.
    pub address: u64,
    /// Bytes; 0 for `extern .shared`, which names the dynamic shared memory.
    pub size: u64,
    /// What its declaration says its first byte is a multiple of.
    pub align: u64,
    /// Its initial contents from the first byte on; zeros follow; `None`: open.
    pub init: Option<Arc<[u8]>>,
    /// The parameter that points to its middle, by position, if it is no variable but the object of a pointer.
    pub parameter: Option<usize>,
}

impl Symbol {
    /// Whether it names the dynamic shared memory.
    pub fn is_dynamic(&self) -> bool {
        self.space == Space::Shared && self.size == 0
    }

    /// What a pointer to it holds: the first byte of a variable, the middle of a parameter's object.
    pub fn pointer(&self) -> u64 {
        if self.parameter.is_some() { self.address + self.size / 2 } else { self.address }
    }
}

/// A kernel parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// As declared.
    pub name: String,
    /// Its first byte in the bank.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// Whether it is a floating-point scalar.
    pub is_float: bool,
    /// Whether it is a scalar, not a structure.
    pub is_scalar: bool,
    /// The space of which it holds an address: declared `.ptr`, or used as an address of global memory.
    pub pointee: Option<Space>,
    /// Index of the symbol that it points to if it holds an address of shared or constant memory: it is declared so, or
    /// used so, which counts if the launch says that it points to a buffer.
    pub object: Option<usize>,
    /// What its declaration says the address that it holds is a multiple of, if it says so.
    pub pointee_align: Option<u64>,
}

impl Field {
    /// Whether it holds some of these bytes of the bank.
    pub fn overlaps(&self, offset: u64, size: u64) -> bool {
        self.offset < offset.saturating_add(size) && offset < self.offset.saturating_add(self.size)
    }
}

impl Param {
    /// Index of the symbol that it points to, if it is declared to point to shared memory.
    pub fn shared_object(&self) -> Option<usize> {
        self.object.filter(|_| self.pointee == Some(Space::Shared))
    }

    /// Whether it holds an address of global memory.
    pub fn is_pointer(&self) -> bool {
        self.pointee == Some(Space::Global)
    }
}

/// What the kernel loads of a structure that is passed by value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The parameter.
    pub param: usize,
    /// First byte in the bank.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// Whether it is loaded as a floating-point number.
    pub is_float: bool,
    /// Whether all loads of its bytes are of these bytes together.
    pub is_alone: bool,
    /// Whether it is used as an address of global memory.
    pub is_pointer: bool,
}

/// Some of the first parameters and fields, by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Params(u64);

impl Params {
    /// None yet.
    pub(crate) const NONE: Self = Self(0);

    /// `None`: it is too far behind the first.
    pub(crate) fn one(at: usize) -> Option<Self> {
        u32::try_from(at).ok().and_then(|at| 1_u64.checked_shl(at)).map(Self)
    }

    /// All of both.
    #[must_use]
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Ascending.
    pub(crate) fn all(self) -> impl Iterator<Item = usize> {
        (0..u64::BITS as usize).filter(move |at| self.0 >> at & 1 == 1)
    }
}
