//! Tests of `ldmatrix` and `stmatrix`, beside the fixtures `matrices`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use weft_core::finding::{Assumption, Code, Report, Verdict};
use weft_core::launch::{Dim3, Launch};
use weft_core::{CheckError, check, ptx};

/// Runs a warp in which `%row` is each lane's row of 16 bytes in shared memory, and `%at` its generic address.
fn run(body: &str) -> Result<Report, CheckError> {
    let text = format!(
        ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k()\n{{\n\
         .reg .u32 %t, %row, %i, %a, %b, %c, %d;\n.reg .u64 %at;\n.reg .pred %p;\n\
         .shared .align 16 .b8 tile[512];\n\
         mov.u32 %t, %tid.x;\nmov.u32 %row, tile;\nmad.lo.u32 %row, %t, 16, %row;\n\
         cvt.u64.u32 %at, %row;\ncvta.shared.u64 %at, %at;\nmov.u32 %a, 0;\n\
         st.shared.v4.u32 [%row], {{7, 7, 7, 7}};\n{body}\nret;\n}}\n"
    );
    let module = ptx::parse(&text);
    assert!(module.errors.is_empty(), "{:?}\n{text}", module.errors);
    let launch = Launch {
        block: Some(Dim3::line(32).into()),
        grid: Some(Dim3::line(1).into()),
        ..Launch::default()
    };
    check(&module, module.kernel("k").unwrap(), &launch)
}

#[test]
fn an_element_that_a_loop_loads_is_no_bound_of_it() {
    let waiting = "mov.u32 %i, 10;\nL:\n\
                   ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%a, %b, %c, %d}, [%row];\n\
                   add.u32 %i, %i, 1;\nadd.u32 %b, %i, 2;\n\
                   stmatrix.sync.aligned.m8n8.x4.shared.b16 [%row], {%b, %b, %b, %b};\n\
                   setp.ne.u32 %p, %i, %a;\n@%p bra L;";
    let report = run(waiting).unwrap();
    let is_said = report.assumptions.contains(&Assumption::WaitsEnd);
    assert!(is_said || report.verdict() != Verdict::Clean, "{:?}", report.assumptions);
}

#[test]
fn an_address_is_one_in_shared_memory() {
    let rows = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%a}, [%row];";
    assert_eq!(run(rows).unwrap().verdict(), Verdict::Clean);
    let generic = run("ldmatrix.sync.aligned.m8n8.x1.b16 {%a}, [%at];").unwrap();
    assert_eq!(generic.findings[0].code, Code::Unsupported);
    for wrong in ["{%a}, [%row, %row]", "{%a, %b}, [%row]"] {
        let text = format!("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {wrong};");
        assert!(run(&text).is_err(), "{wrong}");
    }
}
