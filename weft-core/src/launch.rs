//! What a kernel is launched with: grid, block, arguments, dynamic shared memory and the options of the analysis.

use std::collections::BTreeMap;
use std::fmt;

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

/// A value given for one kernel parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    /// A whole number; it must fit the parameter's type, signed or unsigned.
    Integer(i128),
    /// A floating-point number, rounded to the parameter's type.
    Float(f64),
    /// A pointer to a buffer of its own.
    Buffer(Buffer),
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
}

/// One launch configuration of a kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Launch {
    /// Threads per cta; `None`: the kernel's own `.reqntid` or `.maxntid`.
    pub block: Option<Dim3>,
    /// Ctas; `None`: one cta is checked and races between ctas are not examined.
    pub grid: Option<Dim3>,
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// Arguments by position; what is absent is open.
    pub args: BTreeMap<usize, Arg>,
    /// Choices of the analysis.
    pub options: Options,
}
