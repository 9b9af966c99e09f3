//! The configuration of a launch: grid, block, arguments, dynamic shared memory, the options of the analysis and its
//! limits. Plain data that the later stages read.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

pub mod allocation;
pub mod requires;

pub use allocation::{Allocation, BufferMisfit, Within};
use requires::Requirement;

/// The most bytes of shared memory that a cta can have (CUDA programming guide, compute capability 9.0).
pub const MAX_SHARED: u64 = 227 * 1024;

/// Threads of a cta or ctas of a grid in x, y and z; each at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dim3 {
    /// Extent in x, the fastest running dimension.
    pub x: u32,
    /// Extent in y.
    pub y: u32,
    /// Extent in z.
    pub z: u32,
}

impl Dim3 {
    /// Returns the one-dimensional extent of `x` points.
    pub const fn line(x: u32) -> Self {
        Self { x, y: 1, z: 1 }
    }

    /// The largest extent of a cta in each dimension, in threads (CUDA programming guide, compute capabilities from 2.0
    /// on).
    pub const MAX_BLOCK: Self = Self { x: 1024, y: 1024, z: 64 };
    /// The largest extent of a grid in each dimension, in ctas (same source).
    pub const MAX_GRID: Self = Self { x: 2_147_483_647, y: 65_535, z: 65_535 };
    /// The most threads of a cta in total.
    pub const MAX_THREADS: u64 = 1024;
    /// The most ctas of a cluster (CUDA programming guide, "Thread Block Clusters": 8, and 16 on devices and for kernels
    /// that permit it).
    pub const MAX_CLUSTER: u64 = 16;
    /// The most ctas of a grid in total: a cta is identified by a 32-bit number.
    pub const MAX_CTAS: u64 = u32::MAX as u64;

    /// Returns the first dimension that is zero or larger than in `most`; `None` if this extent fits a device.
    pub fn misfit(self, most: Self) -> Option<Misfit> {
        [("x", self.x, most.x), ("y", self.y, most.y), ("z", self.z, most.z)]
            .into_iter()
            .find(|(_, given, most)| !(1..=*most).contains(given))
            .map(|(dimension, given, most)| Misfit { dimension, given, most })
    }

    /// Returns the number of points: the product of the dimensions, saturating.
    pub fn count(self) -> u64 {
        u64::from(self.x).saturating_mul(u64::from(self.y)).saturating_mul(u64::from(self.z))
    }

    /// Returns the coordinates of the point with this linear index, x fastest.
    pub fn point(self, linear: u64) -> [u32; 3] {
        let (x, y) = (u64::from(self.x.max(1)), u64::from(self.y.max(1)));
        let narrow = |v: u64| u32::try_from(v).unwrap_or(u32::MAX);
        [narrow(linear % x), narrow(linear / x % y), narrow(linear / (x * y))]
    }

    /// Returns the linear index of the point with these coordinates, saturating: the inverse of [`Self::point`].
    pub fn index(self, at: [u32; 3]) -> u64 {
        let [x, y, z] = at.map(u64::from);
        let row = z.saturating_mul(self.y.into()).saturating_add(y);
        row.saturating_mul(self.x.into()).saturating_add(x)
    }
}

impl fmt::Display for Dim3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.y, self.z) {
            (1, 1) => write!(f, "{}", self.x),
            (y, 1) => write!(f, "{}x{y}", self.x),
            (y, z) => write!(f, "{}x{y}x{z}", self.x),
        }
    }
}

/// What a launch states about a block or a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dimensions {
    /// Whatever the kernel, the devices and the requirements of the launch permit.
    Any,
    /// This size.
    Is(Dim3),
}

impl Dimensions {
    /// The word for [`Self::Any`] in configurations and reports.
    pub const ANY: &str = "any";

    /// Returns the size; `None` if it can be any.
    pub const fn known(self) -> Option<Dim3> {
        match self {
            Self::Any => None,
            Self::Is(size) => Some(size),
        }
    }
}

impl From<Dim3> for Dimensions {
    fn from(size: Dim3) -> Self {
        Self::Is(size)
    }
}

impl fmt::Display for Dimensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str(Self::ANY),
            Self::Is(size) => size.fmt(f),
        }
    }
}

/// An extent in one dimension that no device takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// `x`, `y` or `z`.
    pub dimension: &'static str,
    /// The value as given.
    pub given: u32,
    /// The most that a device takes; the least is 1.
    pub most: u32,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dimension, given, most } = self;
        write!(f, "{given} in {dimension}, where a device takes 1 to {most}")
    }
}

