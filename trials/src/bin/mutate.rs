//! `mutate TARGET COUNT [SEED]` runs a target on `COUNT` mutated or random inputs. An input on which it panics is
//! written to `failure-TARGET-NUMBER` in the current folder; inputs that take long are reported.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "printing is what it is for")]

use std::panic::catch_unwind;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use weft_trials::dice::Dice;
use weft_trials::{corpus, mutation, target};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|own| own.parse::<u64>().ok());
    let Some(target) = target::ALL.iter().find(|own| arguments.first() == Some(&own.name.into()))
    else {
        eprintln!("mutate {{reader|config|kernel}} COUNT [SEED]");
        return ExitCode::FAILURE;
    };
    let (count, mut dice) = (number(1).unwrap_or(10_000), Dice::new(number(2).unwrap_or(1)));
    let corpus = corpus::of(target.name);
    let (start, mut slowest, mut failures) = (Instant::now(), Duration::ZERO, 0);
    for at in 0..count {
        let input = input(target.name, &corpus, &mut dice);
        let began = Instant::now();
        let is_well = catch_unwind(|| (target.run)(&input)).is_ok();
        let took = began.elapsed();
        if !is_well || (took > slowest && took > Duration::from_secs(1)) {
            let path = format!("failure-{}-{at}", target.name);
            println!("{path}: {} {took:?}", if is_well { "slow" } else { "panics" });
            if let Err(error) = std::fs::write(&path, &input) {
                eprintln!("{path}: {error}");
            }
            failures += u64::from(!is_well);
        }
        slowest = slowest.max(took);
    }
    println!(
        "{}: {count} inputs, {failures} panics, slowest {slowest:?}, {:?} in all",
        target.name,
        start.elapsed()
    );
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns a changed saved input. The target `kernel` has few of them: it gets random bytes in three of four cases.
fn input(target: &str, corpus: &[Vec<u8>], dice: &mut Dice) -> Vec<u8> {
    if target == "kernel" && (corpus.is_empty() || dice.below(4) > 0) {
        let length = 1 + dice.below(1024);
        return dice.bytes(length);
    }
    mutation::mutate(corpus, dice)
}
