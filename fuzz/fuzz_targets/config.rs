//! The libFuzzer target `config`: see `weft_trials::target::config`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| weft_trials::target::config(bytes));
