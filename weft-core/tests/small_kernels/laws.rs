//! probe
#![allow(dead_code, reason = "the modules serve other tests too")]

mod barriers;
mod cases;
mod checked;
mod clocks;
mod code;
mod dice;
mod found;
mod generate;
mod judge;
mod kernel;
mod machine;
mod memory;
mod orders;
mod print;
mod shrink;
mod suite;

use generate::Theme;
use kernel::Atomics;
use weft_core::launch::Schedule;

#[test]
fn probe() {
    for theme in [
        Theme::Plain,
        Theme::Flow,
        Theme::Barriers,
        Theme::Atomics(Atomics::Abstract),
        Theme::Atomics(Atomics::Off),
        Theme::Tickets(Atomics::Unique),
    ] {
        let (mut all, mut verdicts, mut findings, mut broken, mut open) = (0, 0, 0, 0, 0);
        let mut shown = 0;
        let start = std::time::Instant::now();
        for number in 0..1000 {
            let mut case = cases::case(theme, number, 1);
            case.kernel.block = [34, 64, 66, 96][number as usize % 4];
            let code = code::lower(&case.kernel);
            let checked = checked::Checked::new(&case.kernel, &code);
            let mut launch = checked.launch(&case.inputs[0], case.open);
            let mut said = |schedule| {
                launch.options.schedule = schedule;
                found::Found::new(&checked, &checked.report(&launch), |p| p)
            };
            let first = said(Schedule::InOrder);
            broken += usize::from(first.is_broken());
            open += usize::from(first.verdict == weft_core::finding::Verdict::Open);
            all += 1;
            for schedule in
                [Schedule::Reverse, Schedule::InTurn, Schedule::Latest, Schedule::Random(number)]
            {
                let other = said(schedule);
                if other.verdict != first.verdict {
                    verdicts += 1;
                } else if other != first && !first.is_broken() && !other.is_broken() {
                    findings += 1;
                } else {
                    continue;
                }
                shown += 1;
                if shown < 12 {
                    println!("{theme:?} {number} {schedule:?}\n  {first:?}\n  {other:?}");
                }
            }
        }
        println!(
            "{theme:?} all {all} broken {broken} open {open} verdicts differ {verdicts} findings differ {findings} {:?}",
            start.elapsed()
        );
    }
}
