//! Looks for a block with which a kernel is clean whose block nobody states: whether the host launches it with that block is
//! then all that is open.

use super::find::Effort;
use super::linked::LinkedKernel;
use super::{CheckError, CheckRequest, CheckedProgram, applied, every_input, prove};
use crate::emulate::{self, is_given};
use crate::explain::doubts;
use crate::explain::witness::ChosenInput;
use crate::finding::{Code, Report, Verdict};
use crate::flow::Program;
use crate::launch::{Dim3, Dimensions, Launch, Limit};
use crate::ptx::Function;
use crate::symbolic::{Gap, ProofBudget};

/// The resources of the check with a block, if those of the launch are not less.
const CONFIRMATION: Limit = Limit { instructions: 1 << 18, memory: 1 << 28 };

/// The blocks of one dimension that are tried, the most ordinary first.
const LINES: [u32; 6] = [256, 128, 64, 32, 512, 1024];
/// The blocks of two dimensions.
const PLANES: [[u32; 2]; 6] = [[32, 8], [16, 16], [32, 4], [8, 8], [32, 32], [32, 1]];
/// The blocks of three dimensions.
const SOLIDS: [[u32; 3]; 3] = [[8, 8, 4], [4, 4, 4], [32, 4, 2]];

/// The most questions of all attempts that the solver leaves open.
const MOST_QUESTIONS: u32 = 3;

/// Says in an open report with which block the kernel is clean, if nobody states the block and some ordinary one is.
/// `gaps`: where the proof for every block ended. `defective`: an input with which the kernel has a defect.
pub(super) fn suggest(
    request: &CheckRequest<'_>,
    gaps: &[Gap],
    defective: Option<&ChosenInput>,
    report: &mut Report,
) -> Result<(), CheckError> {
    let LinkedKernel { module, kernel, .. } = *request.linked;
    let program = request.linked.program(request.launch)?;
    let launch = &*applied(program, kernel, request.launch)?;
    let depends_on_block = |gap: &Gap| matches!(gap, Gap::Divergence(_) | Gap::Pair(..));
    let is_stated = launch.block.is_some() || report.block.is_some();
    if is_stated || gaps.is_empty() || !gaps.iter().all(depends_on_block) {
        return Ok(());
    }
    let limit = launch.limit.at_most(CONFIRMATION);
    let launch = Launch { limit, ..launch.clone() };
    // If no number is passed, a run mostly leaves nothing open.
    let is_run = passes_only_pointers(program, &launch);
    let mut questions = MOST_QUESTIONS;
    for block in blocks(program, kernel) {
        let input = ChosenInput { block: Some(block), ..defective.cloned().unwrap_or_default() };
        if defective.is_some() && is_defective(request, &input.launch(program, &launch)) {
            continue;
        }
        let concrete = Launch { block: Some(Dimensions::Is(block)), ..launch.clone() };
        let budget = (None, ProofBudget::attempt(questions > 0));
        if !is_run && every_input::prove(program, (kernel, &concrete), None, budget).is_err() {
            questions = questions.saturating_sub(1);
            continue;
        }
        let stated =
            CheckRequest { launch: &concrete, effort: Effort::Verdict, outside: None, ..*request };
        let Ok(CheckedProgram { report: confirmed, .. }) = prove(&stated) else {
            continue;
        };
        if confirmed.verdict() == Verdict::Clean && !confirmed.is_unfit() {
            let is_it = |code: Code| matches!(code, Code::NoLaunch | Code::RaceForInput);
            if let Some(finding) = report.findings.iter_mut().find(|own| is_it(own.code)) {
                doubts::clean_with(finding, module.name(kernel.name), block, &confirmed);
            }
            return Ok(());
        }
    }
    Ok(())
}

/// Whether a run of a launch finds a defect.
fn is_defective(request: &CheckRequest<'_>, launch: &Launch) -> bool {
    let trial = CheckRequest { launch, effort: Effort::Trial, outside: None, ..*request };
    let found = prove(&trial);
    found.is_ok_and(|found| found.report.verdict() == Verdict::Defect)
}

fn passes_only_pointers(program: &Program, launch: &Launch) -> bool {
    let pointers = emulate::pointers(program, launch);
    (0..program.params.len()).all(|at| {
        pointers.contains(&at) || program.params[at].is_scalar && is_given(program, launch, at)
    })
}

/// Returns the blocks to try: ordinary ones in the dimensions that the kernel distinguishes, within its bound.
pub(super) fn blocks(program: &Program, kernel: &Function) -> Vec<Dim3> {
    let most = kernel.maxntid.map_or(Dim3::MAX_THREADS, |[x, y, z]| Dim3 { x, y, z }.count());
    let line = || LINES.map(Dim3::line).to_vec();
    let all = match [0, 1, 2].map(|dimension| program.distinguishes_threads(dimension)) {
        [_, false, false] => line(),
        [_, true, false] => PLANES.map(|[x, y]| Dim3 { x, y, z: 1 }).to_vec(),
        _ => SOLIDS.map(|[x, y, z]| Dim3 { x, y, z }).to_vec(),
    };
    all.into_iter().filter(|block| block.count() <= most).collect()
}
