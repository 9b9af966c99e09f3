//! Ten thousand random kernels without a launch, compared as in the test suite. Run by name, in release mode.

#[path = "../small_kernels/dice.rs"]
mod dice;
mod generate;
mod law;
mod sample;

#[test]
fn deep_launches() {
    let tally = law::run(generate::kernel, 1_000_000..1_010_000, 24);
    assert!(tally.proved > 1_500 && tally.defective > 4_000, "{tally:?}");
}

#[test]
fn deep_draws() {
    let tally = law::run(generate::drawing, 1_000_000..1_020_000, 16);
    assert!(tally.proved > 2_000 && tally.defective > 3_000, "{tally:?}");
}

#[test]
fn deep_meetings() {
    let tally = law::run(generate::meeting, 1_000_000..1_020_000, 16);
    assert!(tally.proved > 3_000 && tally.defective > 3_000, "{tally:?}");
}
