//! Launches and arguments for runs that are compared with a proof.

use std::collections::BTreeMap;

use weft_core::finding::{Assumption, ProvedFor, Report};
use weft_core::launch::{Arg, Dim3, Dimensions, ExtentBound, Launch};

use crate::dice::Dice;

const EXTENTS: [u32; 12] = [1, 2, 3, 4, 7, 16, 31, 32, 33, 64, 65, 96];
const WARPS: [u32; 5] = [32, 64, 96, 128, 256];
const GRIDS: [u32; 4] = [1, 2, 3, 5];
const SMALL: [u32; 16] = [0, 1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 32, 33, 64, 65, 100];
const EXTREME: [u32; 12] = [
    u32::MAX,
    u32::MAX - 1,
    u32::MAX - 31,
    1 << 31,
    (1 << 31) - 1,
    (1 << 31) + 1,
    1 << 30,
    1 << 28,
    1 << 16,
    (1 << 16) - 1,
    (1 << 16) + 1,
    1 << 27,
];

/// What the sampled arguments have to be, for a proof to be about them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// So small that no index wraps around.
    pub(crate) is_small: bool,
    pub(crate) is_nonzero: bool,
}

/// A launch that nothing is proved of.
pub(crate) struct AnyLaunch(Launch);

impl AnyLaunch {
    pub(crate) fn launch(self) -> Launch {
        self.0
    }
}

/// Returns the extents that a report states: it counts dimensions, and every extent of them is meant.
fn in_words(bounds: [ExtentBound; 3]) -> [ExtentBound; 3] {
    let last = bounds.iter().rposition(|bound| matches!(bound, ExtentBound::UpTo(_)));
    std::array::from_fn(|at| match (bounds[at], last) {
        (ExtentBound::Is(_), Some(last)) if at < last => ExtentBound::UpTo(u32::MAX),
        (bound, _) => bound,
    })
}

impl Sample {
    /// What the arguments have to be for a proof that a report is of.
    pub(crate) fn of(report: &Report) -> Self {
        let takes = |wanted: &Assumption| report.assumptions.contains(wanted);
        Self {
            is_small: takes(&Assumption::UnwrappedIndices),
            is_nonzero: takes(&Assumption::NonzeroDivisors),
        }
    }

    /// Returns a launch with ordinary arguments.
    pub(crate) fn any(dice: &mut Dice) -> AnyLaunch {
        let sample = Self { is_small: true, is_nonzero: false };
        let extents = [ExtentBound::UpTo(64), ExtentBound::UpTo(2), ExtentBound::Is(1)];
        AnyLaunch(
            sample.within(dice, ProvedFor { block: extents, grid: extents, of_whole_warps: false }),
        )
    }

    /// Returns a launch that a proof is about.
    pub(crate) fn within(self, dice: &mut Dice, proved: ProvedFor) -> Launch {
        // What a proof says of two dimensions holds for every extent of both.
        let (block, grid) = (in_words(proved.block), in_words(proved.grid));
        let mut extent = |bound: ExtentBound, all: &[u32]| match bound {
            ExtentBound::Is(only) => only,
            ExtentBound::UpTo(most) => dice.pick(all).min(most),
        };
        let [x, y, z] = block;
        let x = extent(x, if proved.of_whole_warps { &WARPS } else { &EXTENTS });
        // Few threads in other dimensions, so that no block has more than 1024.
        let (y, z) = (extent(y, &EXTENTS[..6]).min(1024 / x), extent(z, &EXTENTS[..1]));
        let block = Dim3 { x, y: y.max(1), z };
        let [x, y, z] = grid.map(|bound| extent(bound, &GRIDS));
        let grid = Dim3 { x, y: y.min(3), z };
        let args = (2..5).map(|at| (at, Arg::Integer(i128::from(self.argument(dice)))));
        let args: BTreeMap<usize, Arg> = args.collect();
        let [block, grid] = [block, grid].map(|size| Some(Dimensions::Is(size)));
        Launch { block, grid, args, ..Launch::default() }
    }

    fn argument(self, dice: &mut Dice) -> u32 {
        let value =
            if !self.is_small && dice.chance(40) { dice.pick(&EXTREME) } else { dice.pick(&SMALL) };
        if self.is_nonzero { value.max(1) } else { value }
    }
}
