//! Which global memory a kernel might write, whatever its launch.

use std::collections::BTreeSet;

use super::linked;
use crate::flow::{Placement, Program};
use crate::ptx::isa::{Effect, Modifier, Modifiers};
use crate::ptx::{Function, Module};
use crate::symbolic;

/// Returns the positions of the parameters through which a kernel might write global memory, itself or in functions that it calls, or that it stores
/// in memory, where a later kernel might find them;
/// `None` if it might write memory that no parameter points to, or cannot be linked. Pointers are taken to stay in the
/// buffers that the parameters point into. Variables of the module are not among the parameters.
pub fn written_parameters(module: &Module, kernel: &Function) -> Option<BTreeSet<usize>> {
    let program = linked::build(module, kernel, &[], (&Placement::default(), None)).ok()?;
    symbolic::written_parameters(&program)
}

/// Whether a kernel reads memory in a way that sees what others than its own device write while it runs: by volatile loads, or by strong ones
/// for the whole system (PTX ISA, "Memory Consistency Model").
pub fn watches_memory(program: &Program) -> bool {
    let watches = |modifiers: Modifiers| {
        modifiers.has(Modifier::Volatile)
            || modifiers.has(Modifier::Mmio)
            || modifiers.has(Modifier::Sys)
    };
    program.code.iter().any(|instr| {
        instr.effect() == Effect::Load
            && instr.decoded().is_some_and(|decoded| watches(decoded.modifiers))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx;

    /// Returns what a kernel with the parameters `a`, `b` and the structure `s` writes.
    fn written(body: &str) -> Option<Vec<usize>> {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func away(.param .b64 p);\n\
             .visible .entry k(.param .u64 a, .param .u64 b, .param .align 8 .b8 s[16]) {{\n\
             .reg .b64 %rd<9>;\n.reg .b32 %r<9>;\n{body}\nret;\n}}\n"
        );
        let module = ptx::parse(&text);
        assert!(module.errors.is_empty(), "{:?}", module.errors);
        let kernel = module.kernel("k").expect("it stands in the text");
        written_parameters(&module, kernel).map(|all| all.into_iter().collect())
    }

    #[test]
    fn stores_and_atomics_write_through_their_parameters() {
        assert_eq!(written(""), Some(vec![]));
        let read = "ld.param.u64 %rd1, [a];\nld.global.u32 %r1, [%rd1];\n";
        assert_eq!(written(read), Some(vec![]));
        let store = "ld.param.u64 %rd2, [b];\nadd.s64 %rd3, %rd2, 4;\nst.global.u32 [%rd3], 1;\n";
        assert_eq!(written(&format!("{read}{store}")), Some(vec![1]));
        let atomic = "red.global.add.u32 [%rd1], 1;\n";
        assert_eq!(written(&format!("{read}{store}{atomic}")), Some(vec![0, 1]));
        let field = "ld.param.u64 %rd4, [s+8];\nst.global.u32 [%rd4], 1;\n";
        assert_eq!(written(field), Some(vec![2]));
        let stored = "st.global.u64 [%rd1], %rd2;\n";
        let both = "ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\n";
        assert_eq!(written(&format!("{both}{stored}")), Some(vec![0, 1]));
        assert_eq!(written("st.shared.u32 [0], 1;\n"), Some(vec![]));
    }

    #[test]
    fn pointers_of_unknown_origin_write_anything() {
        let loaded =
            "ld.param.u64 %rd1, [a];\nld.global.u64 %rd2, [%rd1];\nst.global.u32 [%rd2], 1;\n";
        assert_eq!(written(loaded), None);
        let chosen = "ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\nmin.u64 %rd3, %rd1, %rd2;\n\
                      st.global.u32 [%rd3], 1;\n";
        assert_eq!(written(chosen), None);
        let call = "ld.param.u64 %rd1, [a];\n{\n.param .b64 q;\nst.param.b64 [q], %rd1;\n\
                    call.uni away, (q);\n}\n";
        assert_eq!(written(call), None);
        for copied in [
            "st.bulk.weak [%rd1], 8, 0;\n",
            "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 16;\n",
        ] {
            assert_eq!(written(&format!("ld.param.u64 %rd1, [a];\n{copied}")), None, "{copied}");
        }
    }

    #[test]
    fn volatile_loads_and_those_for_the_whole_system_watch_memory() {
        let watches = |load: &str| {
            let text = format!(
                ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a) {{\n.reg .b64 %rd<2>;\n\
                 .reg .b32 %r<2>;\nld.param.u64 %rd1, [a];\n{load} %r1, [%rd1];\nret;\n}}\n"
            );
            let module = ptx::parse(&text);
            let kernel = module.kernel("k").expect("it stands in the text");
            let program = linked::build(&module, kernel, &[], (&Placement::default(), None));
            watches_memory(&program.expect("it can be linked"))
        };
        for load in ["ld.volatile.global.u32", "ld.relaxed.sys.global.u32", "ld.acquire.sys.u32"] {
            assert!(watches(load), "{load}");
        }
        for load in ["ld.global.u32", "ld.relaxed.gpu.global.u32", "ld.global.nc.u32"] {
            assert!(!watches(load), "{load}");
        }
    }

    #[test]
    fn copies_into_shared_memory_write_nothing_else() {
        let copied = "ld.param.u64 %rd1, [a];\ncp.async.ca.shared.global [%r1], [%rd1], 16;\n\
                      cp.async.commit_group;\ncp.async.wait_group 0;\ncp.async.wait_all;\n\
                      mbarrier.init.shared.b64 [%r1], 1;\n";
        assert_eq!(written(copied), Some(vec![]));
    }
}
