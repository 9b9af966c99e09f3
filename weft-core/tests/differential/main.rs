//! Compares the emulator with the host's C compiler, bit by bit, for every form of instruction that the emulator
//! computes.
//!
//! `operations/*.c` is one source for both sides (see `operation.h`). nvcc compiled it to the PTX files beside it,
//! which are saved; the test compiles it with the host's compiler to a program that computes the results by the
//! manual's definition. Where the manual leaves a result open, the emulator must do so too. nvcc is needed only when an
//! operation changes:
//!
//! ```text
//! cd weft-core/tests/differential/operations
//! for c in *.c; do nvcc -x cu -ptx -arch=sm_100 -fmad=false $c -o ${c%.c}.ptx; done   # CUDA 13.0
//! ```

#![allow(clippy::disallowed_methods, reason = "the test reads its sources and runs a compiler")]
#![allow(clippy::panic, reason = "a test fails by a panic that says why")]

mod coverage;
mod device;
mod host;
mod samples;

use std::path::{Path, PathBuf};

/// Threads of a kernel and operand sets of one run: `COUNT` in `operation.h`.
const COUNT: usize = 1024;
/// Operands of a thread: `OPERANDS` in `operation.h`.
const OPERANDS: usize = 4;
/// Number of runs, each with new operands.
const ROUNDS: u64 = 4;
/// Names of the source files, without extensions.
const FILES: [&str; 6] = ["integer", "bits", "compare", "convert", "float", "plain"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/differential/operations")
}

/// Returns the saved PTX of a file.
fn ptx(file: &str) -> String {
    let path = folder().join(file).with_extension("ptx");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn hexadecimal(value: Option<u64>) -> String {
    value.map_or_else(|| "open".to_owned(), |bits| format!("{bits:#x}"))
}

/// Compares all operations of a file; panics with the first differences of each operation.
fn compare(file: &str) {
    let program = host::compile(file);
    let text = ptx(file);
    let mut differences = Vec::new();
    for round in 0..ROUNDS {
        let samples = samples::round(round);
        let operations = host::run(&program, &samples);
        assert!(!operations.is_empty(), "{file} has no operations");
        for (group, expected) in host::groups(&operations) {
            let found = device::run(&text, group, &samples, expected.len());
            for (operation, results) in expected.iter().zip(found) {
                let wrong = (0..COUNT).find(|&lane| operation.results[lane] != results[lane]);
                let Some(lane) = wrong else { continue };
                let [a, b, c, d] = samples[lane];
                differences.push(format!(
                    "{group}: {}: {} where the host has {}\n    a = {a:#x}, b = {b:#x}, c = {c:#x}, d = {d:#x}",
                    operation.name,
                    hexadecimal(results[lane]),
                    hexadecimal(operation.results[lane]),
                ));
            }
        }
    }
    assert!(
        differences.is_empty(),
        "{} differences:\n{}",
        differences.len(),
        differences.join("\n")
    );
}

#[test]
fn integer_arithmetic() {
    compare("integer");
}

#[test]
fn bits_moves_and_addresses() {
    compare("bits");
}

#[test]
fn comparison_and_selection() {
    compare("compare");
}

#[test]
fn conversion() {
    compare("convert");
}

#[test]
fn floating_point_arithmetic() {
    compare("float");
}

#[test]
fn plain_functions() {
    compare("plain");
}

#[test]
fn every_form_is_met() {
    let texts: Vec<String> = FILES.iter().map(|file| ptx(file)).collect();
    let missing = coverage::missing(&texts);
    assert!(missing.is_empty(), "{} are not compared:\n{}", missing.len(), missing.join("\n"));
}
