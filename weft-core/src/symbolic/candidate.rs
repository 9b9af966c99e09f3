//! Launches with which two threads might race: what a model says of the values that a host chooses.

use std::collections::BTreeMap;

use super::atom::Atom;
use super::launched::LaunchedValues;
use super::solver::Model;
use crate::flow::Program;
use crate::launch::ExtentBound;

/// A launch with which a kernel might race. Whether it does, only a run can tell: contents of memory, and whatever else
/// the symbolic stage does not follow, might rule it out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CandidateLaunch {
    /// The extents of the block.
    pub(crate) block: [u32; 3],
    /// The extents of the grid.
    pub(crate) grid: [u32; 3],
    /// The bits of arguments and fields, by position; fields are numbered after the last parameter. Others do not matter.
    pub(crate) arguments: BTreeMap<usize, u64>,
}

impl CandidateLaunch {
    /// Returns the launch of a model.
    pub(super) fn of(program: &Program, launched: &LaunchedValues, model: &Model) -> Self {
        let extents = |extents: [ExtentBound; 3], atom: fn(u8) -> Atom| {
            let mut parts = [1; 3];
            for ((part, extent), own) in (0_u8..).zip(extents).zip(&mut parts) {
                *own = match extent {
                    ExtentBound::Is(number) => number,
                    ExtentBound::UpTo(most) => {
                        u32::try_from(model.value(atom(part))).unwrap_or(most).clamp(1, most)
                    }
                };
            }
            parts
        };
        let place = |(offset, size): (u64, u8)| {
            let params = program.params.iter().map(|param| (param.offset, param.size));
            let fields = program.fields.iter().map(|field| (field.offset, field.size));
            params.chain(fields).position(|own| own == (offset, u64::from(size)))
        };
        let argument = |(atom, value): (Atom, u64)| match atom {
            Atom::Argument(offset, size) => Some((place((offset, size))?, value)),
            _ => None,
        };
        Self {
            block: extents(launched.block, Atom::Ntid),
            grid: extents(launched.grid, Atom::Nctaid),
            arguments: model.values().filter_map(argument).collect(),
        }
    }
}
