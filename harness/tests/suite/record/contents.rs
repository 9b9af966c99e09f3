//! What is known of the contents of memory: what the host put there, unless a kernel might have changed it.

use serde_json::{Value, json};
use weft_core::finding::Verdict;
use weft_core::launch::allocation::MAX_BUFFER;
use weft_core::launch::{Allocation, Within};
use weft_harness::record::module_name;

use super::{COPY, SCATTER, Written, launch, module, named, number, pointer};

/// The words 3, 1, 2, 0, and the words 3, 1, 1, 0.
const DISTINCT: &str = "03000000010000000200000000000000";
const EQUAL: &str = "0300000001000000\n0100000000000000\n";
/// The first two of `DISTINCT`.
const HALF: &str = "0300000001000000................";

/// Returns the record of a launch of `scatter` with four threads, whose indices had passed these kernels.
fn scattered(name: &str, hex: &str, passed: &Value) -> (Written, String) {
    let text = module(&[COPY, SCATTER].concat());
    let record = Written::new(name).module(&text).contents('c', hex);
    let memory = json!([{"size": 16}, {"size": 16, "contents": named('c'), "passed": passed}]);
    let args = [pointer(0, 0), pointer(1, 0)];
    (record.launch("scatter", &text, 4, &args, &memory), text)
}

/// Returns the verdict of that launch.
#[track_caller]
fn verdict(name: &str, hex: &str, passed: &Value) -> Verdict {
    let (record, text) = scattered(name, hex, passed);
    let jobs = record.jobs(&[&text], "");
    let job = jobs.iter().find(|job| job.title == "scatter").unwrap();
    assert!(job.recorded.is_some());
    job.outcome().remaining().unwrap().verdict()
}

/// Returns what passed an allocation to a kernel of the module, by a parameter.
fn by(kernel: &str, arg: u32) -> Value {
    let name = module_name(&module(&[COPY, SCATTER].concat()));
    json!([{"module": name, "kernel": kernel, "arg": arg}])
}

#[test]
fn contents_decide() {
    assert_eq!(verdict("distinct", DISTINCT, &json!([])), Verdict::Clean);
    assert_eq!(verdict("equal", EQUAL, &json!([])), Verdict::Defect);
    // Two of the four indices are not known: they might be equal.
    assert_eq!(verdict("half", HALF, &json!([])), Verdict::Open);
}

#[test]
fn a_kernel_that_only_reads_leaves_contents_known() {
    // `copy` reads through its argument 1, `scatter` too.
    assert_eq!(verdict("read", DISTINCT, &by("copy", 1)), Verdict::Clean);
    assert_eq!(verdict("read-scatter", DISTINCT, &by("scatter", 1)), Verdict::Clean);
    // It stays a certain defect.
    assert_eq!(verdict("read-equal", EQUAL, &by("copy", 1)), Verdict::Defect);
}

#[test]
fn a_kernel_that_writes_leaves_contents_unknown() {
    assert_eq!(verdict("written", DISTINCT, &by("copy", 0)), Verdict::Open);
    // Not a defect: the indices might differ now.
    assert_eq!(verdict("written-equal", EQUAL, &by("copy", 0)), Verdict::Open);
    // One of two is enough.
    let both = [by("copy", 1), by("scatter", 0)].map(|own| own[0].clone());
    assert_eq!(verdict("read-and-written", DISTINCT, &json!(both)), Verdict::Open);
}

#[test]
fn what_cannot_be_read_might_have_written() {
    let name = module_name(&module(&[COPY, SCATTER].concat()));
    for (at, passed) in [
        json!({"module": null, "kernel": "copy", "arg": 1}),
        // This module is not in the folder.
        json!({"module": named('d'), "kernel": "copy", "arg": 1}),
        json!({"module": name, "kernel": "absent", "arg": 1}),
        json!({"module": name, "kernel": "copy", "arg": null}),
        // By a variable of the module.
        json!({"module": name, "kernel": "copy", "global": "table"}),
    ]
    .into_iter()
    .enumerate()
    {
        let verdict = verdict(&format!("unreadable-{at}"), DISTINCT, &json!([passed]));
        assert_eq!(verdict, Verdict::Open, "{passed}");
    }
}

