//! What becomes of the bytes of arguments.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use weft_core::finding::{Assumption, Code, Verdict};
use weft_core::launch::{Arg, Fields};
use weft_harness::case::Standing;

use super::{COPY, Written, module, number, plain, pointer, within};

/// Returns the record of one launch of `copy` with 32 threads.
fn copied(name: &str, args: &[Value], memory: &Value) -> (Written, String) {
    let text = module(COPY);
    (Written::new(name).module(&text).launch("copy", &text, 32, args, memory), text)
}

#[test]
fn arguments_that_overlap_in_an_allocation_race() {
    // Thread `i` reads word `i` and writes word `i + 1`, which the next thread reads.
    let args = [pointer(0, 4), pointer(0, 0), number(8)];
    let (record, text) = copied("overlap", &args, &json!([{"size": 256}]));
    let report = record.job(&text).run().report.unwrap();
    assert_eq!(report.verdict(), Verdict::Defect);
    let codes: Vec<Code> = report.findings.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, [Code::GlobalRace]);
}

#[test]
fn arguments_that_are_apart_in_an_allocation_do_not() {
    // Bytes 0..128 are read, 128..256 written.
    let args = [pointer(0, 128), pointer(0, 0), number(32)];
    let (record, text) = copied("apart", &args, &json!([{"size": 256}]));
    assert_eq!(record.verdict(&text), Verdict::Clean);
    // In two allocations.
    let args = [pointer(1, 0), pointer(0, 0), number(32)];
    let (record, text) = copied("two", &args, &json!([{"size": 128}, {"size": 128}]));
    assert_eq!(record.verdict(&text), Verdict::Clean);
}

#[test]
fn an_access_behind_the_end_of_an_allocation_is_a_defect() {
    // 32 words from byte 132 on, of 256 bytes: the last one ends at 260.
    let args = [pointer(0, 132), pointer(0, 0), number(32)];
    let (record, text) = copied("bounds", &args, &json!([{"size": 256}]));
    let report = record.job(&text).run().report.unwrap();
    assert_eq!(report.verdict(), Verdict::Defect);
    assert!(report.findings.iter().any(|own| own.code == Code::OutOfBounds), "{report:#?}");
    // One thread less stays within, and 33 words behind the first do not overlap 31.
    let args = [pointer(0, 132), pointer(0, 0), number(31)];
    let (record, text) = copied("in-bounds", &args, &json!([{"size": 256}]));
    assert_eq!(record.verdict(&text), Verdict::Clean);
}

/// A kernel with a structure of a byte, seven of padding, and a pointer.
const PADDED: &str = "\
.visible .entry padded(.param .align 8 .b8 all[16])
{
    .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u8 %r1, [all]; ld.param.u64 %rd1, [all+8];
    cvta.to.global.u64 %rd2, %rd1;
    st.global.u32 [%rd2], %r1;
    ret;
}
";

#[test]
fn bytes_that_a_kernel_does_not_read_make_no_launch_another_one() {
    let labels = |name: &str, text: &str, firsts: &[&str]| {
        let mut record = Written::new(name).module(text);
        for first in firsts {
            let bytes = format!("{first}0000000000000000");
            let pointers = [json!({"at": 8, "allocation": 0, "offset": 0})];
            let args = [json!({"bytes": bytes, "pointers": pointers})];
            record = record.launch("padded", text, 1, &args, &json!([{"size": 16}]));
        }
        let jobs = record.jobs(&[text], "");
        jobs.into_iter().map(|job| job.label.unwrap()).collect::<Vec<_>>()
    };
    let text = module(PADDED);
    let zeros = labels("padding-zeros", &text, &["0500000000000000"]);
    let others = ["0511223344556677", "05ffffffffffffff"];
    assert_eq!(labels("padding-others", &text, &others), zeros);
    // The byte that it reads does.
    assert_eq!(labels("padding-read", &text, &["0500000000000000", "0600000000000000"]).len(), 2);
    // Where any byte might be read, as by an address, each counts.
    let shown =
        PADDED.replace("ld.param.u8 %r1, [all];", "mov.b64 %rd3, all; ld.param.u8 %r1, [%rd3];");
    assert_eq!(labels("padding-shown", &module(&shown), &others).len(), 2);
}

