//! Looks for a block with which a kernel is clean whose block nobody states.

use super::super::{CheckRequest, every_input};
use super::{CleanSetting, clean, is_defective};
use crate::emulate::{self, is_given};
use crate::explain::witness::{ChosenInput, setting};
use crate::flow::Program;
use crate::launch::{Dim3, Dimensions, Launch};
use crate::ptx::Function;
use crate::symbolic::{ProofBudget, ProofScope};

/// The blocks of one dimension that are tried, the most ordinary first.
const LINES: [u32; 6] = [256, 128, 64, 32, 512, 1024];
/// The blocks of two dimensions.
const PLANES: [[u32; 2]; 6] = [[32, 8], [16, 16], [32, 4], [8, 8], [32, 32], [32, 1]];
/// The blocks of three dimensions.
const SOLIDS: [[u32; 3]; 3] = [[8, 8, 4], [4, 4, 4], [32, 4, 2]];

/// The most questions of all attempts that the solver leaves open.
const MOST_QUESTIONS: u32 = 3;

/// Returns an ordinary block with which the kernel is clean. `defective`: an input with which the kernel has a defect.
pub(super) fn find(
    request: &CheckRequest<'_>,
    program: &Program,
    defective: Option<&ChosenInput>,
) -> Option<CleanSetting> {
    let (kernel, launch) = (request.linked.kernel, request.launch);
    // If no number is passed, a run mostly leaves nothing open.
    let is_run = passes_only_pointers(program, launch);
    let mut questions = MOST_QUESTIONS;
    for block in blocks(program, kernel) {
        let input = ChosenInput { block: Some(block), ..defective.cloned().unwrap_or_default() };
        if defective.is_some() && is_defective(request, &input.launch(program, launch)) {
            continue;
        }
        let concrete = Launch { block: Some(Dimensions::Is(block)), ..launch.clone() };
        let budget = (None, ProofBudget::attempt(questions > 0));
        let scope = ProofScope::Kernel;
        if !is_run && every_input::prove(program, (kernel, &concrete), scope, budget).is_err() {
            questions = questions.saturating_sub(1);
            continue;
        }
        if let Some(report) = clean(request, &concrete) {
            return Some(CleanSetting { line: setting("block", block), report });
        }
    }
    None
}

fn passes_only_pointers(program: &Program, launch: &Launch) -> bool {
    let pointers = emulate::pointers(program, launch);
    (0..program.params.len()).all(|at| {
        pointers.contains(&at) || program.params[at].is_scalar && is_given(program, launch, at)
    })
}

/// Returns the blocks to try: ordinary ones in the dimensions that the kernel distinguishes, within its bound.
pub(in super::super) fn blocks(program: &Program, kernel: &Function) -> Vec<Dim3> {
    let most = kernel.maxntid.map_or(Dim3::MAX_THREADS, |[x, y, z]| Dim3 { x, y, z }.count());
    let line = || LINES.map(Dim3::line).to_vec();
    let all = match [0, 1, 2].map(|dimension| program.distinguishes_threads(dimension)) {
        [_, false, false] => line(),
        [_, true, false] => PLANES.map(|[x, y]| Dim3 { x, y, z: 1 }).to_vec(),
        _ => SOLIDS.map(|[x, y, z]| Dim3 { x, y, z }).to_vec(),
    };
    all.into_iter().filter(|block| block.count() <= most).collect()
}
