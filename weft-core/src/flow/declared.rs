//! The declarations of a kernel: its variables and parameters, and the fields that it loads from structures.

use std::sync::Arc;

use crate::launch::Dim3;
use crate::ptx::{Function, Space};

/// A named piece of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// As declared.
    pub name: String,
    /// The state space that it lies in.
    pub space: Space,
    /// The address of its first byte.
    pub address: u64,
    /// Size in bytes; 0 for `extern .shared`, which names the dynamic shared memory.
    pub size: u64,
    /// The alignment that its declaration states, in bytes.
    pub align: u64,
    /// Its initial contents from the first byte on, followed by zeros; `None`: open.
    pub init: Option<Arc<[u8]>>,
    /// If this is not a variable but the object of a pointer parameter: the position of the parameter, which points to
    /// the object's middle.
    pub parameter: Option<usize>,
}

impl Symbol {
    /// Whether it names the dynamic shared memory.
    pub fn is_dynamic(&self) -> bool {
        self.space == Space::Shared && self.size == 0
    }

    /// Returns the address that a pointer to it holds: the first byte of a variable, the middle of a parameter's
    /// object.
    pub fn pointer(&self) -> u64 {
        if self.parameter.is_some() { self.address + self.size / 2 } else { self.address }
    }
}

/// A kernel parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// As declared.
    pub name: String,
    /// Its name in the kernel's source, if it is known.
    pub source_name: Option<String>,
    /// The offset of its first byte in the parameter bank.
    pub offset: u64,
    /// Size in bytes.
    pub size: u64,
    /// Whether it is a floating-point scalar.
    pub is_float: bool,
    /// Whether it is a signed integer: it is declared so, or the kernel uses it so.
    pub is_signed: bool,
    /// Whether it is a scalar, not a structure.
    pub is_scalar: bool,
    /// The space that it holds an address in: declared by `.ptr`, or global if its value is used as a global address.
    pub pointee: Option<Space>,
    /// Index of the symbol that it points to, if it holds an address in shared or constant memory. The parameter is
    /// declared so, or only used so, which counts if the launch gives it a buffer.
    pub object: Option<usize>,
    /// The alignment that its declaration states for the address that it holds, in bytes, if it does.
    pub pointee_align: Option<u64>,
}

/// What a number is, as the kernel uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberKind {
    /// An integer of which no use depends on a sign.
    Unsigned,
    /// A signed integer.
    Signed,
    /// A floating-point number.
    Float,
}

impl Field {
    /// Whether it is a floating-point number.
    pub fn is_float(&self) -> bool {
        self.kind == NumberKind::Float
    }

    /// Whether the field overlaps these bytes of the bank.
    pub fn overlaps(&self, offset: u64, size: u64) -> bool {
        self.offset < offset.saturating_add(size) && offset < self.offset.saturating_add(self.size)
    }
}

impl Param {
    /// Returns the index of the symbol that it points to, if it is declared to point to shared memory.
    pub fn shared_object(&self) -> Option<usize> {
        self.object.filter(|_| self.pointee == Some(Space::Shared))
    }

    /// Whether it holds an address of global memory.
    pub fn is_pointer(&self) -> bool {
        self.pointee == Some(Space::Global)
    }
}

/// A piece of a structure passed by value that the kernel loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The position of the parameter.
    pub param: usize,
    /// The offset of its first byte in the parameter bank.
    pub offset: u64,
    /// Size in bytes.
    pub size: u64,
    /// What it is as a number; of no meaning if it is used as an address.
    pub kind: NumberKind,
    /// Whether all loads of any of its bytes load exactly these bytes.
    pub is_alone: bool,
    /// Whether it is used as an address of global memory.
    pub is_pointer: bool,
}

/// A set of parameters and fields by position; only the first 64 can be in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Params(u64);

impl Params {
    /// The empty set.
    pub(crate) const NONE: Self = Self(0);

    /// Returns the set that holds one position; `None` if the position is 64 or more.
    pub(crate) fn one(at: usize) -> Option<Self> {
        u32::try_from(at).ok().and_then(|at| 1_u64.checked_shl(at)).map(Self)
    }

    /// Returns the union of two sets.
    #[must_use]
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the positions in the set, ascending.
    pub(crate) fn all(self) -> impl Iterator<Item = usize> {
        (0..u64::BITS as usize).filter(move |at| self.0 >> at & 1 == 1)
    }
}

/// How the ctas of a program are taken to form clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clusters {
    /// Nothing in the program depends on it, as far as it is linked.
    #[default]
    Unused,
    /// Each cta by itself: the kernel states it.
    OfOne,
    /// Each cta by itself, although the launch might state clusters of several: the program depends on it.
    AssumedOfOne,
    /// So many ctas in each dimension, more than one in all: the program depends on it.
    OfSeveral(Dim3),
    /// The kernel says that the launch states clusters, but the launch is not known; or it has more shared variables than can
    /// be told apart in clusters of several ctas.
    Unknown,
}

impl Clusters {
    /// What the directives of a kernel say, and its launch, if that states clusters.
    pub(super) fn of(kernel: &Function, launched: Option<Dim3>) -> Self {
        let stated = kernel.clusters.required.map(|[x, y, z]| Dim3 { x, y, z });
        match stated.filter(|stated| stated.count() > 0).or(launched) {
            Some(stated) if stated.count() == 1 => Self::OfOne,
            Some(stated) => Self::OfSeveral(stated),
            None if kernel.clusters.is_explicit => Self::Unknown,
            None => Self::Unused,
        }
    }

    /// The ctas of a cluster in each dimension, as the program is run.
    #[must_use]
    pub const fn size(self) -> Dim3 {
        match self {
            Self::OfSeveral(size) => size,
            _ => Dim3 { x: 1, y: 1, z: 1 },
        }
    }

    /// Whether the ctas of clusters of several reach each other.
    #[must_use]
    pub const fn are_of_several(self) -> bool {
        matches!(self, Self::OfSeveral(_))
    }
}
