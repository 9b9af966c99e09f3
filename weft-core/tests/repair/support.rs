//! Kernels of 64 threads on an array in shared memory, and their repair.

#![allow(clippy::panic, reason = "these functions are the assertions of tests")]

use weft_core::finding::{Report, Verdict};
use weft_core::launch::{BarrierDivergence, Dim3, Launch, Limit};
use weft_core::ptx::{self, Module};
use weft_core::repair::{
    Action, Aim, Costs, KernelRepair, Mend, Obstacle, RepairOutcome, RepairRequest, Uniformity,
    edited, repair,
};
use weft_core::{CheckError, check};

/// Returns the module of a kernel `k`. `%r1` is the thread, `%r2` the address of its word, `%r3` that of the next one,
/// `%r8` a parameter.
pub(crate) fn kernel(body: &str) -> Module {
    kernel_with("", body)
}

/// The same with functions in front of the kernel.
pub(crate) fn kernel_with(functions: &str, body: &str) -> Module {
    let module = ptx::parse(&format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.shared .align 4 .b8 words[2048];\n{functions}\
         .visible .entry k(.param .u32 k_param_0)\n{{\n.reg .b32 %r<20>;\n.reg .pred %p<9>;\n\
         ld.param.u32 %r8, [k_param_0];\nmov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 2;\nmov.u32 %r4, words;\n\
         add.s32 %r2, %r2, %r4;\nadd.s32 %r3, %r2, 4;\n{body}\nret;\n}}\n"
    ));
    assert!(module.errors.is_empty(), "{:?}\n{}", module.errors, module.text());
    module
}

pub(crate) fn reports(module: &Module, uniformity: Uniformity) -> Result<Vec<Report>, CheckError> {
    let limit = Limit { instructions: 1 << 20, ..Limit::default() };
    let mut launch = Launch { block: Some(Dim3::line(64).into()), limit, ..Launch::default() };
    if uniformity == Uniformity::Cta {
        launch.options.barrier_divergence = BarrierDivergence::Cta;
    }
    Ok(vec![check(module, module.kernel("k").expect("the kernel is there"), &launch)?])
}

pub(crate) fn is_clean(module: &Module, uniformity: Uniformity) -> bool {
    reports(module, uniformity).expect("the launch fits")[0].verdict() == Verdict::Clean
}

pub(crate) fn repaired(module: &Module, aim: Aim) -> KernelRepair {
    let costs = Costs::default();
    let (kernel, most_checks, is_source) = ("k", 200, &|_: &str| true);
    let request = RepairRequest { module, kernel, aim, costs, most_checks, is_source };
    repair(&request, &mut |changed, uniformity, _| {
        assert!(changed.errors.is_empty(), "{:?}\n{}", changed.errors, changed.text());
        reports(changed, uniformity)
    })
    .expect("the launch fits")
}

/// The mend of a kernel whose repair has to succeed; the mended kernel is clean.
pub(crate) fn mend(module: &Module, aim: Aim) -> Mend {
    let repair = repaired(module, aim);
    let RepairOutcome::Mended(mend) = repair.outcome else {
        panic!("not mended: {:?}\n{}", repair.outcome, module.text())
    };
    assert!(is_clean(&mended(module, &mend), Uniformity::Launch), "{:?}", mend.edits);
    assert!(repair.checks <= 30, "{} checks\n{}", repair.checks, module.text());
    mend
}

/// The module with the changes of a mend made.
pub(crate) fn mended(module: &Module, mend: &Mend) -> Module {
    ptx::parse(&edited(module.text(), &mend.edits))
}

/// What is left of a kernel that barriers do not help.
pub(crate) fn refused(module: &Module) -> Vec<&'static str> {
    match repaired(module, Aim::Insert).outcome {
        RepairOutcome::Refused(Obstacle::Findings(findings)) => {
            findings.iter().map(|finding| finding.code.name()).collect()
        }
        outcome => panic!("not refused: {outcome:?}"),
    }
}

/// The instructions next to which barriers are inserted.
pub(crate) fn places(module: &Module, mend: &Mend) -> Vec<String> {
    let text = |change: &weft_core::repair::Change| match change.action {
        Action::Insert(kind, side) => {
            format!("{} {side:?} {}", kind.ptx(), module.name(change.site.span))
        }
        other => format!("{other:?} {}", module.name(change.site.span)),
    };
    mend.changes.iter().map(text).collect()
}
