//! Takes one of each instruction that accesses memory, synchronizes, or is not computed, and tests that it is in the
//! table, parses and links.

#![allow(clippy::disallowed_methods, reason = "the test reads saved PTX")]

use std::path::Path;

use weft_core::flow;
use weft_core::ptx::{self, Module, Statement, isa};

/// Addresses in the shared memory of other ctas are not modelled.
const STRANGE: &str = "shared::cluster";

fn mnemonics(module: &Module) -> Vec<&str> {
    let bodies = module.functions.iter().filter_map(|function| function.body.as_ref());
    let statements = bodies.flat_map(|body| &body.statements);
    let mnemonic = |statement: &Statement| match statement {
        Statement::Instruction(instruction) => Some(module.name(instruction.mnemonic)),
        _ => None,
    };
    statements.filter_map(mnemonic).collect()
}

#[test]
fn every_instruction_reads_and_links() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/instructions");
    for target in ["sm_100a", "sm_90a"] {
        let path = folder.join(target).with_extension("ptx");
        let text = std::fs::read_to_string(&path).expect("the file is part of the checkout");
        let module = ptx::parse(&text);
        assert!(module.errors.is_empty(), "{target}: {:?}", module.errors);
        for mnemonic in mnemonics(&module) {
            assert!(isa::decode(mnemonic).is_some(), "{mnemonic} is not in the table");
        }
        let kernel = module.kernels().next().expect("each file has a kernel");
        let program = flow::build(&module, kernel);
        let program = program.unwrap_or_else(|error| panic!("{target}: {error}"));
        let unknown = program.code.iter().filter(|instr| instr.decoded().is_none());
        for instr in unknown {
            let text = module.name(program.places[instr.place.0 as usize].span);
            // The ranks of other ctas are refused at `mapa`.
            let is_refused = text.contains(STRANGE) || text.starts_with("mapa");
            assert!(is_refused, "{text} has words that are unknown");
        }
    }
}
