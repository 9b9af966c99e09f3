//! Tests which arguments a launch can give for a parameter, and which parameters are recognized as pointers.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use weft_core::finding::{Assumption, Code, Report, Verdict};
use weft_core::launch::{Arg, Buffer, Dim3, Fields, Launch};
use weft_core::{CheckError, check, ptx};

const OPEN: Arg = Arg::Buffer(Buffer { contents: None });

/// Checks a kernel with these parameters and this body.
fn run(params: &str, body: &str, args: &[(usize, Arg)]) -> Result<Report, CheckError> {
    run_with("", params, body, args)
}

fn run_with(
    functions: &str,
    params: &str,
    body: &str,
    args: &[(usize, Arg)],
) -> Result<Report, CheckError> {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n{functions}\n.visible .entry k({params})\n{{\n\
         .local .align 8 .b8 depot[64];\n.reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<16>;\n\
         .reg .b64 %SP, %SPL;\nmov.u64 %SPL, depot;\ncvta.local.u64 %SP, %SPL;\n\
         mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd9, %r1, 4;\n{body}\nDONE: ret;\n}}\n"
    );
    let module = ptx::parse(&text);
    assert!(module.errors.is_empty(), "{:?}\n{text}", module.errors);
    let kernel = module.kernel("k").unwrap();
    let args = args.iter().cloned().collect();
    let launch = Launch { block: Some(Dim3::line(64).into()), args, ..Launch::default() };
    check(&module, kernel, &launch)
}

fn fields(fields: &[(u64, Arg)]) -> Arg {
    Arg::Fields(Fields { bytes: None, fields: fields.iter().cloned().collect() })
}

fn bytes(bytes: &[u8]) -> Arg {
    Arg::Buffer(Buffer { contents: Some(bytes.to_vec()) })
}

fn reason(result: Result<Report, CheckError>) -> String {
    result.unwrap_err().to_string()
}

const TWO: &str = ".param .u64 p, .param .u64 q";

/// Paths from a parameter to an access: in each, every thread stores to its own word of `p`.
const WAYS: &[&str] = &[
    "ld.param.u64 %rd1, [p];\nadd.s64 %rd2, %rd9, %rd1;\nst.u32 [%rd2], %r1;",
    "ld.param.u64 %rd1, [p];\nmov.b64 %rd2, %rd1;\nst.u64 [%SP+8], %rd2;\nld.u64 %rd3, [%SP+8];\n\
     add.s64 %rd3, %rd3, %rd9;\nst.u32 [%rd3+-4], %r1;",
    "mov.b64 %rd3, p;\nld.param.u64 %rd1, [%rd3];\nadd.s64 %rd2, %rd1, %rd9;\nst.u32 [%rd2], %r1;",
    "ld.param.u64 %rd1, [p];\nadd.s64 %rd4, %SP, 16;\nst.u64 [%SP+32], %rd4;\nst.u64 [%rd4], %rd1;\n\
     ld.u64 %rd5, [%SP+32];\nld.u64 %rd6, [%rd5];\nadd.s64 %rd6, %rd6, %rd9;\nst.u32 [%rd6], %r1;",
    "ld.param.u64 %rd1, [p];\nand.b64 %rd1, %rd1, -16;\nor.b64 %rd1, %rd1, 8;\n\
     mad.wide.u32 %rd2, %r1, 4, %rd1;\nst.u32 [%rd2], %r1;",
    "ld.param.u64 %rd1, [p];\nadd.s64 %rd1, %rd1, %rd9;\nst.u32 [%rd1], %r1;\n\
     ld.param.u64 %rd1, [q];\nsetp.eq.u64 %p1, %rd1, 5;\n@%p1 bra DONE;",
    "ld.param.u64 %rd1, [p];\nmov.u32 %r2, 0;\nLOOP: add.s64 %rd2, %rd1, %rd9;\nst.u32 [%rd2], %r1;\n\
     add.s64 %rd1, %rd1, 256;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 4;\n@%p1 bra LOOP;",
    "ld.param.u64 %rd1, [p];\nadd.s64 %rd2, %rd1, %rd9;\nred.add.u32 [%rd2], 1;",
    "ld.param.u64 %rd1, [p];\nadd.s64 %rd2, %rd1, %rd9;\n\
     { .param .b64 to;\nst.param.b64 [to], %rd2;\ncall put, (to);\n}",
];

const PUT: &str = ".func put(.param .b64 to)\n{\n.reg .b64 %rd<3>;\n.local .align 8 .b8 own[8];\n\
     ld.param.u64 %rd1, [to];\nst.local.u64 [own], %rd1;\nld.local.u64 %rd2, [own];\nst.u32 [%rd2], 7;\nret;\n}";

#[test]
fn what_becomes_an_address_is_a_pointer() {
    for body in WAYS {
        let report = run_with(PUT, TWO, body, &[]).unwrap();
        assert_eq!(report.verdict(), Verdict::Clean, "{body}\n{:#?}", report.findings);
    }
}

