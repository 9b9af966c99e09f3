//! The variables of requirements: arguments and the extents of block and grid.

use std::fmt;

use crate::launch::Dim3;

/// A dimension of a block or grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names are CUDA's")]
pub enum Axis {
    X,
    Y,
    Z,
}

impl Axis {
    /// All dimensions, the fastest running first.
    pub const ALL: [Self; 3] = [Self::X, Self::Y, Self::Z];

    /// Returns the extent in this dimension.
    pub const fn of(self, size: Dim3) -> u32 {
        match self {
            Self::X => size.x,
            Self::Y => size.y,
            Self::Z => size.z,
        }
    }

    /// Returns its number in PTX's vectors, from 0.
    pub(crate) const fn number(self) -> u8 {
        match self {
            Self::X => 0,
            Self::Y => 1,
            Self::Z => 2,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::X => "x",
            Self::Y => "y",
            Self::Z => "z",
        }
    }
}

/// What the value of a condition depends on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LaunchVariable {
    /// An argument, by the name of the parameter in the source or in the PTX. A launch that a kernel is checked under has none: names are
    /// replaced by positions.
    Named(String),
    /// An argument, by its position, from 0.
    Argument(usize),
    /// Threads of a cta in one dimension.
    Block(Axis),
    /// Ctas of the grid in one dimension.
    Grid(Axis),
}

impl LaunchVariable {
    /// Returns the extent of block or grid with this name, such as `block.x`; `None` for other names.
    pub fn extent(name: &str) -> Option<Self> {
        Self::extents().find(|extent| extent.to_string() == name)
    }

    /// Returns all extents of block and grid.
    pub fn extents() -> impl Iterator<Item = Self> {
        Axis::ALL.map(Self::Block).into_iter().chain(Axis::ALL.map(Self::Grid))
    }
}

impl fmt::Display for LaunchVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::Argument(position) => write!(f, "#{position}"),
            Self::Block(axis) => write!(f, "block.{}", axis.name()),
            Self::Grid(axis) => write!(f, "grid.{}", axis.name()),
        }
    }
}
