//! Mutated and random inputs from fixed seeds. `cargo run --release -p weft-trials --bin mutate` runs many more.

use weft_trials::dice::Dice;
use weft_trials::{corpus, mutation, target};

/// Runs a target on its saved inputs and on `count` changes of them.
fn mutated(name: &str, count: usize) {
    let target = target::ALL.iter().find(|own| own.name == name).expect("it is a target");
    let corpus = corpus::of(name);
    assert!(!corpus.is_empty(), "the saved inputs were not found");
    for input in &corpus {
        (target.run)(input);
    }
    let mut dice = Dice::new(1);
    for _ in 0..count {
        (target.run)(&mutation::mutate(&corpus, &mut dice));
    }
}

#[test]
fn changed_ptx() {
    mutated("reader", 2_000);
}

#[test]
fn changed_configurations() {
    mutated("config", 3_000);
}

#[test]
fn changed_choices() {
    mutated("kernel", 500);
}