#[test]
fn pointers_in_contents_lead_on_while_they_are_known() {
    let text = module(COPY);
    // The first allocation holds a pointer to the second, which holds one to the third, at an offset.
    let memory = |passed: Value| {
        json!([
            {"size": 16, "contents": named('a'), "pointers": [{"at": 8, "allocation": 1, "offset": 0}]},
            {"size": 8, "contents": named('b'), "pointers": [{"at": 0, "allocation": 2, "offset": 4}], "passed": passed},
            {"size": 64},
            {"size": 32},
        ])
    };
    let launch = |name: &str, passed: Value| {
        let record = Written::new(name).module(&text);
        let record = record
            .contents('a', &format!("0100000002000000{}", "00".repeat(8)))
            .contents('b', &"00".repeat(8));
        let args = [pointer(3, 0), pointer(0, 0), number(4)];
        record.launch("copy", &text, 4, &args, &memory(passed)).job(&text).launch
    };
    let within = |buffer: &str, offset| Within { buffer: buffer.to_owned(), offset };
    let known = launch("leads", json!([]));
    let names: Vec<&String> = known.buffers.keys().collect();
    assert_eq!(names, ["a", "b", "c", "d"]);
    let a = &known.buffers["a"];
    assert_eq!((a.size, a.given(), a.known()), (Some(16), 16, 16));
    assert_eq!(a.contents[..8], [1, 0, 0, 0, 2, 0, 0, 0].map(Some));
    assert_eq!(a.pointers, [(8, within("b", 0))].into());
    assert_eq!(known.buffers["b"].pointers, [(0, within("c", 4))].into());
    assert_eq!(known.buffers["d"], Allocation { size: Some(32), ..Allocation::default() });
    // A kernel might have put another pointer there.
    let unknown = launch("leads-nowhere", json!([{"module": null, "kernel": "k", "arg": 0}]));
    let names: Vec<&String> = unknown.buffers.keys().collect();
    assert_eq!(names, ["a", "b", "d"]);
    assert_eq!(unknown.buffers["b"], Allocation { size: Some(8), ..Allocation::default() });
}

#[test]
fn a_pointer_to_a_variable_in_contents_is_open() {
    let text = module(COPY);
    let memory = json!([
        {"size": 16, "contents": named('a'), "pointers": [{"at": 8, "allocation": 1, "offset": 0}]},
        {"size": 8},
    ]);
    let args = [pointer(0, 0), pointer(0, 0), number(0)];
    let mut line = launch("copy", None, 4, &args, &memory).as_object().unwrap().clone();
    line.insert("globals".to_owned(), json!([{"name": "table", "allocation": 1}]));
    let record = Written::new("variable-in-contents").contents('a', &"01".repeat(16));
    let launch = record.line(&Value::from(line).to_string()).job(&text).launch;
    let contents = [[Some(1); 8], [None; 8]].concat();
    let expected = Allocation { size: Some(16), contents, ..Allocation::default() };
    assert_eq!(launch.buffers, [("a".to_owned(), expected)].into());
}

#[test]
fn more_than_can_be_stated_is_open() {
    let text = module(COPY);
    let args = [pointer(0, 0), pointer(1, 0), number(4)];
    let memory = json!([{"size": MAX_BUFFER}, {"size": 1_u64 << 63}]);
    let record = Written::new("large").module(&text);
    let record = record.launch("copy", &text, 4, &args, &memory);
    let launch = record.job(&text).launch;
    assert_eq!((launch.buffers["a"].size, launch.buffers["b"].size), (Some(MAX_BUFFER), None));
    assert_eq!(record.verdict(&text), Verdict::Clean);
}

#[test]
fn contents_that_are_too_large_are_asked_of_a_record() {
    let text = module(SCATTER);
    let help = |name: &str, size: u64| {
        let memory = json!([{"size": 64}, {"size": size}]);
        let record = Written::new(name).module(&text);
        let record = record.launch("scatter", &text, 4, &[pointer(0, 0), pointer(1, 0)], &memory);
        let job = record.job(&text);
        let told = job.outcome().told().expect("it is checked");
        told.findings.iter().filter_map(|own| own.help.clone()).collect::<Vec<_>>().join("\n")
    };
    let large = help("large-contents", 100_000);
    assert!(large.contains("record anew with `--contents 100000`, which keeps"), "{large}");
    let stated = "state this launch in weft.toml, as `cargo weft init --from-record` writes it, with what they are on a device";
    assert!(large.contains(&format!("; or {stated}")), "{large}");
    // What was not kept though it is small is not known to the host.
    assert_eq!(help("small-contents", 65536), stated);
}

/// Stores through a pointer that stands in memory.
const THROUGH: &str = "\
.visible .entry through(.param .u64 place)
{
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [place]; cvta.to.global.u64 %rd1, %rd1;
    ld.global.u64 %rd2, [%rd1]; cvta.to.global.u64 %rd2, %rd2;
    st.global.u32 [%rd2], 1;
    ret;
}
";