#[test]
fn both_pointers_of_a_choice_are_pointers() {
    let body = "ld.param.u64 %rd1, [p];\nld.param.u64 %rd2, [q];\nsetp.lt.u32 %p1, %r1, 32;\n\
                selp.b64 %rd3, %rd1, %rd2, %p1;\nadd.s64 %rd3, %rd3, %rd9;\nst.u32 [%rd3], %r1;";
    let report = run(TWO, body, &[]).unwrap();
    assert_eq!(report.verdict(), Verdict::Clean, "{:#?}", report.findings);
}

/// A number that shares a register, a memory region or a sum with an address is not taken for a pointer.
#[test]
fn numbers_beside_addresses_stay_numbers() {
    let bodies = [
        "ld.param.u64 %rd1, [p];\nadd.s64 %rd1, %rd1, %rd9;\nst.u32 [%rd1], %r1;\nld.param.u64 %rd1, [q];\n",
        "ld.param.u64 %rd1, [q];\nst.u64 [%SP], %rd1;\nld.param.u64 %rd1, [p];\nst.u64 [%SP+8], %rd1;\n\
         ld.u64 %rd2, [%SP+8];\nadd.s64 %rd2, %rd2, %rd9;\nst.u32 [%rd2], %r1;\nst.u64 [%SP+8], %rd9;\n\
         ld.u64 %rd1, [%SP];\n",
        "ld.param.u64 %rd2, [p];\ncvta.to.global.u64 %rd2, %rd2;\nld.param.u64 %rd1, [q];\n\
         shl.b64 %rd3, %rd1, 8;\nadd.s64 %rd3, %rd2, %rd3;\nadd.s64 %rd3, %rd3, %rd9;\nst.u32 [%rd3], %r1;\n",
        "ld.param.u64 %rd2, [p];\ncvta.to.global.u64 %rd2, %rd2;\nld.param.u64 %rd1, [q];\n\
         add.s64 %rd3, %rd2, %rd1;\nadd.s64 %rd3, %rd3, %rd9;\nst.u32 [%rd3], %r1;\n",
    ];
    // All threads store to one word if the number is small. This is a defect only if the number is known not to be an
    // address.
    for body in bodies {
        let body = format!(
            "{body}setp.gt.u64 %p1, %rd1, 1000;\n@%p1 bra DONE;\nld.param.u64 %rd2, [p];\n\
             st.volatile.u32 [%rd2+1024], %r1;"
        );
        let report = run(TWO, &body, &[]).unwrap();
        assert_ne!(report.verdict(), Verdict::Clean, "{body}");
    }
}

#[test]
fn what_may_be_a_pointer_is_asked_for_as_both() {
    let body = "ld.param.u64 %rd1, [p];\nld.param.u64 %rd2, [q];\nadd.s64 %rd3, %rd1, %rd2;\n\
                st.global.u32 [%rd3], %r1;";
    let report = run(TWO, body, &[]).unwrap();
    let helps: Vec<_> = report.findings.iter().filter_map(|own| own.help.as_deref()).collect();
    let is_both = |help: &&str| {
        help.contains("`args = { p = 1000 }` if it is a number")
            && help.contains("`args = { p = \"buffer\" }` if it is a pointer")
            && help.contains("argument 0 (`p`)")
    };
    assert!(helps.iter().any(is_both), "{helps:?}");
}

#[test]
fn a_number_for_a_pointer_is_refused_where_it_is_accessed() {
    let store = "ld.param.u64 %rd1, [p];\nld.param.u64 %rd2, [q];\nsetp.eq.u64 %p1, %rd2, 0;\n\
                 @%p1 bra DONE;\nadd.s64 %rd1, %rd1, %rd9;\nst.global.u32 [%rd1], %r1;";
    let given = |p: i128, q: i128| run(TWO, store, &[(0, Arg::Integer(p)), (1, Arg::Integer(q))]);
    let text = reason(given(1024, 1));
    assert!(text.starts_with("argument 0 (`p`) is given as the number 1024"), "{text}");
    assert!(text.contains("`args = { p = \"buffer\" }`, or 0 for null"), "{text}");
    // A null pointer must not be accessed; a parameter that is not accessed can have any value.
    let null = given(0, 1).unwrap();
    assert_eq!(null.findings[0].code, Code::OutOfBounds);
    assert!(null.findings[0].message.contains("argument 0 (`p`) is given as 0"));
    assert_eq!(given(1024, 0).unwrap().findings[0].code, Code::Vacuous);
    // Whether the access happens depends on an argument, so the verdict is open.
    let maybe = run(TWO, store, &[(0, Arg::Integer(1024))]).unwrap();
    assert_eq!(maybe.verdict(), Verdict::Open, "{:#?}", maybe.findings);
}

