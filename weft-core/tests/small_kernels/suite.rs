//! Runs cases and prints disagreements.

#![allow(clippy::panic, reason = "a disagreement is told in full")]

use std::ops::Range;

use crate::cases::case;
use crate::checked::Checked;
use crate::code::lower;
use crate::generate::Theme;
use crate::judge::{Tally, judge};
use crate::shrink::shrink;

/// Compares check and reference on the cases of these numbers, with this many inputs each.
pub(crate) fn run(theme: Theme, numbers: Range<u64>, inputs: usize) -> Tally {
    let mut tally = Tally::default();
    for number in numbers {
        let case = case(theme, number, inputs);
        match judge(&case) {
            Ok(own) => tally.add(&own),
            Err(disagreement) => {
                let (case, shown) = shrink(case, disagreement);
                let text = Checked::new(&case.kernel, &lower(&case.kernel)).text().to_owned();
                let launch = (case.kernel.block, case.kernel.grid, case.kernel.atomics, case.open);
                panic!(
                    "case {number} of {theme:?}: not so: {}\n{text}\nlaunch {launch:?}\ninputs {:?}\nthe check says {:?} {:?}\n{}\nthe reference {:?}",
                    shown.claim,
                    shown.inputs,
                    shown.said.verdict,
                    shown.said.races,
                    shown.said.text,
                    shown.outcome
                );
            }
        }
    }
    tally
}
