//! Looks for conditions on what the host launches with which a kernel is proved for everything else.
//!
//! A proof ends at a gap. A condition that closes it leads to the next gap, and so on, until there is none; what turns out
//! not to be needed is dropped. Where lanes of a warp exchange values, the search begins again with blocks of whole warps.

use std::collections::BTreeSet;

use super::{CleanSetting, candidates, clean, is_flawless};
use crate::check::requirements::{domains, named};
use crate::check::{CheckRequest, applied, every_input, witness};
use crate::explain::witness::ChosenInput;
use crate::flow::Program;
use crate::launch::requires::{LaunchVariable, Requirement};
use crate::launch::{Dimensions, Launch};
use crate::symbolic::{Gap, ProofBudget, ProofScope, Unproved};

/// The most conditions.
const MOST: usize = 3;
/// What one search can take.
const SEARCH: SearchBudget =
    SearchBudget { attempts: 150, effort: 100_000, effort_of_pairs: 40_000 };
/// The most instructions of the kernel in all attempts of a search.
const INSTRUCTIONS: usize = 40_000;
/// In a kernel of more blocks, no conditions are looked for: what a proof costs beside its steps grows with nested branches.
const MOST_BLOCKS: usize = 24;
/// The most steps of an attempt that is about two accesses.
const EFFORT_OF_PAIR: u32 = 10_000;

/// Returns conditions with which the kernel is proved, and which `defective` does not fulfil, an input with which it has a
/// defect.
pub(super) fn find(
    request: &CheckRequest<'_>,
    program: &Program,
    defective: Option<&ChosenInput>,
) -> Option<CleanSetting> {
    let (kernel, launch) = (request.linked.kernel, request.launch);
    if program.blocks.len() > MOST_BLOCKS {
        return None;
    }
    let attempts = u32::try_from(INSTRUCTIONS / program.code.len().max(1)).unwrap_or(u32::MAX);
    let budget = SearchBudget { attempts: SEARCH.attempts.min(attempts), ..SEARCH };
    let candidates = candidates::between_numbers_and_block(program, kernel, launch);
    let mut search = RequirementSearch { request, program, defective, candidates, left: budget };
    search.sort_candidates();
    let whole_warps = candidates::whole_warps(program, kernel, launch);
    let starts = [Some(Vec::new()), whole_warps.map(|own| vec![own])];
    let found = starts.into_iter().flatten().find_map(|start| {
        search.left = budget;
        search.extended(start)
    })?;
    let report = clean(request, &with(launch, &found))?;
    let texts = found.iter().map(|own| format!("\"{}\"", named(program, own)));
    let line = format!("requires = [{}]", texts.collect::<Vec<_>>().join(", "));
    Some(CleanSetting { line, report })
}

/// Returns the launch with further requirements.
fn with(launch: &Launch, more: &[Requirement]) -> Launch {
    let mut required = launch.clone();
    required.requires.extend_from_slice(more);
    required
}

struct RequirementSearch<'a> {
    request: &'a CheckRequest<'a>,
    program: &'a Program,
    /// An input with which the kernel has a defect.
    defective: Option<&'a ChosenInput>,
    /// The conditions that are tried, in this order.
    candidates: Vec<Requirement>,
    left: SearchBudget,
}

/// What is left to a search.
#[derive(Clone, Copy)]
struct SearchBudget {
    /// The attempts to prove the kernel, or that two accesses do not overlap.
    attempts: u32,
    /// The steps of attempts to prove the kernel.
    effort: u32,
    /// The steps of attempts that are about two accesses.
    effort_of_pairs: u32,
}

/// What an attempt to prove the kernel shows.
#[derive(Clone, PartialEq, Eq)]
enum ProofAttempt {
    Proved,
    /// The proof ends at a gap; of two accesses that might overlap, with the parameters that they depend on, as in [`Unproved`].
    EndsAt(Gap, Option<BTreeSet<usize>>),
    /// Nothing: the conditions exclude each other or what the launch states, or no attempt is left.
    Nothing,
}

