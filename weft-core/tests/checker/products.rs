//! Tests of products of matrices by warpgroups, beside the fixtures `async-race/wgmma`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use weft_core::finding::{Class, Code, Report, Verdict};
use weft_core::launch::{Dim3, Launch};
use weft_core::{CheckError, check, ptx};

/// Two matrices with a swizzle of 128 bytes, at the beginning of shared memory.
const DESCRIPTOR: &str = "0x4000004000010000";

const PRODUCT: &str = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %a, %b, %p, 1, 1, 0, 0;";

/// Runs a warpgroup in which `%a` and `%b` are descriptors of `tile`, `%p` holds, and `%q` holds for the first 16 threads.
fn run(body: &str) -> Result<Report, CheckError> {
    let text = format!(
        ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u32 n)\n{{\n\
         .reg .b32 %t, %n, %i, %r<9>;\n.reg .f32 %f<4>;\n.reg .b64 %a, %b;\n.reg .pred %p, %q, %z;\n\
         .shared .align 1024 .b8 tile[32768];\n\
         ld.param.u32 %n, [n];\nmov.u32 %t, %tid.x;\nsetp.lt.u32 %q, %t, 16;\nsetp.lt.u32 %p, %t, 128;\nsetp.eq.u32 %z, %t, 0;\n\
         mov.u32 %r8, tile;\nshr.u32 %r8, %r8, 4;\ncvt.u64.u32 %a, %r8;\nor.b64 %a, %a, {DESCRIPTOR};\n\
         mov.b64 %b, %a;\nwgmma.fence.sync.aligned;\n{body}\nret;\n}}\n"
    );
    let module = ptx::parse(&text);
    assert!(module.errors.is_empty(), "{:?}\n{text}", module.errors);
    let launch = Launch {
        block: Some(Dim3::line(128).into()),
        grid: Some(Dim3::line(1).into()),
        ..Launch::default()
    };
    check(&module, module.kernel("k").unwrap(), &launch)
}

/// Runs a product, with stores to its matrices before anybody waits for it.
fn with_store(product: &str) -> Report {
    run(&format!(
        "{product}\nwgmma.commit_group.sync.aligned;\n@%z st.shared.u32 [tile], 5;\n\
         wgmma.wait_group.sync.aligned 0;"
    ))
    .unwrap()
}

#[test]
fn every_form_reads_its_matrices() {
    let forms = [
        "m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %a, %b, %p, 1, -1, 0, 1",
        "m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, {%r4, %r5, %r6, %r7}, %b, %p, 1, 1, 1",
        "m64n8k8.f32.tf32.tf32 {%f0, %f1, %f2, %f3}, %a, %b, %p, 1, 1",
        "m64n8k32.f16.e4m3.e5m2 {%r0, %r1}, %a, %b, %p, 1, 1",
        "m64n8k32.s32.s8.u8.satfinite {%r0, %r1, %r2, %r3}, %a, %b, %p",
        "m64n8k32.s32.s8.u8 {%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}, %b, %p",
        "m64n8k256.s32.b1.b1.and.popc {%r0, %r1, %r2, %r3}, %a, %b, %p",
        "m64n8k64.s32.s8.u8 {%r0, %r1, %r2, %r3}, %a, %b, %r4, 0, %p",
        "m64n8k32.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, {%r4, %r5, %r6, %r7}, %b, %r3, 1, %p, 1, 1, 0",
        "m64n8k32.f32.f16.f16 {%f0, %f1, %f2, %f3}, %a, %b, %r3, 1, %p, 1, 1, 1, 1",
    ];
    for form in forms {
        let sparse =
            if form.contains("%r4, 0") || form.contains("%r3, 1, %p") { ".sp" } else { "" };
        let product = format!("wgmma.mma_async{sparse}.sync.aligned.{form};");
        let report = with_store(&product);
        assert_eq!(report.findings[0].code, Code::AsyncRace, "{product}");
        let alone = run(&product).unwrap();
        assert_eq!(alone.verdict(), Verdict::Clean, "{product}");
    }
}

#[test]
fn operands_are_those_of_a_product() {
    let wrong = [
        "m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %a, %b, %p, 1, 1, 0",
        "m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %a, %b",
        "m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %a",
        "m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %a, %b, %p, 1, 1, %t, 0",
    ];
    for operands in wrong {
        let product = format!("wgmma.mma_async.sync.aligned.{operands};");
        assert!(run(&product).is_err(), "{product}");
    }
}

#[test]
fn what_is_not_decided_is_open() {
    let is_open = |body: &str| {
        let report = run(body).unwrap();
        assert_eq!(report.verdict(), Verdict::Open, "{body}");
        let open = report.findings.iter().find(|own| own.code.class() == Class::Open);
        open.expect("the verdict is open").code
    };
    assert_eq!(is_open(&format!("@%q {PRODUCT}")), Code::Unsupported, "16 threads of a warp");
    let other = format!("cvt.u64.u32 %b, %t;\nor.b64 %b, %b, {DESCRIPTOR};\n{PRODUCT}");
    assert_eq!(is_open(&other), Code::Unsupported, "threads with different matrices");
    let offset = format!("or.b64 %b, %b, 0x0002000000000000;\n{PRODUCT}");
    assert_eq!(is_open(&offset), Code::Unsupported, "a base offset");
    let open = format!("cvt.u64.u32 %b, %n;\n{PRODUCT}");
    assert_eq!(is_open(&open), Code::DependsOnInput, "a matrix that the launch does not give");
    let result = format!("{PRODUCT}\nsetp.gt.f32 %p, %f0, 0f00000000;\n@%p bar.sync 0;");
    assert_eq!(is_open(&result), Code::Unsupported, "a branch on a result");
    let rounds = format!(
        "mov.u32 %i, 0;\nL:\n{PRODUCT}\nwgmma.commit_group.sync.aligned;\nadd.u32 %i, %i, 1;\n\
         setp.lt.u32 %q, %i, %n;\n@%q bra L;"
    );
    assert_eq!(is_open(&rounds), Code::DependsOnInput, "a number of products that is open");
}

#[test]
fn a_warp_knows_only_groups_that_it_has_waited_for() {
    let waits = |keep: u32| {
        run(&format!(
            "{PRODUCT}\nwgmma.commit_group.sync.aligned;\nwgmma.commit_group.sync.aligned;\n\
             wgmma.wait_group.sync.aligned {keep};\nbar.sync 0;\n@%z st.shared.u32 [tile], 5;"
        ))
        .unwrap()
        .verdict()
    };
    assert_eq!(waits(0), Verdict::Clean);
    assert_eq!(waits(1), Verdict::Clean, "the second group is empty");
    assert_eq!(waits(2), Verdict::Defect);
    let ungrouped = format!(
        "{PRODUCT}\nwgmma.wait_group.sync.aligned 0;\nbar.sync 0;\n@%z st.shared.u32 [tile], 5;"
    );
    assert_eq!(run(&ungrouped).unwrap().verdict(), Verdict::Defect, "it belongs to no group");
}