/// The extents in one dimension that a proof holds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExtentBound {
    /// This one.
    Is(u32),
    /// Every one from 1 up to this.
    UpTo(u32),
}

impl ExtentBound {
    /// Returns the greatest extent.
    pub const fn most(self) -> u32 {
        match self {
            Self::Is(extent) | Self::UpTo(extent) => extent,
        }
    }
}

/// A value given for one kernel parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    /// A whole number; it must fit the parameter's type, signed or unsigned.
    Integer(i128),
    /// A floating-point number, rounded to the parameter's type.
    Float(f64),
    /// A pointer to a buffer of its own; for a structure parameter, the bytes of the structure.
    Buffer(Buffer),
    /// A structure, given by its contents.
    Fields(Fields),
    /// A pointer into one of the buffers that the launch states.
    Within(Within),
    /// A tensor map; for a pointer parameter, a pointer to one.
    Tensor(TensorBox),
}

impl Arg {
    /// Returns this value combined with the `earlier` one of the same parameter: fields are laid over a structure's
    /// bytes and over earlier fields, any other value replaces the earlier one.
    #[must_use]
    pub fn over(self, earlier: Option<&Self>) -> Self {
        let Self::Fields(field) = self else { return self };
        let (bytes, mut fields) = match earlier {
            Some(Self::Fields(earlier)) => (earlier.bytes.clone(), earlier.fields.clone()),
            Some(Self::Buffer(Buffer { contents })) => (contents.clone(), BTreeMap::new()),
            _ => (None, BTreeMap::new()),
        };
        fields.extend(field.fields);
        Self::Fields(Fields { bytes: field.bytes.or(bytes), fields })
    }
}

/// The contents of a structure that is passed by value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fields {
    /// All of its bytes; `None`: bytes that no field gives are open.
    pub bytes: Option<Vec<u8>>,
    /// Numbers, pointers and tensor maps, keyed by the offset of their first byte in the structure; they take precedence
    /// over `bytes`.
    pub fields: BTreeMap<u64, Arg>,
}

impl Fields {
    /// Returns the byte at an offset as far as `bytes` give it: those of a tensor map are open, as what a driver writes
    /// into one is not known.
    #[must_use]
    pub fn byte(&self, at: u64) -> Option<u8> {
        let byte = *self.bytes.as_deref()?.get(usize::try_from(at).ok()?)?;
        let mut near = self.fields.range(at.saturating_sub(TensorBox::MAP - 1)..=at);
        let is_in_map = near.any(|(_, field)| matches!(field, Arg::Tensor(_)));
        (!is_in_map).then_some(byte)
    }
}

/// What is stated of a tensor map: the box that a tensor copy moves with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TensorBox {
    /// Bytes of the box in shared memory. A copy of four rows (`.tile::gather4`, `.tile::scatter4`) moves four boxes.
    pub bytes: u32,
}

impl TensorBox {
    /// Bytes of a tensor map.
    pub const MAP: u64 = 128;
    /// The alignment of a tensor map.
    pub const MAP_ALIGN: u64 = 64;

    /// Returns a box of this many bytes; `None` if no box has so many: a multiple of 16 that fits shared memory.
    pub fn of(bytes: u64) -> Option<Self> {
        let is_possible = bytes > 0 && bytes.is_multiple_of(16) && bytes <= MAX_SHARED;
        u32::try_from(bytes).ok().filter(|_| is_possible).map(|bytes| Self { bytes })
    }
}

/// The memory behind a pointer argument.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Buffer {
    /// The contents from the first byte on, little-endian; `None`: size and contents are open.
    pub contents: Option<Vec<u8>>,
}

/// How the results of atomics are modelled (NFM'14 §4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Atomics {
    /// Like `Abstract`. If that leaves the verdict open and the kernel has counters, `Unique` is tried as well and kept
    /// where it settles more.
    #[default]
    Auto,
    /// The result of an atomic is an open value, and so is a read of a location that is accessed atomically.
    Abstract,
    /// Counters that only grow, or only shrink, by a positive constant return values that never repeat.
    Unique,
    /// An atomic is a plain read-modify-write.
    Off,
}

