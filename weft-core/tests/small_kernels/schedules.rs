//! The law of schedules: the findings of a small kernel are the same under every schedule.
//!
//! - A kernel that is clean under one schedule is not a defect under another.
//! - If barriers are sound, and either nothing races or no load of shared or global memory decides anything, all
//!   findings and all numbers of racing pairs of threads are equal.
//!
//! - If barriers are sound, the verdict without races is equal: a load that races, or might, gives an open value under
//!   every schedule. Counters are excluded, because a racing store can reset a counter before some atomics or after all
//!   of them.
//!
//! All other differences have a reason. A defective barrier ends the run, and the schedule decides which of several
//! defects comes first and in which case of a case split. A value that is read while it is written can decide branches;
//! so can the contents after a store at an open address, or a loop with an open trip count. Of several atomics on
//! memory that nothing wrote, only the first one reads that memory.

#![allow(clippy::panic, reason = "a disagreement is told in full")]

use std::ops::Range;

use weft_core::finding::Verdict;
use weft_core::launch::Schedule;

use crate::generate::Theme;
use crate::kernel::Atomics;
use crate::subject::{Found, Subject, case_of};

/// Counts the kernels, and those for which all findings had to be equal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) kernels: usize,
    pub(crate) clean: usize,
    pub(crate) same: usize,
}

/// Checks kernels of two and three warps under all schedules.
pub(crate) fn hold(theme: Theme, numbers: Range<u64>) -> Tally {
    let mut tally = Tally::default();
    for number in numbers {
        let threads = [34, 64, 66][usize::try_from(number / 2 % 3).unwrap_or(0)];
        let (case, code) = case_of(theme, number, threads);
        let subject = Subject::new(&case, &code);
        let has_atomics = matches!(
            theme,
            Theme::Atomics(_) | Theme::Tickets(_) | Theme::Relaxed(_) | Theme::Queues(_)
        );
        let others =
            [Schedule::Reverse, Schedule::InTurn, Schedule::Latest, Schedule::Random(number)];
        let told = |found: Found| if has_atomics { found.without_first_reads() } else { found };
        let first = told(subject.found());
        let others = others.map(|schedule| (schedule, told(subject.found_under(schedule))));
        let is_sound = !first.is_broken() && others.iter().all(|(_, other)| !other.is_broken());
        let reads_decide = subject.reads_decide();
        let is_settled = is_sound && theme != Theme::Tickets(Atomics::Unique);
        let is_same = is_sound && (!first.has_conflicts() || !reads_decide);
        for (schedule, other) in others {
            if let Err(claim) = compare(&first, other.clone(), is_settled, is_same) {
                panic!(
                    "case {number} of {theme:?} under {schedule:?}: not so: {claim}\n{}\nlaunch {:?}\nin order {first:?}\nelse     {other:?}",
                    subject.text(),
                    subject.launch
                );
            }
        }
        tally.kernels += 1;
        tally.clean += usize::from(first.verdict == Verdict::Clean);
        tally.same += usize::from(is_same);
    }
    tally
}

fn compare(
    first: &Found,
    other: Found,
    is_settled: bool,
    is_same: bool,
) -> Result<(), &'static str> {
    let verdicts = [first.verdict, other.verdict];
    if verdicts.contains(&Verdict::Clean) && verdicts.contains(&Verdict::Defect) {
        return Err("what is clean under one schedule is a defect under none");
    }
    if is_settled && first.verdict_beside_races() != other.verdict_beside_races() {
        return Err(
            "where barriers are sound a race that is allowed hides nothing from the schedule",
        );
    }
    let compared = |found: Found| found.without_benign().without_races_said_to_be_open();
    if is_same && compared(first.clone()) != compared(other) {
        return Err("where nothing is up to the schedule all findings are the same");
    }
    Ok(())
}