impl RequirementSearch<'_> {
    /// Moves those candidates to the front that the input with a defect does not fulfil: one of them has to hold.
    fn sort_candidates(&mut self) {
        let all = std::mem::take(&mut self.candidates);
        let (mut excluding, others): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|own| self.is_excluded(std::slice::from_ref(own)));
        excluding.extend(others);
        self.candidates = excluding;
    }

    /// Returns these conditions and further ones with which the kernel is proved.
    fn extended(&mut self, chosen: Vec<Requirement>) -> Option<Vec<Requirement>> {
        let (gap, parameters) = match self.attempt(&chosen, ProofScope::Kernel) {
            ProofAttempt::Proved => {
                let needed = self.needed(chosen);
                return self.is_meant(&needed).then_some(needed);
            }
            ProofAttempt::EndsAt(gap, parameters) if chosen.len() < MOST => (gap, parameters),
            ProofAttempt::EndsAt(..) | ProofAttempt::Nothing => return None,
        };
        let (scope, parameters) = match gap {
            Gap::Pair(a, b) => (ProofScope::Pair(a, b), Some(parameters?)),
            Gap::Divergence(_) => (ProofScope::Kernel, None),
            Gap::Size | Gap::Unknown(_) | Gap::Base(_) => return None,
        };
        for at in 0..self.candidates.len() {
            let mut more = chosen.clone();
            more.push(self.candidates[at].clone());
            if is_about(&self.candidates[at], parameters.as_ref())
                && self.closes(&more, gap, scope)
                && let Some(found) = self.extended(more)
            {
                return Some(found);
            }
        }
        None
    }

    /// Whether the input with a defect, if one is known, does not fulfil the conditions.
    fn is_excluded(&self, conditions: &[Requirement]) -> bool {
        let Some(input) = self.defective else { return true };
        let launch = input.launch(self.program, self.request.launch);
        let domain = domains(self.program, self.request.linked.kernel, &launch);
        let known = |variable: &LaunchVariable| domain(variable).known();
        conditions.iter().any(|condition| condition.holds(&known) == Some(false))
    }

    /// Whether the conditions exclude the input with a defect, and permit an ordinary launch of several threads, with which
    /// nothing is wrong.
    fn is_meant(&self, conditions: &[Requirement]) -> bool {
        let Self { request, program, .. } = *self;
        let kernel = request.linked.kernel;
        let required = with(request.launch, conditions);
        let Ok(launch) = applied(program, kernel, &required) else { return false };
        let is_flawless = |input: ChosenInput| {
            let own = input.launch(program, &launch);
            let block = own.block.and_then(Dimensions::known);
            block.is_none_or(|block| block.count() > 1) && is_flawless(request, &own)
        };
        self.is_excluded(conditions)
            && witness::ordinary(program, kernel, &launch).is_some_and(is_flawless)
    }

    /// Whether a proof under these conditions does not end at a gap.
    fn closes(&mut self, chosen: &[Requirement], gap: Gap, scope: ProofScope<'_>) -> bool {
        match self.attempt(chosen, scope) {
            ProofAttempt::Proved => true,
            ProofAttempt::EndsAt(other, _) => other != gap,
            ProofAttempt::Nothing => false,
        }
    }

    /// Returns those of the conditions that the proof needs; a number is required to be positive only if it is not enough
    /// that it is not negative.
    fn needed(&mut self, mut chosen: Vec<Requirement>) -> Vec<Requirement> {
        let mut at = 0;
        while chosen.len() > 1 && at < chosen.len() {
            let mut fewer = chosen.clone();
            fewer.remove(at);
            if self.attempt(&fewer, ProofScope::Kernel) == ProofAttempt::Proved {
                chosen = fewer;
            } else {
                at += 1;
            }
        }
        for at in 0..chosen.len() {
            let weak = candidates::not_negative(self.program, &chosen[at]);
            let Some(weak) = weak else { continue };
            let mut weaker = chosen.clone();
            weaker[at] = weak;
            let is_enough = self.attempt(&weaker, ProofScope::Kernel) == ProofAttempt::Proved;
            if is_enough && self.is_excluded(&weaker) {
                chosen = weaker;
            }
        }
        chosen
    }

    /// Tries to prove the kernel, or a part of it, under these conditions.
    fn attempt(&mut self, chosen: &[Requirement], scope: ProofScope<'_>) -> ProofAttempt {
        let kernel = self.request.linked.kernel;
        let launch = with(self.request.launch, chosen);
        let Ok(launch) = applied(self.program, kernel, &launch) else {
            return ProofAttempt::Nothing;
        };
        let (left, most) = match scope {
            ProofScope::Pair(..) => (&mut self.left.effort_of_pairs, EFFORT_OF_PAIR),
            ProofScope::Kernel | ProofScope::Open(_) => (&mut self.left.effort, SEARCH.effort),
        };
        if self.left.attempts == 0 || *left == 0 {
            return ProofAttempt::Nothing;
        }
        self.left.attempts -= 1;
        let budget = (None, ProofBudget::attempt(most.min(*left), false));
        match every_input::prove(self.program, (kernel, &launch), scope, budget) {
            Ok(_) => ProofAttempt::Proved,
            Err(Unproved { gaps, depends_on, spent, .. }) => {
                *left -= spent;
                gaps.first()
                    .map_or(ProofAttempt::Nothing, |gap| ProofAttempt::EndsAt(*gap, depends_on))
            }
        }
    }
}

/// Whether all arguments that a condition names are among `parameters`; `None`: all arguments are.
fn is_about(condition: &Requirement, parameters: Option<&BTreeSet<usize>>) -> bool {
    let is_one = |variable: &LaunchVariable| match variable {
        LaunchVariable::Argument(at) => parameters.is_none_or(|all| all.contains(at)),
        _ => true,
    };
    condition.variables().into_iter().all(is_one)
}
