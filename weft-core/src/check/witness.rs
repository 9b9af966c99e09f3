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
//! the kernel is meant for: an access out of bounds, say, of a buffer whose size the search has chosen. Where something
//! depends on an input that the trial leaves open, a defect counts only if nothing is open about its instructions.

mod deciding;
mod open;
mod permitted;
mod reduce;
mod roles;
mod solved;
mod values;

use std::cell::Cell;
use std::collections::BTreeSet;

use super::find::Effort;
use super::linked::LinkedKernel;
use super::{CheckError, CheckRequest, CheckedProgram, applied, chosen_sizes, key, prove, request};
use crate::explain::witness::{self, ChosenInput, ChosenValue};
use crate::explain::{doubts, races};
use crate::finding::{Class, Code, Finding, Report};
use crate::flow::Program;
use crate::launch::requires::{LaunchVariable, Requirement};
use crate::launch::{Dim3, Dimensions, Launch, Limit, Schedule};
use crate::ptx::{Function, Span};
use crate::symbolic::CandidateLaunch;
use open::OpenInputs;
use permitted::Permission;
pub(super) use roles::NumberRole;

/// The resources of a trial, if those of the launch are not less.
const TRIAL: Limit = Limit { instructions: 1 << 20, memory: 1 << 28 };

/// The instructions that a trial can run at first. Those that need more are run again with more, after the others.
const AT_FIRST: [u64; 2] = [1 << 15, 1 << 18];

/// About the most instructions of all trials together, counted once a warp.
const ALL_TRIALS: u64 = 1 << 22;

/// The most trials with different inputs.
const MOST: u32 = 1024;

/// The defects that are shown only if no input has a worse one.
const LESSER: [Code; 3] = [Code::UnorderedStrong, Code::WarpMask, Code::BenignRace];

fn is_lesser(code: Code) -> bool {
    LESSER.contains(&code)
}

/// Whether a finding says that the check is not complete. That there might be more defects does not.
fn is_limit(finding: &Finding) -> bool {
    finding.code == Code::Limit && !doubts::says_more_defects(finding)
}

/// Whether a finding says that a trial with higher limits might find more.
fn needs_more(finding: &Finding) -> bool {
    is_limit(finding) || races::is_unvalued(finding)
}

/// A chosen input, and the defects that occur with it.
struct Witness {
    input: ChosenInput,
    defect: Finding,
    /// The number of further defects.
    others: usize,
    /// The instructions of the trial, counted once a warp.
    spent: u64,
}

impl Witness {
    /// Whether the same defect occurs with both inputs.
    fn is_as(&self, other: &Self) -> bool {
        key(&self.defect) == key(&other.defect)
    }
}

/// Returns the worst of the defects of a run with a block or grid that nobody states, and the number of the others; `None` if
/// there is none, or the run does not count.
pub(super) fn shown(report: &Report) -> Option<(Finding, usize)> {
    let is_defect = |finding: &&Finding| finding.code.class() == Class::Defect;
    if report.is_unfit() { None } else { worst(report.findings.iter().filter(is_defect)) }
}

/// Returns the worst defect that a trial shows for its input, and the number of the others; `None` if there is none, or the
/// trial does not count. `depends_on`: what the trial leaves open and something depends on.
fn shown_by_trial(report: &Report, depends_on: &BTreeSet<usize>) -> Option<(Finding, usize)> {
    let is_open = |finding: &&Finding| finding.code.class() == Class::Open;
    let sites = report.findings.iter().filter(is_open).flat_map(|finding| &finding.sites);
    let open: BTreeSet<Span> =
        if depends_on.is_empty() { BTreeSet::new() } else { sites.map(|site| site.span).collect() };
    let is_certain = |finding: &&Finding| {
        finding.code.class() == Class::Defect
            && !races::is_unvalued(finding)
            && !finding.sites.iter().any(|site| open.contains(&site.span))
    };
    let is_spoiled = report.is_unfit() || report.findings.iter().any(is_limit);
    if is_spoiled { None } else { worst(report.findings.iter().filter(is_certain)) }
}

fn worst<'a>(defects: impl Iterator<Item = &'a Finding>) -> Option<(Finding, usize)> {
    let (worse, lesser): (Vec<_>, Vec<_>) = defects.partition(|own| !is_lesser(own.code));
    let mut all = worse.into_iter().chain(lesser);
    let first = all.next()?.clone();
    Some((first, all.count()))
}

/// Returns an ordinary value for each input that a launch leaves open, with which a run of the kernel mostly leaves nothing
/// open; `None` if the requirements of the launch permit none that the search finds. `launch`: with its requirements
/// applied.
pub(super) fn ordinary(
    program: &Program,
    kernel: &Function,
    launch: &Launch,
) -> Option<ChosenInput> {
    let block = request::block(program, kernel, launch).ok()?;
    let wanted = values::choose(&OpenInputs::of(program, launch, block), 0);
    Permission { program, kernel, launch }.nearest(&wanted)
}

/// Returns the parameters that hold whole numbers which a launch leaves open, by position, and what the kernel uses them for.
pub(super) fn integers(program: &Program, launch: &Launch) -> Vec<(usize, NumberRole)> {
    let numbers = OpenInputs::of(program, launch, None).numbers.into_iter();
    let is_parameter = |at: usize| program.field(at).is_none();
    let integers = numbers.filter(|own| !own.is_float && is_parameter(own.at));
    integers.map(|own| (own.at, own.role)).collect()
}

