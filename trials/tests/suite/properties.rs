//! Properties of random inputs; proptest shrinks an input that fails.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use weft_core::ptx::{self, Statement};
use weft_core::report::escape;
use weft_trials::{kernel, target};

/// Uses the same inputs in each run, and writes no files.
fn config(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Config::default() }
}

/// Generates pieces of PTX in arbitrary order.
fn soup() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z%$_][a-z0-9]{0,3}",
        "\\.[a-z]{1,6}",
        "[0-9]{1,22}",
        "0[xfdb][0-9A-F]{0,17}",
        "[;:,(){}\\[\\]<>@!|+=-]",
        Just(".reg .b32 %r<4>;".to_owned()),
        Just("add.s32 %r1, %r2, 3;".to_owned()),
        Just("\n".to_owned()),
        "\\PC{1,3}",
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.join(" "))
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn what_is_read_lies_in_the_text(soup in soup()) {
        let text = format!(".version 8.0\n.target sm_80\n.address_size 64\n.entry k()\n{{\n{soup}\n}}\n");
        let module = ptx::parse(&text);
        for function in &module.functions {
            prop_assert!(text.get(function.span.range()).is_some());
            let mut depth = 0_i64;
            for statement in function.body.iter().flat_map(|body| &body.statements) {
                match statement {
                    Statement::Open => depth += 1,
                    Statement::Close => depth -= 1,
                    Statement::Instruction(own) => {
                        prop_assert!(text.get(own.span.range()).is_some());
                        prop_assert!(!module.name(own.mnemonic).is_empty());
                    }
                    _ => {}
                }
                prop_assert!(depth >= 0);
            }
            prop_assert!(depth == 0 || !module.errors.is_empty());
        }
        for line in 1..=u32::try_from(text.lines().count()).unwrap_or(0) {
            prop_assert_eq!(module.line(line), text.lines().nth(line as usize - 1));
        }
    }

    #[test]
    fn nothing_printed_moves_the_cursor(text in "\\PC{0,8}[\\x00-\\x1f\\x7f-\\x9f\u{202a}-\u{202e}\u{2066}-\u{2069}]{0,8}\\PC{0,8}") {
        let safe = escape(&text);
        let moves = |c: char| c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c);
        prop_assert!(!safe.chars().any(moves), "unsafe");
        prop_assert_eq!(escape(&safe), safe.clone());
    }

    #[test]
    fn random_kernels_are_read_and_checked(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        let (text, _) = kernel::from_bytes(&bytes);
        prop_assert!(ptx::parse(&text).kernel("kernel").is_some(), "{text}");
        target::kernel(&bytes);
    }

    #[test]
    fn random_configurations_are_judged(text in "(\\[\\[?(kernel|default|kernel\\.launch)\\]\\]?\n|(block|grid|args|name|allow|label|ptx|shared) = (\"[a-z(]{0,4}\"|[0-9]{1,12}|\\[[0-9, ]{0,9}\\]|\\{ [0-9] = [0-9]{1,5} \\})\n){0,8}") {
        target::config(text.as_bytes());
    }
}
