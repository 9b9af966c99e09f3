//! The search for a witness: tries an open verdict with a few concrete inputs, to find a race or a defective barrier
//! that occurs with one of them.
//!
//! [`open`] finds the inputs that a launch leaves open and what the kernel uses them for, [`roles`] does so for numbers,
//! and [`values`] chooses a value for each, ordinary ones first. A trial is a complete check under the launch with these
//! values, so that the launch that a finding names has this finding. [`reduce`] then leaves open again what the defect
//! does not depend on.
//!
//! That nothing is found means nothing. A trial counts only if no other finding shows that its input is not one that
//! the kernel is meant for: an access out of bounds, say, of a buffer whose size the search has chosen. A defect counts
//! only if nothing is open about its instructions.

mod open;
mod reduce;
mod roles;
mod values;

use std::collections::BTreeSet;

use super::{CheckError, CheckRequest, key, link, prove, request};
use crate::explain::witness::{self, ChosenInput};
use crate::finding::{Class, Code, Finding};
use crate::flow::{Placement, Program};
use crate::launch::{Launch, Limit, Schedule};
use crate::ptx::Span;
use open::OpenInputs;

/// The resources of a trial, if those of the launch are not less.
const TRIAL: Limit = Limit { instructions: 1 << 22, memory: 1 << 28 };

/// The most trials with different inputs.
const MOST: u32 = 1024;

/// The defects that a witness shows.
const SHOWN: [Code; 6] = [
    Code::SharedRace,
    Code::GlobalRace,
    Code::Deadlock,
    Code::BarrierRecycling,
    Code::BarrierCount,
    Code::BarrierDivergence,
];

/// Findings after which a trial does not count: the input might not be one that the kernel is meant for, or the trial
/// is not complete.
const SPOILING: [Code; 5] =
    [Code::OutOfBounds, Code::Misaligned, Code::Uninitialized, Code::Trap, Code::Limit];

/// A chosen input, and the defects that occur with it.
struct Witness {
    input: ChosenInput,
    defect: Finding,
    /// The number of further defects.
    others: usize,
}

impl Witness {
    /// Whether the same defect occurs with both inputs.
    fn is_as(&self, other: &Self) -> bool {
        key(&self.defect) == key(&other.defect)
    }
}

/// Tries a kernel whose verdict is open with concrete inputs. Returns the finding for the first input with a defect.
///
/// # Errors
/// As of [`link`].
pub(super) fn search(request: &CheckRequest<'_>) -> Result<Option<Finding>, CheckError> {
    let CheckRequest { module, kernel, launch } = *request;
    let program = link(module, kernel, launch, &Placement::default())?;
    let Ok(stated) = request::block(kernel, launch) else { return Ok(None) };
    let open = OpenInputs::of(&program, launch, stated.map(|(block, _)| block));
    let trials = Trials { request, program: &program };
    let mut tried: Vec<ChosenInput> = Vec::new();
    for number in 0..launch.options.witness.min(MOST) {
        let input = values::choose(&open, number);
        if input.is_empty() || tried.contains(&input) {
            continue;
        }
        if let Some(found) = trials.run(&input)
            && let Some(found) = reduce::reduced(&trials, found)
        {
            return Ok(Some(trials.finding(&found)));
        }
        tried.push(input);
    }
    Ok(None)
}

/// Runs trials of a kernel.
struct Trials<'a> {
    request: &'a CheckRequest<'a>,
    program: &'a Program,
}

impl Trials<'_> {
    /// Checks the kernel with a chosen input; returns its first defect, if there is one and the trial counts.
    fn run(&self, input: &ChosenInput) -> Option<Witness> {
        let CheckRequest { module, kernel, launch } = *self.request;
        let concrete = with_limit(input.launch(self.program, launch));
        let report = prove(module, kernel, &concrete, &Placement::default()).ok()?;
        if report.findings.iter().any(|finding| SPOILING.contains(&finding.code)) {
            return None;
        }
        let is_open = |finding: &&Finding| finding.code.class() == Class::Open;
        let sites = report.findings.iter().filter(is_open).flat_map(|finding| &finding.sites);
        let open: BTreeSet<Span> = sites.map(|site| site.span).collect();
        let is_shown = |finding: &&Finding| {
            SHOWN.contains(&finding.code)
                && !finding.sites.iter().any(|site| open.contains(&site.span))
        };
        let mut shown = report.findings.iter().filter(is_shown);
        let defect = shown.next()?.clone();
        Some(Witness { input: input.clone(), defect, others: shown.count() })
    }

    /// Returns the finding for a witness. It is a defect if everything that it depends on is stated.
    fn finding(&self, found: &Witness) -> Finding {
        let CheckRequest { module, kernel, launch } = *self.request;
        let is_launched = found.input.block.is_none() && found.input.grid.is_none();
        let can_occur = launch.options.any_inputs && is_launched;
        let name = module.name(kernel.name);
        witness::finding(self.program, name, &found.input, &found.defect, (found.others, can_occur))
    }
}

fn with_limit(mut launch: Launch) -> Launch {
    let Limit { instructions, memory } = launch.limit;
    launch.limit = Limit {
        instructions: instructions.min(TRIAL.instructions),
        memory: memory.min(TRIAL.memory),
    };
    launch.options.schedule = Schedule::InOrder;
    launch.options.past_findings = false;
    launch
}
