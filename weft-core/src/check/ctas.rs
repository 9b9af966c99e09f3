//! Which ctas of a launch are run: all up to a limit; beyond it corners and their neighbours.

use crate::emulate::Cta;
use crate::launch::Dim3;

/// Up to this many ctas, all are run.
pub(super) const ALL: u64 = 64;

/// The ctas to run, ascending by linear index.
pub(super) fn select(grid: Dim3) -> Vec<Cta> {
    if grid.count() <= ALL {
        let index =
            |at: u64| Cta { at: grid.point(at), index: u32::try_from(at).unwrap_or(u32::MAX) };
        return (0..grid.count()).map(index).collect();
    }
    let ends = |extent: u32| {
        let mut ends = vec![0, 1, extent.saturating_sub(2), extent - 1];
        ends.retain(|at| *at < extent);
        ends.sort_unstable();
        ends.dedup();
        ends
    };
    let mut ctas = Vec::new();
    for z in ends(grid.z) {
        for y in ends(grid.y) {
            for x in ends(grid.x) {
                let index = u64::from(x)
                    + u64::from(grid.x) * (u64::from(y) + u64::from(grid.y) * u64::from(z));
                ctas.push(Cta { at: [x, y, z], index: u32::try_from(index).unwrap_or(u32::MAX) });
            }
        }
    }
    ctas
}
