//! Small kernels in which threads wait until a flag or a counter has a value: the check proves no kernel that has a race in
//! some execution in which all waits end.
//!
//! The reference (`reference.rs`) tries all executions, and follows the rules of the PTX manual event by event; the check
//! runs the kernel once and keeps clocks.

#[path = "../small_kernels/dice.rs"]
mod dice;
mod draw;
mod reference;
mod step;

use dice::Dice;
use reference::judge;
use step::Kernel;
use weft_core::finding::Verdict;
use weft_core::launch::{Dim3, Launch, Limit};
use weft_core::ptx;

/// How many kernels there were, by what was found.
#[derive(Debug, Default)]
struct Tally {
    kernels: u32,
    /// Clean, and there is an execution.
    clean: u32,
    /// Of these, those that would race without their waits.
    clean_by_waits: u32,
    defects: u32,
    racing: u32,
    /// Without a race, but not found clean.
    missed: u32,
    missed_by_waits: u32,
    /// In which some wait never ends.
    endless: u32,
}

fn verdict(kernel: &Kernel) -> Verdict {
    let text = kernel.print();
    let module = ptx::parse(&text);
    assert!(module.errors.is_empty(), "{:?} in\n{text}", module.errors);
    let line = |extent| Some(Dim3::line(extent).into());
    let launch = Launch { block: line(kernel.block), grid: line(kernel.ctas), ..Launch::default() };
    let entry = module.kernels().next().expect("there is one");
    let report = weft_core::check(&module, entry, &launch)
        .unwrap_or_else(|error| unreachable!("{error} in\n{text}"));
    if std::env::var("SHOW").is_ok_and(|show| show == "report") {
        println!("{text}");
        for finding in &report.findings {
            println!("FINDING {finding:?}");
        }
    }
    report.verdict()
}

fn number(name: &str, other: u64) -> u64 {
    std::env::var(name).map_or(other, |text| text.parse().expect("a number"))
}

#[test]
fn what_is_clean_has_no_race_in_any_execution() {
    let (first, count) = (number("FIRST", 0), number("COUNT", 3000));
    let show = std::env::var("SHOW").unwrap_or_default();
    let mut tally = Tally::default();
    let mut wrong = 0;
    let (mut time_check, mut time_judge) = (std::time::Duration::ZERO, std::time::Duration::ZERO);
    for seed in first..first + count {
        let kernel = draw::kernel(&mut Dice::new(seed));
        let start = std::time::Instant::now();
        let verdict = verdict(&kernel);
        time_check += start.elapsed();
        if show == "time" {
            println!("TIME {seed} {verdict:?} {}", start.elapsed().as_millis());
        }
        let start = std::time::Instant::now();
        let judgement = judge(&kernel, true);
        time_judge += start.elapsed();
        let (ends, races) = (judgement.executions > 0, judgement.races);
        tally.kernels += 1;
        tally.endless += u32::from(!ends);
        tally.racing += u32::from(races);
        tally.defects += u32::from(verdict == Verdict::Defect);
        let by_waits = || judge(&kernel, false).races;
        match verdict {
            Verdict::Clean if races => {
                wrong += 1;
                if wrong < 10 {
                    println!(
                        "WRONG seed {seed}: {verdict:?}, {judgement:?}\n{kernel:?}\n{}",
                        kernel.print()
                    );
                }
            }
            Verdict::Defect if ends && !races => {
                println!("DEFECT? seed {seed}: {verdict:?}, {judgement:?}\n{kernel:?}");
            }
            Verdict::Clean if ends => {
                tally.clean += 1;
                tally.clean_by_waits += u32::from(by_waits());
            }
            Verdict::Open if ends && !races => {
                tally.missed += 1;
                tally.missed_by_waits += u32::from(by_waits());
                if show == "missed" {
                    println!("MISSED seed {seed}\n{kernel:?}");
                }
            }
            _ => {}
        }
    }
    println!("{tally:?}, {wrong} wrong, check {time_check:?}, judge {time_judge:?}");
    assert_eq!(wrong, 0);
}
