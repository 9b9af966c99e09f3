//! Random kernels without a launch: what is proved for every launch and every argument has no race and no defect of a
//! barrier in any sampled run, extreme arguments included.

#[path = "../small_kernels/dice.rs"]
mod dice;
mod generate;
mod law;
mod required;
mod sample;

#[test]
fn what_is_proved_for_every_launch_holds_in_samples() {
    let tally = law::run(generate::kernel, 0..400, 16);
    assert!(tally.proved > 50 && tally.runs > 500, "{tally:?}");
    assert!(tally.defective > 100, "{tally:?}");
}

#[test]
fn what_is_proved_under_requirements_holds_where_they_are_fulfilled() {
    let tally = law::run_required(generate::requiring, 0..600, 10);
    assert!(tally.proved > 50 && tally.runs > 300 && tally.required > 20, "{tally:?}");
}

#[test]
fn rows_of_unrolled_loops_that_are_proved_to_be_apart_are() {
    let tally = law::run(generate::unrolled, 0..60, 12);
    assert!(tally.proved > 20 && tally.defective > 20, "{tally:?}");
}

#[test]
fn sums_of_digits_that_are_proved_to_differ_do() {
    let tally = law::run(generate::digits, 0..1000, 6);
    assert!(tally.proved > 50 && tally.defective > 100, "{tally:?}");
}

#[test]
fn draws_that_are_proved_to_differ_do() {
    let tally = law::run(generate::drawing, 0..400, 6);
    assert!(tally.proved > 80 && tally.defective > 100, "{tally:?}");
}

#[test]
fn butterflies_that_are_proved_to_be_apart_are() {
    let tally = law::run(generate::butterflies, 0..500, 8);
    assert!(tally.proved > 50 && tally.defective > 100, "{tally:?}");
}

#[test]
fn threads_that_are_proved_to_meet_do() {
    let tally = law::run(generate::meeting, 0..1500, 8);
    assert!(tally.proved > 500 && tally.defective > 300, "{tally:?}");
}
