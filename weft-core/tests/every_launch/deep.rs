//! Tens of thousands of random kernels without a launch, compared as in the test suite. Run by name, in release mode.

#[path = "../small_kernels/dice.rs"]
mod dice;
mod generate;
mod law;
mod sample;

#[test]
fn deep_launches() {
    let tally = law::run(1_000_000..1_030_000, 40);
    assert!(tally.proved > 5_000 && tally.defective > 10_000, "{tally:?}");
}
