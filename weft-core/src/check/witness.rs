//! The search for a witness: tries an open verdict with a few concrete inputs, to find a race or a defective barrier
//! that occurs with one of them.
//!
//! [`open`] finds the inputs that a launch leaves open and what the kernel uses them for, [`roles`] does so for
//! numbers, and [`values`] chooses a value for each, ordinary ones first; before them come launches with which, as
//! [`symbolic`] says, two threads might access the same bytes, as inputs by [`solved`]. A trial is a complete check
//! under the launch with these values, so that the launch that a finding names has this finding. [`permitted`] replaces
//! values that the requirements of the launch exclude. [`reduce`] then leaves open again what the defect does not
//! depend on.
//!
//! [`symbolic`]: crate::symbolic
//!
//! That nothing is found means nothing. A trial counts only if no other finding shows that its input is not one that
//! the kernel is meant for: an access out of bounds, say, of a buffer whose size the search has chosen. A defect counts
//! only if nothing is open about its instructions.

mod deciding;
mod open;
mod permitted;
mod reduce;
mod roles;
mod solved;
mod values;

use std::cell::Cell;
use std::collections::BTreeSet;

use super::{CheckError, CheckRequest, applied, key, link, prove, request};
use crate::explain::witness::{self, ChosenInput};
use crate::finding::{Class, Code, Finding};
use crate::flow::Placement;
use crate::launch::requires::{LaunchVariable, Requirement};
use crate::launch::{Dim3, Dimensions, Launch, Limit, Schedule};
use crate::ptx::{Module, Span};
use crate::symbolic::CandidateLaunch;
use open::OpenInputs;
use permitted::Permission;

/// The resources of a trial, if those of the launch are not less.
const TRIAL: Limit = Limit { instructions: 1 << 20, memory: 1 << 28 };

/// About the most instructions of all trials together, counted once a warp: of a trial, those of its deciding passes count.
const ALL_TRIALS: u64 = 1 << 22;

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
    /// The instructions of the run, counted once a warp.
    instructions: u64,
}

impl Witness {
    /// Whether the same defect occurs with both inputs.
    fn is_as(&self, other: &Self) -> bool {
        key(&self.defect) == key(&other.defect)
    }
}

/// Tries a kernel whose verdict is open with concrete inputs. Returns the finding for the first input with a defect.
/// `candidates`: launches to try before others.
///
/// # Errors
/// As of [`link`].
pub(super) fn search(
    request: &CheckRequest<'_>,
    candidates: &[CandidateLaunch],
) -> Result<Option<Finding>, CheckError> {
    let CheckRequest { module, kernel, .. } = *request;
    let program = link(module, kernel, request.launch, &Placement::default())?;
    let launch = &*applied(&program, kernel, request.launch)?;
    let Ok(stated) = request::block(kernel, launch) else { return Ok(None) };
    let open = OpenInputs::of(&program, launch, stated.map(|(block, _)| block));
    let permission = Permission { program: &program, kernel, launch };
    let trials = Trials { module, permission, left: Cell::new(ALL_TRIALS) };
    let mut tried: Vec<ChosenInput> = Vec::new();
    let ordinary = values::choose(&open, 0);
    let wanted =
        candidates.iter().map(|candidate| solved::input(&permission, candidate, &ordinary));
    let table = (0..launch.options.witness.min(MOST)).map(|number| values::choose(&open, number));
    for wanted in wanted.chain(table) {
        let Some(input) = permission.nearest(&wanted) else { continue };
        if input.is_empty() || tried.contains(&input) {
            continue;
        }
        if let Some(found) = trials.run(&input, TRIAL.instructions)
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
    module: &'a Module,
    permission: Permission<'a>,
    /// The instructions that are left.
    left: Cell<u64>,
}

impl Trials<'_> {
    /// Checks the kernel with a chosen input; returns its first defect, if there is one and the trial counts.
    /// `instructions`: the limit of the trial.
    fn run(&self, input: &ChosenInput, instructions: u64) -> Option<Witness> {
        let Self { module, permission: Permission { program, kernel, launch }, .. } = *self;
        let instructions = instructions.min(self.left.get());
        if instructions == 0 || !self.permission.permits(input) {
            return None;
        }
        let concrete = with_limit(input.launch(program, launch), instructions);
        let trial = CheckRequest {
            module,
            kernel,
            launch: &concrete,
            proves_every_input: false,
            outside: None,
        };
        let (report, _) = prove(&trial, &Placement::default()).ok()?;
        let is_limited = report.findings.iter().any(|finding| finding.code == Code::Limit);
        let spent = if is_limited { instructions } else { report.stats.warp_instructions };
        self.left.set(self.left.get().saturating_sub(spent));
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
        let (others, instructions) = (shown.count(), report.stats.warp_instructions);
        Some(Witness { input: input.clone(), defect, others, instructions })
    }

    /// Returns the finding for a witness. It is a defect if everything that it depends on is stated.
    fn finding(&self, found: &Witness) -> Finding {
        let Self { module, permission: Permission { program, kernel, launch }, .. } = *self;
        let names_arguments = launch
            .requires
            .iter()
            .flat_map(Requirement::variables)
            .any(|variable| matches!(variable, LaunchVariable::Argument(_)));
        // Requirements about sizes alone say nothing about the values of arguments.
        let are_meant =
            names_arguments || !launch.requires.is_empty() && found.input.values.is_empty();
        let permitted_by = if launch.options.any_inputs {
            Some("inputs = \"any\"")
        } else {
            are_meant.then_some("its requirements")
        };
        let is_meant = |chosen: Option<Dim3>, stated: Option<Dimensions>| {
            chosen.is_none() || stated == Some(Dimensions::Any)
        };
        let is_launched =
            is_meant(found.input.block, launch.block) && is_meant(found.input.grid, launch.grid);
        let name = module.name(kernel.name);
        let permitted_by = permitted_by.filter(|_| is_launched);
        witness::finding(program, name, &found.input, &found.defect, (found.others, permitted_by))
    }
}

fn with_limit(mut launch: Launch, most: u64) -> Launch {
    let Limit { instructions, memory } = launch.limit;
    launch.limit = Limit { instructions: instructions.min(most), memory: memory.min(TRIAL.memory) };
    launch.options.schedule = Schedule::InOrder;
    launch.options.past_findings = false;
    launch
}
