//! Runs some ctas of a checked kernel once more, for an observer of their events.
//!
//! Nothing is judged here. The passes settle their facts first, as those of a check do, so that the ctas take the same
//! paths. Of the cases of a condition, and of the ways in which a check treats floating-point arithmetic and counters, the
//! first one counts in which the observers see what they look for.

use std::collections::BTreeSet;

use super::case_split::split_of;
use super::find::Effort;
use super::linked::LinkedKernel;
use super::passes::PassContext;
use super::{CheckError, CheckRequest, applied, ctas, examine, request, witness};
use crate::emulate::{self, Cta, End, Events, Facts, Inputs, OrderQuery};
use crate::explain::Names;
use crate::explain::witness::ChosenInput;
use crate::finding::Report;
use crate::flow::{Placement, Program};
use crate::launch::{Atomics, Dim3, Dimensions, Launch};
use crate::ptx::{Function, Module};
use crate::slice::{self, Dependences, Floats, Slice};

/// The most cases of conditions that are run.
const MOST_CASES: u32 = 16;
/// After a run with so many instructions, no further case is run.
const MOST_INSTRUCTIONS: u64 = 1 << 24;

/// A checked kernel whose ctas can be run again.
pub(crate) struct Replay<'m> {
    linked: LinkedKernel<'m>,
    given: Launch,
    pub(crate) report: Report,
    /// The chosen input with which the first finding of the report occurs, if it is about such an input.
    input: Option<ChosenInput>,
}

/// A launch that is run again: its sizes are known.
pub(crate) struct ReplayedLaunch<'r> {
    pub(crate) program: &'r Program,
    launch: Launch,
    pub(crate) block: Dim3,
    pub(crate) grid: Dim3,
    /// What nobody states and was chosen for this run, as a part of a sentence; `None` if nothing was.
    pub(crate) chosen: Option<String>,
}

/// A cta that was run again.
pub(crate) struct ReplayedCta<E> {
    pub(crate) cta: Cta,
    pub(crate) events: E,
    pub(crate) end: End,
}

/// One way to run a launch.
struct Variant {
    slice: Slice,
    inputs: Inputs,
}

impl<'m> Replay<'m> {
    /// Checks a kernel under a launch.
    ///
    /// # Errors
    /// As of [`super::check`].
    pub(crate) fn new(
        module: &'m Module,
        kernel: &'m Function,
        launch: &Launch,
    ) -> Result<Self, CheckError> {
        let linked = LinkedKernel::new(module, kernel, launch, &Placement::default())?;
        let request =
            CheckRequest { linked: &linked, launch, effort: Effort::Verdict, outside: None };
        let (report, input) = examine(&request)?;
        Ok(Self { linked, given: launch.clone(), report, input })
    }

    /// Whether the ctas of the kernel form clusters of several.
    ///
    /// # Errors
    /// As of [`super::check`].
    pub(crate) fn has_clusters(&self) -> Result<bool, CheckError> {
        Ok(self.linked.program(&self.given)?.clusters.are_of_several())
    }

    /// Returns the launch that the report is about, or the one that its first finding is about (`is_first`) if that is one
    /// for a chosen input; `None` if nobody states a block.
    ///
    /// # Errors
    /// As of [`super::check`].
    pub(crate) fn reported(
        &self,
        is_first: bool,
    ) -> Result<Option<ReplayedLaunch<'_>>, CheckError> {
        let input = self.input.clone().filter(|_| is_first).unwrap_or_default();
        self.with_input(&input)
    }

    /// Returns a launch with ordinary values for all that the launch of the report leaves open; `None` if there is none.
    ///
    /// # Errors
    /// As of [`super::check`].
    pub(crate) fn ordinary(&self) -> Result<Option<ReplayedLaunch<'_>>, CheckError> {
        let program = self.linked.program(&self.given)?;
        let launch = applied(program, self.linked.kernel, &self.given)?;
        match witness::ordinary(program, self.linked.kernel, &launch) {
            Some(input) if !input.is_empty() => self.with_input(&input),
            _ => Ok(None),
        }
    }

    fn with_input(&self, input: &ChosenInput) -> Result<Option<ReplayedLaunch<'_>>, CheckError> {
        let kernel = self.linked.kernel;
        let program = self.linked.program(&self.given)?;
        let launch = input.launch(program, &*applied(program, kernel, &self.given)?);
        let program = self.linked.program(&launch)?;
        let known = request::block(program, kernel, &launch)?.map(|known| known.size);
        let Some(block) = known.or(self.report.block) else { return Ok(None) };
        let grid = match launch.grid {
            Some(Dimensions::Is(_)) => request::grid(kernel, &launch)?,
            _ => self.report.grid,
        };
        let chosen = (!input.is_empty()).then(|| input.words(program));
        Ok(Some(ReplayedLaunch { program, launch, block, grid, chosen }))
    }

    /// Returns the names of a launch.
    pub(crate) fn names<'r>(&'r self, of: &'r ReplayedLaunch<'_>) -> Names<'r> {
        let launch = &of.launch;
        Names {
            module: self.linked.module,
            kernel: self.linked.kernel,
            program: of.program,
            grid: of.grid,
            block: of.block,
            atomics: launch.options.atomics,
            dynamic_shared: launch.shared,
            args: &launch.args,
            limit: launch.limit,
            past_findings: launch.options.past_findings,
        }
    }

    /// Runs the ctas at these places of the grid, each with a new observer. Returns the first runs that are enough, or if
    /// none are, the first ones.
    ///
    /// # Errors
    /// Arguments that do not fit the kernel.
    pub(crate) fn run<E: Events + OrderQuery>(
        &self,
        launch: &ReplayedLaunch<'_>,
        places: &[[u32; 3]],
        observer: &dyn Fn(Cta) -> E,
        is_enough: &dyn Fn(&[ReplayedCta<E>]) -> bool,
    ) -> Result<Vec<ReplayedCta<E>>, CheckError> {
        let names = self.names(launch);
        let (indices, ctas) = indices(launch.grid, places);
        let mut first = Vec::new();
        for Variant { slice, inputs } in variants(launch)? {
            let mut facts = Facts::within(launch.launch.limit, 0);
            if inputs.draws_in_turn {
                facts.choose_draw_order(ctas);
            }
            let doubted = BTreeSet::new();
            let mut passes =
                PassContext { names: &names, inputs: &inputs, slice: &slice, ctas, facts, doubted };
            let runs = passes.replay(&indices, observer, is_enough);
            if is_enough(&runs) {
                return Ok(runs);
            }
            if first.is_empty() {
                first = runs;
            }
        }
        Ok(first)
    }
}

