//! The libFuzzer target `reader`: see `weft_trials::target::reader`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| weft_trials::target::reader(bytes));
