//! Small kernels with bulk copies and fences between the proxies: the check finds each pair of instructions that races, and
//! each that happens in order without a fence, and no other.
//!
//! Four threads of two warps execute a list of commands that all schedules execute with the same happens-before: it follows
//! from the list alone. The reference (`reference.rs`) follows it event by event, and looks for a fence on a path from
//! one access to the other (PTX ISA §8.9.5), where the check keeps clocks.

mod command;
mod defects;
#[path = "../small_kernels/dice.rs"]
mod dice;
mod print;
mod reference;

use std::collections::{BTreeMap, BTreeSet};

use command::Command;
use dice::Dice;
use weft_core::finding::Code;

/// Two commands by their number in the list, the first one first, and what is wrong with their accesses.
type Found = BTreeSet<([usize; 2], Code)>;

/// Checks a kernel. Returns its defects.
fn check(commands: &[Command]) -> Found {
    let (text, numbers) = print::kernel(commands);
    let mut found = Found::new();
    for finding in defects::of(&text, 1, print::BLOCK) {
        let number = |at: usize| {
            let line = finding.sites[at].ptx.line as usize;
            numbers[line].expect("only commands access memory")
        };
        let (first, last) = (number(0), number(finding.sites.len() - 1));
        found.insert(([first.min(last), first.max(last)], finding.code));
    }
    found
}

#[test]
fn the_check_finds_what_the_reference_finds() {
    let mut tally = BTreeMap::new();
    let mut clean = 0;
    for seed in 0..3000 {
        let commands = command::list(&mut Dice::new(seed));
        let (expected, found) = (reference::judge(&commands), check(&commands));
        assert_eq!(expected, found, "seed {seed}\n{}", print::kernel(&commands).0);
        clean += u32::from(found.is_empty());
        for (_, code) in &found {
            *tally.entry(*code).or_insert(0) += 1;
        }
    }
    // Each kind of pair occurs, and enough kernels have none.
    let least = [(Code::SharedRace, 500), (Code::AsyncRace, 500), (Code::ProxyFence, 500)];
    let has = |(code, least): (Code, i32)| tally.get(&code).is_some_and(|count| *count >= least);
    assert!(clean >= 200 && least.into_iter().all(has), "{clean} {tally:?}");
}