#[test]
fn pointers_in_a_structure_lead_into_allocations() {
    let text =
        module(&COPY.replace(
            ".param .u64 to, .param .u64 from, .param .u32 n",
            ".param .align 8 .b8 all[24]",
        ))
        .replace("[to]", "[all]")
        .replace("[from]", "[all+8]")
        .replace("[n]", "[all+16]");
    let structure = |to: u64| {
        let pointers = json!([{"at": 0, "allocation": 0, "offset": to}, {"at": 8, "allocation": 0, "offset": 0}]);
        // 8 in the bytes from 16 on, then what the compiler left between the fields.
        json!({"bytes": format!("{}08000000abababab", "00".repeat(16)), "pointers": pointers})
    };
    let of = |name: &str, to: u64| {
        let record = Written::new(name).module(&text);
        record.launch("copy", &text, 32, &[structure(to)], &json!([{"size": 256}]))
    };
    let overlapping = of("structure-race", 4);
    assert_eq!(overlapping.verdict(&text), Verdict::Defect);
    assert_eq!(of("structure", 32).verdict(&text), Verdict::Clean);
    // What no load reads, such as what the compiler left, is the same for all launches.
    let bytes = [[0; 16].as_slice(), &[8, 0, 0, 0, 0, 0, 0, 0]].concat();
    let fields = [(0, within("a", 4)), (8, within("a", 0))].into();
    let expected = Arg::Fields(Fields { bytes: Some(bytes), fields });
    assert_eq!(overlapping.job(&text).launch.args, BTreeMap::from([(0, expected)]));
}

#[test]
fn numbers_are_those_of_their_bytes_and_types() {
    let text = module(
        ".visible .entry k(.param .s32 a, .param .u32 b, .param .f32 c, .param .f32 d, .param .f64 e, .param .u8 f, \
         .param .s16 g, .param .u64 h, .param .f64 i, .param .s64 j)\n{ ret; }\n",
    );
    let args = [
        number(u32::MAX),
        number(u32::MAX),
        plain(&1.5_f32.to_le_bytes()),
        plain(&f32::NAN.to_le_bytes()),
        plain(&(-0.1_f64).to_le_bytes()),
        plain(&[200]),
        plain(&(-3_i16).to_le_bytes()),
        plain(&[0; 8]),
        plain(&f64::INFINITY.to_le_bytes()),
        plain(&i64::MIN.to_le_bytes()),
    ];
    let record = Written::new("numbers").module(&text);
    let job = record.launch("k", &text, 1, &args, &json!([])).job(&text);
    // What a NaN decides is left open: it is one of many.
    let expected = BTreeMap::from([
        (0, Arg::Integer(-1)),
        (1, Arg::Integer(0xffff_ffff)),
        (2, Arg::Float(1.5)),
        (4, Arg::Float(-0.1)),
        (5, Arg::Integer(200)),
        (6, Arg::Integer(-3)),
        (7, Arg::Integer(0)),
        (8, Arg::Float(f64::INFINITY)),
        (9, Arg::Integer(i128::from(i64::MIN))),
    ]);
    assert_eq!(job.launch.args, expected);
    assert_eq!(job.outcome().standing, Standing::Clean);
}

/// All threads write one word if a number is less than the `limit`.
fn if_less(ty: &str, limit: &str) -> String {
    module(&format!(
        ".visible .entry k(.param .u64 out, .param .{ty} x)\n{{\n.reg .pred %p<2>; .reg .{ty} %x<2>; .reg .b64 %rd<3>; .reg .b32 %r<2>;\n\
         ld.param.u64 %rd1, [out]; ld.param.{ty} %x1, [x]; cvta.to.global.u64 %rd2, %rd1;\n\
         setp.ge.{ty} %p1, %x1, {limit};\n@%p1 bra $done;\nmov.u32 %r1, %tid.x;\nst.global.u32 [%rd2], %r1;\n$done: ret;\n}}\n"
    ))
}

/// Returns the codes of the only job of a module.
fn codes(record: &Written, text: &str) -> Vec<Code> {
    let report = record.job(text).run().report.unwrap();
    report.findings.iter().map(|finding| finding.code).collect()
}

