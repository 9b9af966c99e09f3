//! The target `kernel` for libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| weft_trials::target::kernel(bytes));
