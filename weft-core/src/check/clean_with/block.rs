//! Looks for a block with which a kernel is clean whose block nobody states.

use super::{CleanSetting, clean, is_defective};
use crate::check::{CheckRequest, chosen_sizes, every_input};
use crate::emulate::{self, is_given};
use crate::explain::witness::{ChosenInput, setting};
use crate::flow::Program;
use crate::launch::{Dimensions, Launch};
use crate::symbolic::{ProofBudget, ProofScope};

/// The steps of the attempt to prove the kernel with one block.
const EFFORT: u32 = 100_000;
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
    for block in chosen_sizes::ordinary_blocks(program, kernel) {
        let input = ChosenInput { block: Some(block), ..defective.cloned().unwrap_or_default() };
        if defective.is_some() && is_defective(request, &input.launch(program, launch)) {
            continue;
        }
        let concrete = Launch { block: Some(Dimensions::Is(block)), ..launch.clone() };
        let budget = (None, ProofBudget::attempt(EFFORT, questions > 0));
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
