//! The libFuzzer target `kernel`: see `weft_trials::target::kernel`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| weft_trials::target::kernel(bytes));
