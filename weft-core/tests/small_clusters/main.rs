//! Small kernels of clusters of two ctas: the check finds each pair of instructions that races, each pair that only lacks a
//! fence between the proxies, each access to the memory of a cta that might not exist, and nothing else.
//!
//! Four threads, one in each of two warps of two ctas, execute a list of commands that all schedules execute with the same
//! happens-before: it follows from the list alone. The reference (`reference.rs`) follows it event by event, where the check
//! keeps clocks.

mod command;
#[path = "../small_proxies/defects.rs"]
mod defects;
#[path = "../small_kernels/dice.rs"]
mod dice;
mod print;
mod reference;

use std::collections::{BTreeMap, BTreeSet};

use command::Command;
use dice::Dice;
use weft_core::finding::Code;

/// What is wrong, by the numbers of commands in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Wrong {
    /// Accesses of two commands, of which the first one comes first in the list.
    Pair([usize; 2]),
    /// An access to the memory of a cta that might not have begun.
    Before(usize),
    /// An access to the memory of a cta that might have ended.
    After(usize),
}

type Found = BTreeSet<(Wrong, Code)>;

/// Checks a kernel. Returns its defects.
fn check(commands: &[Command], meets: bool) -> Found {
    let (text, numbers) = print::kernel(commands, meets);
    let mut found = Found::new();
    for finding in defects::of(&text, 2, print::BLOCK) {
        let number = |at: usize| {
            let line = finding.sites[at].ptx.line as usize;
            numbers[line].unwrap_or_else(|| unreachable!("{} in\n{text}", finding.message))
        };
        let (first, last) = (number(0), number(finding.sites.len() - 1));
        let mut insert = |wrong| found.insert((wrong, finding.code));
        if finding.code != Code::ClusterLifetime {
            insert(Wrong::Pair([first.min(last), first.max(last)]));
            continue;
        }
        if finding.message.contains("begun") {
            insert(Wrong::Before(first));
        }
        if finding.message.contains("ended") {
            insert(Wrong::After(first));
        }
    }
    found
}

#[test]
fn the_check_finds_what_the_reference_finds() {
    let mut tally = BTreeMap::new();
    let mut clean = 0;
    for seed in 0..3000 {
        let dice = &mut Dice::new(seed);
        let meets = !dice.chance(20);
        let commands = command::list(dice, meets && seed % 2 == 0, reference::happens);
        let expected = reference::judge(&commands, meets);
        let found = check(&commands, meets);
        let text = || print::kernel(&commands, meets).0;
        assert_eq!(expected, found, "seed {seed}\n{commands:?}\n{}", text());
        clean += u32::from(found.is_empty());
        for (wrong, code) in &found {
            let kind = match wrong {
                Wrong::Pair(_) => 0,
                Wrong::Before(_) => 1,
                Wrong::After(_) => 2,
            };
            *tally.entry((*code, kind)).or_insert(0) += 1;
        }
    }
    // Each kind occurs, and enough kernels have none.
    let least = [
        ((Code::SharedRace, 0), 500),
        ((Code::AsyncRace, 0), 300),
        ((Code::ProxyFence, 0), 100),
        ((Code::ClusterLifetime, 1), 300),
        ((Code::ClusterLifetime, 2), 300),
    ];
    let has = |(kind, least): ((Code, i32), i32)| tally.get(&kind).is_some_and(|own| *own >= least);
    assert!(clean >= 200 && least.into_iter().all(has), "{clean} {tally:?}");
}
