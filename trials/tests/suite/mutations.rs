//! Mutated and random inputs, the same ones each time. Many more: `cargo run --release -p weft-trials --bin mutate`.

use weft_trials::dice::Dice;
use weft_trials::{corpus, mutation, target};

/// Tries the saved inputs of a target, then so many changes of them.
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
