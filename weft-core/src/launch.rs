//! What a kernel is launched with: grid, block, arguments, dynamic shared memory, the options of the analysis and
//! what it may take.

use std::collections::BTreeMap;
use std::fmt;

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
    /// A one-dimensional extent.
    pub const fn line(x: u32) -> Self {
        Self { x, y: 1, z: 1 }
    }

    /// The most threads of a cta in each dimension (CUDA programming guide, compute capabilities from 2.0 on).
    pub const MAX_BLOCK: Self = Self { x: 1024, y: 1024, z: 64 };
    /// The most ctas of a grid in each dimension, likewise.
    pub const MAX_GRID: Self = Self { x: 2_147_483_647, y: 65_535, z: 65_535 };
    /// The most threads of a cta in all.
    pub const MAX_THREADS: u64 = 1024;
    /// The most ctas in all: so many can be told apart by number.
    pub const MAX_CTAS: u64 = u32::MAX as u64;

    /// The first dimension in which this is zero or exceeds what a device takes.
    pub fn misfit(self, most: Self) -> Option<Misfit> {
        [("x", self.x, most.x), ("y", self.y, most.y), ("z", self.z, most.z)]
            .into_iter()
            .find(|(_, given, most)| !(1..=*most).contains(given))
            .map(|(dimension, given, most)| Misfit { dimension, given, most })
    }

    /// The number of points.
    pub fn count(self) -> u64 {
        u64::from(self.x).saturating_mul(u64::from(self.y)).saturating_mul(u64::from(self.z))
    }

    /// The coordinates of the point with this linear index, x fastest.
    pub fn point(self, linear: u64) -> [u32; 3] {
        let (x, y) = (u64::from(self.x.max(1)), u64::from(self.y.max(1)));
        let narrow = |v: u64| u32::try_from(v).unwrap_or(u32::MAX);
        [narrow(linear % x), narrow(linear / x % y), narrow(linear / (x * y))]
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

/// An extent in one dimension that no device takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// `x`, `y` or `z`.
    pub dimension: &'static str,
    /// As given.
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

/// A value given for one kernel parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    /// A whole number; it must fit the parameter's type, signed or unsigned.
    Integer(i128),
    /// A floating-point number, rounded to the parameter's type.
    Float(f64),
    /// A pointer to a buffer of its own; of a structure its bytes.
    Buffer(Buffer),
    /// A structure, by what it holds.
    Fields(Fields),
}

impl Arg {
    /// This value where `earlier` was given before: fields are put over a structure's bytes and over earlier fields,
    /// anything else replaces it.
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

/// What a structure holds that is passed by value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fields {
    /// All of its bytes; `None`: what no field gives is open.
    pub bytes: Option<Vec<u8>>,
    /// Numbers and pointers by their first bytes, over the bytes.
    pub fields: BTreeMap<u64, Arg>,
}

/// The memory behind a pointer argument.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Buffer {
    /// The contents from the first byte on, little-endian; `None`: size and contents are open.
    pub contents: Option<Vec<u8>>,
}

/// How the results of atomics are understood (NFM'14 §4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Atomics {
    /// As `Abstract`; where that leaves the verdict open and counters are drawn from, as `Unique`, if that settles more.
    #[default]
    Auto,
    /// A result is an open value, and so is a read of a location that is accessed atomically.
    Abstract,
    /// Counters that only ever grow (or shrink) by a positive constant return values that never repeat.
    Unique,
    /// An atomic is a plain read-modify-write.
    Off,
}

/// Which barrier divergence is a defect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BarrierDivergence {
    /// All threads of the cta reach the same barriers with the same loop counters (ESOP'13 §3.2, B1 and B2).
    Cta,
    /// Only PTX's own rule for `.aligned` barriers.
    #[default]
    Warp,
    /// None.
    Off,
}

/// Which warp of a cta runs next: a way to try the checker itself. What is clean under one schedule is a defect under
/// none. All that is found is the same, unless a defective barrier ends the run early, or what is read while it is
/// written, or may be, decides where threads go, or a store at an open address makes what is read later unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Schedule {
    /// From the first warp to the last, each as far as it can.
    #[default]
    InOrder,
    /// From the last warp to the first, each as far as it can.
    Reverse,
    /// Before each access and barrier, the warp that has come to the fewest: all get ahead together.
    InTurn,
    /// As far as it can, the warp that was let go on last: the others stay behind as long as they can.
    Latest,
    /// Before accesses and barriers, any warp, by this seed.
    Random(u64),
}

/// Choices of the analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// Lanes of a warp run in lock step.
    pub warp_synchronous: bool,
    /// How results of atomics are understood.
    pub atomics: Atomics,
    /// Which barrier divergence is a defect.
    pub barrier_divergence: BarrierDivergence,
    /// Which warp runs next.
    pub schedule: Schedule,
    /// Whether all ctas are run even if the first ones are not clean: for those who accept findings, and so need to know
    /// of the others.
    pub past_findings: bool,
}

/// What a check may take before it gives up. Both are counted, not measured, so that a verdict is the same on every
/// machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limit {
    /// Instructions of all ctas and passes together, counted once a warp; what takes as long as several counts as many.
    /// A single cta may take an eighth of a limit beyond 2^26, and all of a smaller one up to 2^26.
    pub instructions: u64,
    /// Bytes that are kept about the kernel.
    pub memory: u64,
}

impl Limit {
    /// Instructions that one cta may run.
    pub const fn of_a_cta(self) -> u64 {
        let least = if self.instructions < CTA { self.instructions } else { CTA };
        if self.instructions / 8 > least { self.instructions / 8 } else { least }
    }
}

/// Instructions that one cta may run unless a check may run more than 2^29.
const CTA: u64 = 1 << 26;

impl Default for Limit {
    fn default() -> Self {
        Self { instructions: 1 << 29, memory: 1 << 30 }
    }
}

/// One launch configuration of a kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Launch {
    /// Threads per cta; `None`: the kernel's own `.reqntid` or `.maxntid`.
    pub block: Option<Dim3>,
    /// Ctas; `None`: one cta is checked and races between ctas are not examined.
    pub grid: Option<Dim3>,
    /// Bytes of dynamic shared memory; `None`: as many as the accesses need.
    pub shared: Option<u32>,
    /// Arguments by position; what is absent is open.
    pub args: BTreeMap<usize, Arg>,
    /// Choices of the analysis.
    pub options: Options,
    /// What the check may take.
    pub limit: Limit,
}