#[test]
fn numbers_decide_as_they_do_on_a_device() {
    let found = |name: &str, text: &str, x: Value| {
        let record = Written::new(name).module(text);
        let args = [pointer(0, 0), x];
        codes(&record.launch("k", text, 32, &args, &json!([{"size": 4}])), text)
    };
    let (signed, unsigned, float) =
        (if_less("s32", "0"), if_less("u32", "1"), if_less("f32", "0f00000000"));
    // -1 < 0: all 32 threads write; the same bits are a large number without a sign. Otherwise no thread accesses anything.
    let (race, nothing) = (vec![Code::GlobalRace], vec![Code::Vacuous]);
    assert_eq!(found("negative", &signed, number(u32::MAX)), race);
    assert_eq!(found("not-negative", &signed, number(0)), nothing);
    assert_eq!(found("unsigned", &unsigned, number(u32::MAX)), nothing);
    assert_eq!(found("unsigned-less", &unsigned, number(0)), race);
    assert_eq!(found("float", &float, plain(&(-0.5_f32).to_le_bytes())), race);
    assert_eq!(found("float-not", &float, plain(&0.5_f32.to_le_bytes())), nothing);
    // On a device, a comparison with NaN does not hold, so the threads do not jump: they race. It is open here.
    let nan = found("nan", &float, plain(&f32::NAN.to_le_bytes()));
    assert!(nan != race && nan != nothing && !nan.is_empty(), "{nan:?}");
}

#[test]
fn a_null_pointer_is_null_and_one_to_freed_memory_is_not() {
    // Writes nothing if the pointer is null, and one word by all threads otherwise.
    let text = module(
        ".visible .entry k(.param .u64 out)\n{\n.reg .pred %p<2>; .reg .b64 %rd<3>; .reg .b32 %r<2>;\n\
         ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd2, %rd1;\nsetp.eq.s64 %p1, %rd1, 0;\n@%p1 bra $done;\n\
         mov.u32 %r1, %tid.x;\nst.global.u32 [%rd2], %r1;\n$done: ret;\n}\n",
    );
    let record = |name: &str, arg: Value| {
        let memory = json!([{"size": 4}]);
        Written::new(name).module(&text).launch("k", &text, 32, &[arg], &memory)
    };
    let null = record("null", plain(&[0; 8]));
    assert_eq!(null.job(&text).launch.args, BTreeMap::from([(0, Arg::Integer(0))]));
    assert_eq!(codes(&null, &text), [Code::Vacuous]);
    assert_eq!(codes(&record("not-null", pointer(0, 0)), &text), [Code::GlobalRace]);
    let freed = json!({"bytes": "0000000000000000", "pointers": [], "freed": [0]});
    let freed = record("freed", freed);
    // All threads write the same word, too.
    assert_eq!(codes(&freed, &text), [Code::GlobalRace, Code::OutOfBounds]);
    assert_eq!(freed.verdict(&text), Verdict::Defect);
    let told = |name: &str, words: &str| {
        let arg = json!({"bytes": "0000000000000000", "pointers": [], words: [0]});
        let job = record(name, arg).job(&text);
        let report = job.outcome().told().unwrap();
        let found = report.findings.iter().find(|own| own.code == Code::OutOfBounds).unwrap();
        (found.notes.join("\n"), found.help.clone().unwrap_or_default())
    };
    let (note, help) = told("freed-note", "freed");
    assert!(
        note.contains("argument 0 (`out`) points to memory that the program had freed: `freed`"),
        "{note}"
    );
    assert_eq!(help, "guard the access, or correct what the program allocates or passes");
    let (note, _) = told("host-note", "hosts");
    assert!(note.contains("argument 0 (`out`) points to memory of the host"), "{note}");
    // The same in a structure, beside a pointer that can be used.
    let whole = text.replace(".param .u64 out", ".param .align 8 .b8 out[16]");
    let arg = json!({"bytes": "00".repeat(16), "pointers": [{"at": 8, "allocation": 0, "offset": 0}], "freed": [0]});
    let record = Written::new("freed-field").module(&whole);
    let record = record.launch("k", &whole, 32, &[arg], &json!([{"size": 4}]));
    let job = record.job(&whole);
    let Some(Arg::Fields(Fields { fields, .. })) = job.launch.args.get(&0) else {
        panic!("it is a structure: {:?}", job.launch.args)
    };
    assert_eq!(*fields, [(0, within("freed", 0)), (8, within("a", 0))].into());
    assert_eq!(codes(&record, &whole), [Code::GlobalRace, Code::OutOfBounds]);
}