/// Which kind of barrier divergence is a defect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BarrierDivergence {
    /// All threads of the cta reach the same barriers with the same loop counters (ESOP'13 §3.2, B1 and B2).
    Cta,
    /// Only divergence that breaks PTX's own rule for `.aligned` barriers.
    #[default]
    Warp,
    /// The rule for `.aligned` barriers is not checked. Lanes of one warp that wait at different barriers remain a
    /// defect.
    Off,
}

/// Which warp of a cta runs next; used to test the checker itself. A launch that is clean under one schedule is not a
/// defect under any other. Reports are the same under all schedules, except in three cases: a defective barrier ends
/// the run early; a value that is, or might be, written while it is read decides the control flow; a store at an open
/// address makes later reads unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Schedule {
    /// Warps from first to last, each until it cannot go on.
    #[default]
    InOrder,
    /// Warps from last to first, each until it cannot go on.
    Reverse,
    /// Before each access and barrier, the warp that has reached the fewest of them: all warps advance together.
    InTurn,
    /// The warp that became runnable most recently, until it cannot go on: the other warps stay behind as long as
    /// possible.
    Latest,
    /// Before accesses and barriers, a random warp; the value is the seed.
    Random(u64),
}

/// Options of the analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// Lanes of a warp run in lock step.
    pub warp_synchronous: bool,
    /// How results of atomics are modelled.
    pub atomics: Atomics,
    /// Which kind of barrier divergence is a defect.
    pub barrier_divergence: BarrierDivergence,
    /// Which warp runs next.
    pub schedule: Schedule,
    /// Whether all ctas are run even if the first ones are not clean. Needed where findings are accepted, so that the
    /// findings of the other ctas are known.
    pub past_findings: bool,
    /// The number of concrete inputs that an open verdict is tried with, at most 1024; 0: none.
    pub witness: u32,
    /// Whether the host might pass every value of the arguments, and every content of the buffers, that the launch
    /// leaves open: a race for one of them is then a defect.
    pub any_inputs: bool,
}

/// The resources that a check can use before it gives up. Both are counted, not measured, so that a verdict is the same
/// on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limit {
    /// Instructions of all ctas and passes together, counted once per warp; an instruction that takes as long as
    /// several counts as several. A single cta can use an eighth of the limit or 2^26 instructions, whichever is more,
    /// but not more than the limit.
    pub instructions: u64,
    /// Bytes that the check keeps about the kernel.
    pub memory: u64,
}

impl Limit {
    /// Returns the lesser of both limits of instructions, and of both limits of memory.
    #[must_use]
    pub fn at_most(self, other: Self) -> Self {
        Self {
            instructions: self.instructions.min(other.instructions),
            memory: self.memory.min(other.memory),
        }
    }

    /// Returns the number of instructions that one cta can run.
    pub const fn of_a_cta(self) -> u64 {
        let least = if self.instructions < CTA { self.instructions } else { CTA };
        if self.instructions / 8 > least { self.instructions / 8 } else { least }
    }
}

/// Instructions that one cta can run unless the limit of the check is larger than 2^29.
const CTA: u64 = 1 << 26;

impl Default for Limit {
    fn default() -> Self {
        Self { instructions: 1 << 29, memory: 1 << 30 }
    }
}

/// One launch configuration of a kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Launch {
    /// Threads per cta; `None`: the kernel's own `.reqntid` applies, or every block.
    pub block: Option<Dimensions>,
    /// Ctas of the grid; `None`: every grid, or a few ctas if there is no proof.
    pub grid: Option<Dimensions>,
    /// Ctas of a cluster; `None`: as many as the kernel states by `.reqnctapercluster`, or one.
    pub cluster: Option<Dim3>,
    /// Bytes of dynamic shared memory; `None`: as many as the accesses need.
    pub shared: Option<u32>,
    /// Arguments by position; an absent argument is open.
    pub args: BTreeMap<usize, Arg>,
    /// The buffers that [`Arg::Within`] points into, by name. They do not overlap each other, nor anything else.
    pub buffers: BTreeMap<String, Allocation>,
    /// The names in the PTX of initialised variables of the module that might hold other values at the launch.
    pub changed: BTreeSet<String>,
    /// The names of the parameters in the kernel's source, by position; empty if they are not known. Requirements can use
    /// them beside those of the PTX, and reports show them.
    pub names: Vec<String>,
    /// Conditions that hold of every launch that is meant. They restrict what the launch leaves open; together with what
    /// it states, they must be satisfiable.
    pub requires: Vec<Requirement>,
    /// Choices of the analysis.
    pub options: Options,
    /// The resources that the check can use.
    pub limit: Limit,
}
