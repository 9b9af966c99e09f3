//! Compares the findings of a kernel with those of a kernel derived from it.

#![allow(clippy::panic, reason = "a disagreement is told in full")]

use std::ops::Range;

use weft_core::finding::Verdict;

use crate::code::Op;
use crate::dice::Dice;
use crate::generate::Theme;
use crate::judge::Case;
use crate::kernel::{Instr, What};
use crate::rewrite::Rewritten;
use crate::subject::{Found, Subject, case_of};
use crate::{print, transform};

/// A law: how a kernel is derived from another, and what holds for their findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Law {
    Names,
    Independent,
    Roles,
    Vectors,
    Loops,
    Calls,
    Memory,
    Results,
    BarrierMore,
    BarrierLess,
}

/// The number of derived kernels, and the number of those whose findings (or races) the law required to be equal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) made: usize,
    pub(crate) same: usize,
}

/// What is known about the original kernel.
struct Before {
    found: Found,
    /// Whether values that threads read from shared or global memory decide something.
    reads_decide: bool,
}

impl Before {
    /// Whether all runs of the kernel behave the same.
    fn is_settled(&self) -> bool {
        !self.found.is_broken() && (!self.reads_decide || !self.found.has_conflicts())
    }
}

pub(crate) fn hold(law: Law, theme: Theme, numbers: Range<u64>) -> Tally {
    let mut tally = Tally::default();
    // An access at an open address that might meet a copy is open in whichever order they are, so that a run which goes
    // further, with the argument, can know less.
    if law == Law::Results && theme == Theme::Copies {
        return tally;
    }
    for number in numbers {
        let threads = if law == Law::Roles {
            64
        } else {
            [4, 34, 66][usize::try_from(number / 2 % 3).unwrap_or(0)]
        };
        let (case, code) = case_of(theme, number, threads);
        let mut dice = Dice::new(number);
        let Some((made, rewritten)) = make(law, &case, &code, &mut dice) else { continue };
        let subject = Subject::new(&case, &code);
        // Which of several atomics comes first, and so reads uninitialized memory, can change.
        let has_atomics = matches!(
            theme,
            Theme::Atomics(_) | Theme::Tickets(_) | Theme::Relaxed(_) | Theme::Queues(_)
        );
        let is_told = law != Law::Roles || !has_atomics;
        let told = |found: Found| if is_told { found } else { found.without_first_reads() };
        let reads_decide = subject.reads_decide();
        let before = Before { found: told(subject.found()), reads_decide };
        let after =
            told(made.found_at(|place| rewritten.as_ref().map_or(place, |made| made.place(place))));
        if law == Law::Roles && (before.found.is_of_one_order || after.is_of_one_order) {
            continue;
        }
        match compare(law, &before, &after) {
            Ok(is_same) => tally.same += usize::from(is_same),
            Err(claim) => panic!(
                "case {number} of {theme:?}: not so: {claim}\n{}\nand\n{}\nlaunch {:?}\nbefore {:?}\nafter  {after:?}",
                subject.text(),
                made.text(),
                subject.launch,
                before.found
            ),
        }
        tally.made += 1;
    }
    tally
}

fn make(
    law: Law,
    case: &Case,
    code: &[Op],
    dice: &mut Dice,
) -> Option<(Subject, Option<Rewritten>)> {
    let rewritten = match law {
        Law::Names => {
            let printed = transform::renamed(print::print(code), dice);
            return Some((Subject::of(case, printed), None));
        }
        Law::Roles => {
            let bits = if names_lanes(code) { 32 } else { 32 + dice.roll(32) };
            let printed = transform::relabelled(print::print(code), bits);
            return Some((Subject::of(case, printed), None));
        }
        Law::Calls => {
            let printed = transform::outlined(print::print(code))?;
            return Some((Subject::of(case, printed), None));
        }
        Law::Memory => {
            let printed = transform::kept_in_memory(print::print(code));
            return Some((Subject::of(case, printed), None));
        }
        Law::Results => {
            let printed = transform::returned(print::print(code)).filter(|_| case.open.number)?;
            return Some((Subject::of(case, printed), None));
        }
        Law::Independent => transform::permuted(code, dice),
        Law::Vectors => transform::split(code),
        Law::Loops => transform::unrolled(code, dice),
        Law::BarrierMore => Some(transform::with_barriers(code)),
        Law::BarrierLess => transform::without_a_barrier(code, dice),
    }?;
    Some((Subject::new(case, &rewritten.code), Some(rewritten)))
}

/// Whether some instruction names lanes of a warp.
fn names_lanes(code: &[Op]) -> bool {
    let names = |op: &Op| match op {
        Op::Do(Instr { what: What::Shuffle { .. }, .. }) => true,
        Op::Do(Instr { what: What::Vote { mask, .. } | What::WarpSync { mask }, .. }) => {
            *mask != u32::MAX
        }
        _ => false,
    };
    code.iter().any(names)
}

/// Checks a law; returns whether it required equality in this case.
fn compare(law: Law, before: &Before, after: &Found) -> Result<bool, &'static str> {
    let is_settled = before.is_settled();
    let is_whole = !before.found.is_cut_short() && !after.is_cut_short();
    match law {
        Law::Names => {
            if before.found != *after {
                return Err("names do not matter");
            }
            Ok(true)
        }
        Law::Independent | Law::Roles => {
            // For each cta only one doubt is reported, that of its first warp.
            let is_settled = is_settled && (is_whole || law != Law::Roles);
            keeps_its_side(&before.found, after)?;
            if is_settled && before.found.clone().without_benign() != after.clone().without_benign()
            {
                return Err("everything is found as before");
            }
            Ok(is_settled)
        }
        // The halves can be aligned where the whole is not.
        Law::Vectors if before.found.is_misaligned() => Ok(false),
        Law::Results => holds_for_any_argument(&before.found, after),
        Law::Vectors | Law::Loops | Law::Calls | Law::Memory => {
            keeps_its_side(&before.found, after)?;
            let is_same = is_settled && !before.found.is_open() && !after.is_open();
            if is_same && before.found.races() != after.races() {
                return Err("all races are as before");
            }
            Ok(is_same)
        }
        Law::BarrierMore => {
            let is_same = is_settled && !after.is_broken() && is_whole;
            if is_same && !after.races().is_subset(&before.found.races()) {
                return Err("a barrier more adds no race");
            }
            Ok(is_same)
        }
        Law::BarrierLess => {
            let is_same = is_settled && !after.is_broken() && is_whole;
            if is_same && !before.found.races().is_subset(&after.races()) {
                return Err("a barrier less removes no race");
            }
            Ok(is_same)
        }
    }
}

fn is_clean(found: &Found) -> bool {
    found.verdict == Verdict::Clean
}

fn is_defect(found: &Found) -> bool {
    found.verdict == Verdict::Defect
}

fn keeps_its_side(before: &Found, after: &Found) -> Result<(), &'static str> {
    if is_clean(before) && is_defect(after) || is_defect(before) && is_clean(after) {
        return Err("clean never turns into defect, nor defect into clean");
    }
    Ok(())
}

fn holds_for_any_argument(before: &Found, after: &Found) -> Result<bool, &'static str> {
    // If every case of a case split has another barrier defect, no defect is common to all.
    let is_defect_before = is_defect(before) || before.is_broken();
    if is_clean(after) && !is_clean(before) || is_defect(after) && !is_defect_before {
        return Err("what holds for any result holds for any argument");
    }
    Ok(!after.is_open())
}