/// An address that no thread accesses is a number to compute with, of which nobody knows the value.
#[test]
fn a_word_that_is_no_pointer_has_no_known_value() {
    let text = module(
        ".visible .entry low(.param .u64 out, .param .u64 n)\n{\n.reg .b64 %rd<6>; .reg .b32 %r<2>;\n\
         ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [n]; cvta.to.global.u64 %rd3, %rd1;\n\
         and.b64 %rd4, %rd2, 255; add.s64 %rd5, %rd3, %rd4;\nmov.u32 %r1, 1;\nst.global.u8 [%rd5], %r1;\nret;\n}\n",
    );
    for words in ["freed", "hosts"] {
        let arg = json!({"bytes": "00".repeat(8), "pointers": [], words: [0]});
        let record = Written::new(&format!("{words}-number")).module(&text);
        let record = record.launch("low", &text, 1, &[pointer(0, 0), arg], &json!([{"size": 64}]));
        let job = record.job(&text);
        let report = job.outcome().report.as_ref().unwrap();
        assert_eq!(report.verdict(), Verdict::Clean);
        assert!(report.assumptions.contains(&Assumption::OpenAddresses), "{report:?}");
    }
    // Of a structure, what the kernel does not read says nothing.
    let whole = text.replace(".param .u64 n", ".param .align 8 .b8 n[16]");
    let job = |at: u64| {
        let arg = json!({"bytes": "00".repeat(16), "pointers": [], "hosts": [at]});
        let record = Written::new(&format!("host-field-{at}")).module(&whole);
        record.launch("low", &whole, 1, &[pointer(0, 0), arg], &json!([{"size": 64}])).job(&whole)
    };
    let count = |at: u64| job(at).outcome().report.as_ref().unwrap().assumptions.len();
    assert_eq!((count(0) > count(8), count(8)), (true, 0));
}

#[test]
fn a_null_pointer_that_is_accessed_is_not_clean() {
    let args = [plain(&[0; 8]), pointer(0, 0), number(32)];
    let (record, text) = copied("null-access", &args, &json!([{"size": 128}]));
    assert_ne!(record.verdict(&text), Verdict::Clean);
}

#[test]
fn the_address_of_a_variable_is_no_buffer() {
    let text = module(COPY);
    let args = [pointer(0, 0), pointer(1, 0), number(32)];
    let line = super::launch("copy", None, 32, &args, &json!([{"size": 128}, {"size": 128}]));
    let mut line = line.as_object().unwrap().clone();
    line.insert("globals".to_owned(), json!([{"name": "table", "allocation": 1}]));
    let job = Written::new("variable").line(&Value::from(line).to_string()).job(&text);
    let args = BTreeMap::from([(0, within("a", 0)), (2, Arg::Integer(32))]);
    assert_eq!(job.launch.args, args);
    assert_eq!(job.launch.buffers.keys().collect::<Vec<_>>(), ["a"]);
}

#[test]
fn an_address_in_no_allocation_is_out_of_bounds() {
    let address = 0x3b5d_2c00_1004_u64;
    let wild = plain(&address.to_le_bytes());
    let memory = json!([{"size": 128}]);
    for (name, args, at) in [
        ("wild-target", [wild.clone(), pointer(0, 0), number(32)], 0),
        ("wild-source", [pointer(0, 0), wild.clone(), number(32)], 1),
    ] {
        let (record, text) = copied(name, &args, &memory);
        let job = record.job(&text);
        let outcome = job.outcome();
        let told = outcome.told().expect("it is checked");
        let codes: Vec<Code> = told.findings.iter().map(|own| own.code).collect();
        assert_eq!(codes, [Code::OutOfBounds], "{told:#?}");
        let words =
            format!("argument {at} (`{}`) is the address 0x3b5d2c001004", ["to", "from"][at]);
        assert!(told.findings[0].notes.iter().any(|note| note.starts_with(&words)), "{told:#?}");
    }
    // Both, in one launch.
    let (record, text) =
        copied("wild", &[wild.clone(), plain(&8_u64.to_le_bytes()), number(32)], &memory);
    assert!(codes(&record, &text).contains(&Code::OutOfBounds));
    // Nothing is accessed there: it is a number.
    let (record, text) = copied("wild-unused", &[wild, pointer(0, 0), number(0)], &memory);
    assert_eq!(codes(&record, &text), [Code::Vacuous]);
}
