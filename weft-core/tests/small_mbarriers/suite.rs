//! Runs many kernels, and reduces one that the check and the reference disagree on.

#![allow(clippy::panic, reason = "a disagreement is told in full")]

use std::collections::BTreeMap;
use std::ops::Range;

use weft_core::finding::Verdict;
use weft_core::launch::Schedule;

use crate::compare::{check, compare};
use crate::dice::Dice;
use crate::generate::{self, Theme};
use crate::kernel::Kernel;
use crate::print::{Printed, print};
use crate::reference::{Expected, opinion};

/// Minimum numbers of kernels, by what the check must say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Least {
    pub(crate) clean: usize,
    pub(crate) races: usize,
    pub(crate) broken: usize,
    pub(crate) uncertain: usize,
}

/// Numbers of kernels by what the check must say and what it says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally(BTreeMap<Expected, BTreeMap<Verdict, usize>>);

impl Tally {
    fn add(&mut self, expected: Expected, verdict: Verdict) {
        *self.0.entry(expected).or_default().entry(verdict).or_default() += 1;
    }

    fn count(&self, expected: Expected, verdict: Verdict) -> usize {
        let counts = self.0.get(&expected);
        counts.and_then(|counts| counts.get(&verdict)).copied().unwrap_or(0)
    }

    /// Whether the check decides this many kernels. Where schedules differ, it can be open, and for few of the sound ones.
    pub(crate) fn decides(&self, least: Least) -> bool {
        let uncertain = [Verdict::Defect, Verdict::Open];
        let uncertain = uncertain.map(|verdict| self.count(Expected::Uncertain, verdict));
        let open = self.count(Expected::Clean, Verdict::Open);
        20 * open <= self.count(Expected::Clean, Verdict::Clean)
            && self.count(Expected::Clean, Verdict::Clean) >= least.clean
            && self.count(Expected::Races, Verdict::Defect) >= least.races
            && self.count(Expected::Broken, Verdict::Defect) >= least.broken
            && uncertain.into_iter().sum::<usize>() >= least.uncertain
    }

    /// Whether the check must decide this many kernels.
    pub(crate) fn contains(&self, least: Least) -> bool {
        let kernels = |expected| self.0.get(&expected).map_or(0, |all| all.values().sum::<usize>());
        kernels(Expected::Clean) >= least.clean
            && kernels(Expected::Races) >= least.races
            && kernels(Expected::Broken) >= least.broken
            && kernels(Expected::Uncertain) >= least.uncertain
    }
}

/// Returns the kernel of a number.
pub(crate) fn kernel(theme: Theme, number: u64) -> Kernel {
    generate::kernel(&mut Dice::new(number), theme)
}

/// Returns the text of a kernel; the number decides its form.
pub(crate) fn printed(kernel: &Kernel, number: u64) -> Printed {
    print(kernel, &mut Dice::new(number))
}

/// Asks only the reference about the kernels of these numbers; all count as open.
pub(crate) fn judge(theme: Theme, numbers: Range<u64>) -> Tally {
    let mut tally = Tally::default();
    for number in numbers {
        tally.add(opinion(&kernel(theme, number)).expected, Verdict::Open);
    }
    tally
}

/// Compares the check with the reference on the kernels of these numbers.
pub(crate) fn run(theme: Theme, numbers: Range<u64>) -> Tally {
    let mut tally = Tally::default();
    for number in numbers {
        let kernel = kernel(theme, number);
        match outcome(&kernel, number) {
            Ok((expected, verdict)) => tally.add(expected, verdict),
            Err(_) => disagree(theme, number, kernel),
        }
    }
    tally
}

/// Returns what the check must say and says under the default schedule; an error tells a disagreement under that or one
/// other schedule.
pub(crate) fn outcome(kernel: &Kernel, number: u64) -> Result<(Expected, Verdict), String> {
    let opinion = opinion(kernel);
    let printed = printed(kernel, number);
    let others = [Schedule::Reverse, Schedule::InTurn, Schedule::Latest, Schedule::Random(number)];
    let other = others[usize::try_from(number % 4).expect("below 4")];
    let [first, other] = [Schedule::default(), other].map(|own| (own, check(&printed, own)));
    for (schedule, said) in [&first, &other] {
        compare(kernel, &opinion, said).map_err(|claim| {
            format!(
                "{claim}, under schedule {schedule:?}\n{kernel:#?}\n{}\nreference {opinion:?}\ncheck {:?}\n{}",
                printed.text, said.verdict, said.text
            )
        })?;
    }
    Ok((opinion.expected, first.1.verdict))
}

/// Removes commands as long as check and reference disagree, and panics.
fn disagree(theme: Theme, number: u64, mut kernel: Kernel) -> ! {
    loop {
        let smaller = smaller(&kernel).into_iter().find(|own| outcome(own, number).is_err());
        let Some(next) = smaller else { break };
        kernel = next;
    }
    let text = outcome(&kernel, number).err().unwrap_or_default();
    panic!("kernel {number} of {theme:?}, reduced: {text}");
}

/// Returns all kernels with one command or one lane less.
fn smaller(kernel: &Kernel) -> Vec<Kernel> {
    let mut all = Vec::new();
    for (group, own) in kernel.groups.iter().enumerate() {
        for at in 0..own.commands.len() {
            let mut next = kernel.clone();
            next.groups[group].commands.remove(at);
            next.normalize();
            all.push(next);
        }
        if own.lanes > 1 {
            let mut next = kernel.clone();
            next.groups[group].lanes = 1;
            next.normalize();
            all.push(next);
        }
    }
    all
}