/// Returns the record of a process that launches these two kernels, and then `scatter` with known indices. `launched`: what it says
/// about the kernels before.
fn behind(name: &str, kernels: [&str; 2], launched: &Value) -> (Written, String) {
    let text = module(&[COPY, SCATTER, THROUGH].concat());
    let mut record = Written::new(name).module(&text).contents('c', DISTINCT);
    for kernel in kernels {
        let args = match kernel {
            "copy" => vec![pointer(0, 0), pointer(0, 8), number(1)],
            _ => vec![pointer(0, 0)],
        };
        record = record.launch(kernel, &text, 1, &args, &json!([{"size": 16}]));
    }
    let mut indices = json!({"size": 16, "contents": named('c')});
    if !launched.is_null() {
        indices["launched"] = launched.clone();
    }
    let memory = json!([{"size": 16}, indices]);
    (record.launch("scatter", &text, 4, &[pointer(0, 0), pointer(1, 0)], &memory), text)
}

#[test]
fn a_kernel_that_finds_pointers_in_memory_might_have_written_anywhere() {
    let verdict = |name: &str, kernels: [&str; 2], launched: Value| {
        let (record, text) = behind(name, kernels, &launched);
        let jobs = record.jobs(&[&text], "");
        let job = jobs.iter().find(|job| job.title.starts_with("scatter")).unwrap();
        assert!(job.recorded.is_some());
        job.outcome().remaining().unwrap().verdict()
    };
    let both = ["copy", "through"];
    assert_eq!(verdict("stray", both, json!(2)), Verdict::Open);
    // The host has overwritten the indices since.
    assert_eq!(verdict("stray-before", both, json!(null)), Verdict::Clean);
    // The first kernel alone.
    assert_eq!(verdict("stray-not-yet", both, json!(1)), Verdict::Clean);
    assert_eq!(verdict("stray-first", ["through", "copy"], json!(1)), Verdict::Open);
    // A kernel counts once.
    assert_eq!(verdict("stray-none", ["copy", "copy"], json!(1)), Verdict::Clean);
}

#[test]
fn pointers_to_more_memory_than_can_be_checked_are_open() {
    let text = module(COPY);
    // A list of pointers to as many allocations, each of its own.
    let count = 5000_u32;
    let pointers: Vec<Value> =
        (0..count).map(|at| json!({"at": 8 * at, "allocation": at + 1, "offset": 0})).collect();
    let list = json!({"size": 8 * count, "contents": named('a'), "pointers": pointers});
    let rest = (0..count).map(|_| json!({"size": 64}));
    let memory: Value = [list].into_iter().chain(rest).collect();
    let contents = "00".repeat(8 * count as usize);
    let record = Written::new("many-pointers").module(&text).contents('a', &contents);
    let args = [pointer(count, 0), pointer(0, 0), number(4)];
    let record = record.launch("copy", &text, 4, &args, &memory);
    let launch = record.job(&text).launch;
    // The arguments' own, and the first of the list.
    assert_eq!(launch.buffers.len(), 2048);
    let own = &launch.buffers["a"];
    assert_eq!(own.pointers.len(), 2047);
    // The last one of the list is an argument, and all between are open.
    assert_eq!(own.contents[8 * 2046..8 * 4999], vec![None; 8 * 2953]);
    assert_eq!(record.verdict(&text), Verdict::Clean);
}

#[test]
fn memory_of_the_host_is_open_to_kernels_that_watch_it() {
    let verdict = |name: &str, load: &str, host: bool| {
        let text = module(&SCATTER.replace("ld.global.u32 %r2", &format!("{load} %r2")));
        let record = Written::new(name).module(&text).contents('c', DISTINCT);
        let memory = json!([{"size": 16}, {"size": 16, "contents": named('c'), "host": host}]);
        let args = [pointer(0, 0), pointer(1, 0)];
        record.launch("scatter", &text, 4, &args, &memory).verdict(&text)
    };
    assert_eq!(verdict("watched", "ld.volatile.global.u32", true), Verdict::Open);
    assert_eq!(verdict("watched-system", "ld.relaxed.sys.global.u32", true), Verdict::Open);
    assert_eq!(verdict("not-watched", "ld.global.u32", true), Verdict::Clean);
    // No host writes there while the kernel runs.
    assert_eq!(verdict("watched-device", "ld.volatile.global.u32", false), Verdict::Clean);
}