/// Tries a kernel whose verdict is open with concrete inputs. Returns the finding for the first input with a defect, a
/// worse one than `known`, if one is known, and the input.
/// `candidates`: launches to try before others.
///
/// # Errors
/// PTX that does not link, or requirements that the kernel cannot fulfil.
pub(super) fn search(
    request: &CheckRequest<'_>,
    candidates: &[CandidateLaunch],
    known: Option<Code>,
) -> Result<Option<(Finding, ChosenInput)>, CheckError> {
    if known.is_some_and(|code| !is_lesser(code)) {
        return Ok(None);
    }
    let linked = request.linked;
    let (kernel, program) = (linked.kernel, linked.program(request.launch)?);
    let launch = &*applied(program, kernel, request.launch)?;
    let Ok(block) = request::block(program, kernel, launch) else { return Ok(None) };
    let open = OpenInputs::of(program, launch, block);
    let permission = Permission { program, kernel, launch };
    let trials = Trials { linked, permission, left: Cell::new(ALL_TRIALS) };
    let ordinary = values::choose(&open, 0);
    let wanted =
        candidates.iter().map(|candidate| solved::input(&permission, candidate, &ordinary));
    let table = (0..launch.options.witness.min(MOST)).map(|number| values::choose(&open, number));
    // A size that a kernel is written for, such as 128 or 256, is rarely one that an argument is.
    let sizes = if block.is_none() && launch.block.is_none() {
        chosen_sizes::ordinary_blocks(program, kernel)
    } else {
        Vec::new()
    };
    let with_sizes =
        sizes.into_iter().map(|size| ChosenInput { block: Some(size), ..ordinary.clone() });
    let mut inputs: Vec<ChosenInput> = Vec::new();
    for input in
        wanted.chain(table).chain(with_sizes).filter_map(|wanted| permission.nearest(&wanted))
    {
        if !input.is_empty() && !inputs.contains(&input) {
            inputs.push(input);
        }
    }
    let mut lesser = None;
    for most in AT_FIRST.into_iter().chain([TRIAL.instructions]) {
        let mut longer = Vec::new();
        for input in inputs {
            match trials.run(&input, most) {
                Trial::Shows(found) if !is_lesser(found.defect.code) => {
                    if let Some(found) = reduce::reduced(&trials, *found) {
                        return Ok(Some((trials.finding(&found), found.input)));
                    }
                }
                Trial::Shows(found) if known.is_none() => lesser = lesser.or(Some(found)),
                Trial::Shows(_) | Trial::Nothing(_) => {}
                Trial::Limited(_) => longer.push(input),
            }
        }
        inputs = longer;
        inputs.sort_by_key(|input| expected_work(&open, input));
    }
    let lesser = lesser.and_then(|found| reduce::reduced(&trials, *found));
    Ok(lesser.map(|found| (trials.finding(&found), found.input)))
}

/// Returns a number by which trials are compared: one that is greater mostly needs more instructions. It is the number of
/// threads, multiplied by all numbers, since each of them might be how often a loop is gone round.
fn expected_work(open: &OpenInputs, input: &ChosenInput) -> u128 {
    let numbers = input.values.values().filter_map(|value| match value {
        ChosenValue::Integer(value) => u128::try_from(*value).ok(),
        ChosenValue::Float(_) | ChosenValue::Contents(..) => None,
    });
    let threads = u128::from(open.threads(input.block));
    numbers.fold(threads, |all, value| all.saturating_mul(value.max(1)))
}

/// What a trial found.
enum Trial {
    /// A defect.
    Shows(Box<Witness>),
    /// Nothing that counts. What is open depends on these arguments and fields.
    Nothing(BTreeSet<usize>),
    /// That it might count with more instructions, or memory. What is open so far depends on these arguments and fields.
    Limited(BTreeSet<usize>),
}

/// Runs trials of a kernel.
struct Trials<'a> {
    linked: &'a LinkedKernel<'a>,
    permission: Permission<'a>,
    /// The instructions that are left.
    left: Cell<u64>,
}

impl Trials<'_> {
    /// Checks the kernel with a chosen input. `instructions`: the limit of the trial.
    fn run(&self, input: &ChosenInput, instructions: u64) -> Trial {
        let Self { linked, permission: Permission { program, launch, .. }, .. } = *self;
        let instructions = instructions.min(self.left.get());
        if instructions == 0 || !self.permission.permits(input) {
            return Trial::Nothing(BTreeSet::new());
        }
        let concrete = with_limit(input.launch(program, launch), instructions);
        let trial =
            CheckRequest { linked, launch: &concrete, effort: Effort::Trial, outside: None };
        let Ok(checked) = prove(&trial) else {
            return Trial::Nothing(BTreeSet::new());
        };
        let CheckedProgram { report, spent, depends_on, .. } = checked;
        self.left.set(self.left.get().saturating_sub(spent));
        match shown_by_trial(&report, &depends_on) {
            Some((defect, others)) => {
                let input = input.clone();
                Trial::Shows(Box::new(Witness { input, defect, others, spent }))
            }
            None if !report.is_unfit() && report.findings.iter().any(needs_more) => {
                Trial::Limited(depends_on)
            }
            None => Trial::Nothing(depends_on),
        }
    }

    /// Returns the finding for a witness. It is a defect if everything that it depends on is stated.
    fn finding(&self, found: &Witness) -> Finding {
        let Self { linked, permission: Permission { program, launch, .. }, .. } = *self;
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
        let name = linked.module.name(linked.kernel.name);
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