const STRUCTURE: &str = ".param .align 8 .b8 s[32]";
const LOADS: &str = "ld.param.u64 %rd1, [s];\nld.param.u32 %r2, [s+8];\nld.param.u64 %rd2, [s+16];\n\
     ld.param.u32 %r3, [s+16];\nmad.wide.u32 %rd3, %r1, 4, %rd1;\nst.u32 [%rd3], %r2;\n\
     setp.eq.u32 %p1, %r3, 7;\n@%p1 bra DONE;\nst.u32 [%rd3+4], %r2;";

#[test]
fn fields_are_as_wide_as_they_are_loaded() {
    let given = |at: u64, arg: Arg| run(STRUCTURE, LOADS, &[(0, fields(&[(at, arg)]))]);
    assert!(given(0, OPEN).is_ok() && given(0, bytes(&[0; 256])).is_ok());
    assert!(given(8, Arg::Integer(7)).is_ok());
    let text = reason(given(8, Arg::Integer(1 << 32)));
    assert!(text.contains("the 4 bytes at byte 8: 4294967296 does not fit 32 bits"), "{text}");
    let text = reason(given(10, Arg::Integer(7)));
    assert!(
        text.contains("byte 10 is inside of the 4 bytes that the kernel loads at byte 8"),
        "{text}"
    );
    let text = reason(given(24, Arg::Integer(7)));
    assert!(
        text.contains("loads nothing at byte 24; it loads") && text.contains("8 (4)"),
        "{text}"
    );
    let text = reason(given(16, Arg::Integer(7)));
    assert!(text.contains("different numbers of bytes") && text.contains("all 32 bytes"), "{text}");
    let text = reason(given(0, fields(&[])));
    assert!(text.contains("given by their own fields"), "{text}");
    let text = reason(given(8, OPEN));
    assert!(text.contains("has 4 bytes, not those of a pointer"), "{text}");
    let text = reason(run(STRUCTURE, LOADS, &[(0, Arg::Integer(7))]));
    assert!(text.contains("it is a structure of 32 bytes; give its fields"), "{text}");
    let text = reason(run(TWO, "ret;", &[(0, fields(&[(0, OPEN)]))]));
    assert!(text.contains("no structure"), "{text}");
}

#[test]
fn a_structure_given_by_its_bytes_takes_pointers_over_them() {
    let mut all = vec![0_u8; 32];
    all[16] = 7;
    let own = BTreeMap::from([(0, OPEN)]);
    let given = Arg::Fields(Fields { bytes: Some(all.clone()), fields: own });
    let report = run(STRUCTURE, LOADS, &[(0, given)]).unwrap();
    assert_eq!(report.verdict(), Verdict::Clean, "{:#?}", report.findings);
    // A pointer within bytes that the launch gives is a number.
    all[..8].copy_from_slice(&0x7000_0000_0000_u64.to_le_bytes());
    let text = reason(run(STRUCTURE, LOADS, &[(0, bytes(&all))]));
    assert!(text.starts_with("the pointer at byte 0 of argument 0 (`s`) is given as"), "{text}");
    assert!(text.contains("`args = { s = { 0 = \"buffer\" } }`"), "{text}");
}

#[test]
fn pointers_to_shared_memory_have_objects_of_their_own() {
    let params = ".param .u64 .ptr .shared .align 4 p, .param .u32 .ptr .shared .align 4 q";
    let body = "ld.param.u64 %rd1, [p];\nld.param.u32 %r2, [q];\nadd.s64 %rd1, %rd1, %rd9;\n\
                mad.lo.u32 %r2, %r1, 4, %r2;\nst.shared.u32 [%rd1], %r1;\nst.shared.u32 [%r2], %r1;";
    for args in [&[] as &[_], &[(0, OPEN), (1, OPEN)]] {
        let report = run(params, body, args).unwrap();
        assert_eq!(report.verdict(), Verdict::Clean, "{:#?}", report.findings);
        assert!(report.assumptions.contains(&Assumption::DisjointBuffers));
    }
    for (arg, what) in
        [(Arg::Integer(64), "an object of its own"), (bytes(&[0; 4]), "holds nothing")]
    {
        let text = reason(run(params, body, &[(0, arg)]));
        assert!(text.contains(what), "{text}");
    }
    // A parameter without `.ptr`: it points to an object once the launch says that it is a pointer.
    let used = body.replace(".u64 .ptr", "");
    let plain = run(".param .u64 p, .param .u32 q", &used, &[(0, OPEN), (1, OPEN)]).unwrap();
    assert_eq!(plain.verdict(), Verdict::Clean, "{:#?}", plain.findings);
    // Objects are not larger than shared memory.
    let far = body.replace("[%rd1], %r1", "[%rd1+232448], %r1");
    assert_eq!(run(params, &far, &[]).unwrap().findings[0].code, Code::OutOfBounds);
}
