//! Looks for a block with which a kernel is clean whose block nobody states.

use super::{CleanSetting, clean, is_defective};
use crate::check::{CheckRequest, chosen_sizes, every_input};
use crate::emulate::{self, is_given};
use crate::explain::witness::{ChosenInput, setting};
use crate::flow::Program;
use crate::launch::{Dimensions, Launch};
use crate::symbolic::{Gap, ProofBudget, ProofScope};

/// The steps of all attempts to prove the kernel with a block.
const EFFORT: u32 = 150_000;
/// The most steps of an attempt to prove with a block that two accesses do not overlap. A proof with a stated block mostly
/// takes few, and an attempt that fails takes all.
const EFFORT_OF_PAIR: u32 = 3_000;
/// The most questions of all attempts that the solver leaves open.
const MOST_QUESTIONS: u32 = 3;

/// Returns an ordinary block with which the kernel is clean. `gap`: where the proof for every block ended. `defective`: an
/// input with which the kernel has a defect.
pub(super) fn find(
    request: &CheckRequest<'_>,
    program: &Program,
    gap: Gap,
    defective: Option<&ChosenInput>,
) -> Option<CleanSetting> {
    let (kernel, launch) = (request.linked.kernel, request.launch);
    // If no number is passed, a run mostly leaves nothing open.
    let is_run = passes_only_pointers(program, launch);
    let (mut effort, mut questions) = (EFFORT, MOST_QUESTIONS);
    for block in chosen_sizes::ordinary_blocks(program, kernel) {
        if effort == 0 {
            break;
        }
        let input = ChosenInput { block: Some(block), ..defective.cloned().unwrap_or_default() };
        if defective.is_some() && is_defective(request, &input.launch(program, launch)) {
            continue;
        }
        let concrete = Launch { block: Some(Dimensions::Is(block)), ..launch.clone() };
        let mut is_proved = |scope, most: u32| {
            let budget = (None, ProofBudget::attempt(most.min(effort), questions > 0));
            let proof = every_input::prove(program, (kernel, &concrete), scope, budget);
            if let Err(unproved) = &proof {
                effort = effort.saturating_sub(unproved.spent);
                questions = questions.saturating_sub(1);
            }
            proof.is_ok()
        };
        if !is_run {
            let is_gap_closed = match gap {
                Gap::Pair(a, b) => is_proved(ProofScope::Pair(a, b), EFFORT_OF_PAIR),
                _ => true,
            };
            if !is_gap_closed || !is_proved(ProofScope::Kernel, EFFORT) {
                continue;
            }
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