/// Returns the linear indices of ctas in a grid, and the number of ctas whose passes have to be run for them.
fn indices(grid: Dim3, places: &[[u32; 3]]) -> (Vec<u64>, u64) {
    let is_there = |index: &u64| *index < grid.count();
    let indices: Vec<u64> =
        places.iter().map(|place| grid.index(*place)).filter(is_there).collect();
    let last = indices.iter().max().map_or(1, |last| last + 1);
    (indices, last.max(grid.count().min(ctas::FIRST)))
}

/// Returns the ways to run a launch, the cheapest first.
fn variants(launch: &ReplayedLaunch<'_>) -> Result<Vec<Variant>, CheckError> {
    let ReplayedLaunch { program, launch, block, grid, .. } = launch;
    request::arguments(program, launch)?;
    let dependences = Dependences::of(program, &emulate::pointers(program, launch));
    let mut inputs = Inputs::new(program, launch, *block, *grid, &dependences)
        .map_err(|error| request::input(program, error))?;
    inputs.runs_all_ctas = launch.grid.is_some_and(|grid| grid.known().is_some());
    request::shared(inputs.shared)?;
    let mark = |floats| slice::mark(program, &BTreeSet::new(), floats);
    let slice = mark(Floats::Open);
    let leaves_open = slice.leaves_open();
    let mut all = vec![Variant { slice, inputs: inputs.clone() }];
    if leaves_open {
        all.push(Variant { slice: mark(Floats::Computed), inputs: inputs.clone() });
    }
    if matches!(launch.options.atomics, Atomics::Auto | Atomics::Unique) {
        inputs.options.atomics = Atomics::Unique;
        inputs.draws_in_turn = true;
        all.push(Variant { slice: mark(Floats::Open), inputs });
    }
    Ok(all)
}

impl PassContext<'_> {
    /// Settles the facts of a launch and runs these ctas, in one case of its conditions after the other.
    fn replay<E: Events + OrderQuery>(
        &mut self,
        indices: &[u64],
        observer: &dyn Fn(Cta) -> E,
        is_enough: &dyn Fn(&[ReplayedCta<E>]) -> bool,
    ) -> Vec<ReplayedCta<E>> {
        let mut first = Vec::new();
        for _ in 0..MOST_CASES {
            let decision = self.settle();
            if let Some(place) = decision.as_ref().and_then(split_of)
                && self.facts.splits.insert(place)
            {
                continue;
            }
            let runs = self.replay_case(indices, observer);
            if is_enough(&runs) {
                return runs;
            }
            if first.is_empty() {
                first = runs;
            }
            if decision.is_none()
                || self.facts.spent() > MOST_INSTRUCTIONS
                || !self.facts.splits.next_case()
            {
                break;
            }
        }
        first
    }

    fn replay_case<E: Events + OrderQuery>(
        &mut self,
        indices: &[u64],
        observer: &dyn Fn(Cta) -> E,
    ) -> Vec<ReplayedCta<E>> {
        self.facts.begin();
        let run = |index: &u64| {
            let cta = self.clustering().first(*index);
            let mut events = observer(cta);
            let mut reached = vec![false; self.names.program.code.len()];
            let end = self.run(self.slice, cta, &mut events, &mut reached).end;
            ReplayedCta { cta, events, end }
        };
        indices.iter().map(run).collect()
    }
}
