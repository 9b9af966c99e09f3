//! Sizes to run a kernel with where nobody states them: a block within the kernel's bound, and a grid.

use crate::flow::{Program, Special};
use crate::launch::Dim3;
use crate::ptx::Function;

/// The threads of a row of a guessed block of several dimensions.
const ROW: u32 = 32;
/// The blocks of one dimension that are tried, the most ordinary first.
const LINES: [u32; 6] = [256, 128, 64, 32, 512, 1024];
/// The blocks of two dimensions.
const PLANES: [[u32; 2]; 6] = [[32, 8], [16, 16], [32, 4], [8, 8], [32, 32], [32, 1]];
/// The blocks of three dimensions.
const SOLIDS: [[u32; 3]; 3] = [[8, 8, 4], [4, 4, 4], [32, 4, 2]];
/// The ctas of an ordinary grid in each dimension that the kernel distinguishes.
const CTAS: u32 = 2;

/// Returns the block to guess for a kernel that states only a bound: as many threads as it permits, in the dimensions that
/// the bound names, or else in those that the kernel distinguishes.
pub(super) fn block(program: &Program, most: Dim3) -> Dim3 {
    if (most.y, most.z) != (1, 1) && most.count() <= Dim3::MAX_THREADS {
        return most;
    }
    let threads = u32::try_from(most.count().min(Dim3::MAX_THREADS)).expect("at most 1024");
    let is_split = threads >= 2 * ROW && threads.is_multiple_of(ROW);
    let rows = if is_split { threads / ROW } else { 1 };
    match [0, 1, 2].map(|dimension| program.distinguishes_threads(dimension)) {
        [_, false, false] => Dim3::line(threads),
        [false, true, false] => Dim3 { x: 1, y: threads, z: 1 },
        _ if !is_split => Dim3::line(threads),
        [_, false, true] => Dim3 { x: ROW, y: 1, z: rows },
        [false, true, true] => Dim3 { x: 1, y: ROW, z: rows },
        [true, true, true] if rows % 2 == 0 && rows > 2 => Dim3 { x: ROW, y: rows / 2, z: 2 },
        [true, true, _] => Dim3 { x: ROW, y: rows, z: 1 },
    }
}

/// Returns a grid with several clusters in each dimension whose index the kernel reads; one cluster if it reads none.
pub(super) fn grid(program: &Program) -> Dim3 {
    let Dim3 { x, y, z } = program.clusters.size();
    let reads = |at| program.reads(Special::Ctaid(at)) || program.reads(Special::Clusterid(at));
    let [x, y, z] =
        [(0, x), (1, y), (2, z)].map(|(at, own)| if reads(at) { CTAS * own } else { own });
    Dim3 { x, y, z }
}

/// Returns ordinary blocks with the dimensions that a kernel distinguishes, within its bound.
pub(super) fn ordinary_blocks(program: &Program, kernel: &Function) -> Vec<Dim3> {
    let most = kernel.maxntid.map_or(Dim3::MAX_THREADS, |[x, y, z]| Dim3 { x, y, z }.count());
    let line = || LINES.map(Dim3::line).to_vec();
    let all = match [0, 1, 2].map(|dimension| program.distinguishes_threads(dimension)) {
        [_, false, false] => line(),
        [_, true, false] => PLANES.map(|[x, y]| Dim3 { x, y, z: 1 }).to_vec(),
        _ => SOLIDS.map(|[x, y, z]| Dim3 { x, y, z }).to_vec(),
    };
    all.into_iter().filter(|block| block.count() <= most).collect()
}
