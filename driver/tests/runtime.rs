//! What programs in the shape of nvcc's launch through the runtime library, against lines that were written by hand from the
//! documentation of the record.

#![cfg(all(target_os = "linux", target_env = "gnu"))]

mod recorder;

use std::fs;
use std::process::Command;

use recorder::{HostProgram, Recorded, name_of_contents, run_program};
use serde_json::Value;

/// Runs a scenario that has to end well, linked to the newest version.
fn record(scenario: &str) -> Recorded {
    with(scenario, |_| {})
}

fn with(scenario: &str, change: impl FnOnce(&mut Command)) -> Recorded {
    let recorded = run_program(HostProgram::Runtime(13), scenario, change);
    recorded.assert_success();
    recorded
}

/// The lines of one kind.
fn of_kind(recorded: &Recorded, kind: &str) -> Vec<Value> {
    let lines = recorded.lines().into_iter();
    let lines = lines.map(|line| serde_json::from_str::<Value>(&line).expect("a line is JSON"));
    lines.filter(|line| line["record"] == kind).collect()
}

#[test]
fn launches_are_recorded_as_those_of_the_driver() {
    // 1.0, 2.0, 3.0, 4.0; the factor is 2.0.
    let values = "0000803f000000400000404000008040\n";
    record("launches").assert_lines(
        &[("values", values)],
        &[
            r#"{"record":"launch","kernel":"scale","module":"$module","grid":[2,1,1],"block":[64,1,1],"shared":16,"cooperative":false,"args":[{"bytes":"0000000000000000","pointers":[{"at":0,"allocation":0,"offset":4}]},{"bytes":"00000040","pointers":[]},{"bytes":"03000000","pointers":[]}],"allocations":[{"size":16,"contents":"$values"}]}"#,
            r#"{"record":"launch","kernel":"none","module":"$module","grid":[3,1,1],"block":[32,1,1],"shared":0,"cooperative":false,"args":[],"allocations":[]}"#,
            r#"{"record":"launch","kernel":"none","module":"$module","grid":[4,1,1],"block":[32,1,1],"cluster":[2,1,1],"shared":0,"cooperative":false,"args":[],"allocations":[]}"#,
            r#"{"record":"launch","kernel":"none","module":"$module","grid":[5,1,1],"block":[32,1,1],"shared":0,"cooperative":true,"args":[],"allocations":[]}"#,
            r#"{"record":"launch","kernel":"none","module":"$module","grid":[6,1,1],"block":[32,1,1],"shared":0,"cooperative":false,"args":[],"allocations":[]}"#,
        ],
    );
}

#[test]
fn a_linker_finds_the_library_in_place_of_the_static_one() {
    let recorded = run_program(HostProgram::StaticRuntime, "launches", |_| {});
    recorded.assert_success();
    let grids: Vec<_> =
        of_kind(&recorded, "launch").iter().map(|own| own["grid"][0].as_u64()).collect();
    assert_eq!(grids, [2, 3, 4, 5, 6].map(Some));
}

#[test]
fn refused_calls_have_the_errors_of_the_runtime_library() {
    let recorded = record("refused");
    let calls = of_kind(&recorded, "invalid");
    let text = |call: &Value, key: &str| call[key].as_str().unwrap_or("").to_owned();
    let found: Vec<_> = calls
        .iter()
        .map(|call| {
            format!("{} {}: {}", text(call, "function"), text(call, "error"), text(call, "reason"))
        })
        .collect();
    let expected = [
        "cudaLaunchKernel cudaErrorInvalidConfiguration: the block is 2048 in x, of at most 1024",
        "cudaLaunchKernel cudaErrorInvalidConfiguration: the grid is 0 in x",
        "cudaLaunchKernel cudaErrorInvalidValue: the block has 256 threads, and the kernel is compiled for at most 128",
        "cudaLaunchKernel cudaErrorInvalidDeviceFunction: the function is no kernel that the program has registered",
        "__cudaPopCallConfiguration cudaErrorMissingConfiguration: a kernel is called like a function, without <<<...>>>",
        "cudaMemcpy cudaErrorInvalidValue: copies to bytes 0..17 of an allocation of 16 bytes",
        "cudaMemcpy cudaErrorInvalidValue: copies to an address that is in no allocation",
        "cudaMemcpy cudaErrorInvalidMemcpyDirection: a copy in the unknown direction 5",
        "cudaMemcpy2D cudaErrorInvalidPitchValue: rows of 4 bytes, 3 bytes apart",
        "cudaMemcpyToSymbol cudaErrorInvalidSymbol: the address is of no variable that is registered",
        "cudaMemcpyToSymbol cudaErrorInvalidValue: copies bytes 9..17 of a variable of 16 bytes",
        "cudaMemcpyToSymbol cudaErrorInvalidMemcpyDirection: a copy of a variable in the direction 2",
        "cudaSetDevice cudaErrorInvalidDevice: there is no device 1",
        "cudaFree cudaErrorInvalidValue: frees memory that was freed before",
    ];
    assert_eq!(found, expected);
    let kernels: Vec<_> = calls.iter().map(|call| text(call, "kernel")).collect();
    assert_eq!(kernels[..4], ["none", "scale", "none", ""]);
    assert_eq!(of_kind(&recorded, "launch").len(), 0);
}

#[test]
fn each_thread_has_a_last_error() {
    assert_eq!(of_kind(&record("last_errors"), "invalid").len(), 2);
}

#[test]
fn variables_are_found_by_those_of_the_host() {
    // The first copy gives the last three words 1, 2 and 3, the second one the first word 4; the host sets the managed variable to 6.
    let table = "04000000010000000200000003000000\n";
    record("symbols").assert_lines(
        &[("table", table), ("count", "06000000\n")],
        &[
            r#"{"record":"launch","kernel":"none","module":"$module","grid":[1,1,1],"block":[32,1,1],"shared":0,"cooperative":false,"args":[],"allocations":[{"size":4,"contents":"$count","host":true},{"size":16,"contents":"$table"}],"globals":[{"name":"count","allocation":0},{"name":"table","allocation":1}]}"#,
        ],
    );
}

#[test]
fn code_that_was_linked_is_one_module() {
    let recorded = record("linked");
    let launches = of_kind(&recorded, "launch");
    assert_eq!(recorded.files("modules").len(), 1);
    assert_eq!((&launches[0]["kernel"], &launches[1]["kernel"]), (&"other".into(), &"none".into()));
    assert!(launches[0]["module"].is_string());
    assert_eq!(launches[0]["module"], launches[1]["module"]);
    assert_eq!(launches[0]["args"][0]["bytes"], "07000000");
    let calls = of_kind(&recorded, "invalid");
    assert_eq!(calls[0]["reason"], "no module has the kernel absent");
}

#[test]
fn code_that_cannot_be_linked_has_the_modules_of_its_parts() {
    let recorded = record("not_linked");
    let launches = of_kind(&recorded, "launch");
    assert_eq!(recorded.files("modules").len(), 2);
    assert_eq!((&launches[0]["kernel"], of_kind(&recorded, "invalid").len()), (&"again".into(), 0));
}

#[test]
fn kernels_of_machine_code_are_launched_without_arguments() {
    let recorded = record("machine_code");
    let launches = of_kind(&recorded, "launch");
    assert_eq!((&launches[0]["kernel"], &launches[0]["module"]), (&"none".into(), &Value::Null));
    assert_eq!(
        launches[0]["reason"],
        "it holds machine code alone; nvcc keeps PTX too with `-arch=sm_80`, or with `code=compute_80` of `-gencode`"
    );
    // That a variable is not found there is no mistake of the program.
    assert_eq!(of_kind(&recorded, "invalid").len(), 0);
}

#[test]
fn nothing_is_kept_of_a_program_that_calls_nothing() {
    let recorded = record("unused");
    assert!(fs::read_dir(&recorded.folder).is_err());
}

#[test]
fn memory_is_copied_in_every_form() {
    let recorded = record("memory");
    assert_eq!(of_kind(&recorded, "missing")[0]["function"], "cudaMallocArray");
    assert_eq!(of_kind(&recorded, "invalid").len(), 0);
}

#[test]
fn graphs_keep_copies_of_rows() {
    let recorded = record("graphs");
    let launches = of_kind(&recorded, "launch");
    // Each launch of the graph sets 8 bytes to 7, and copies two bytes into each of two rows of 4: the two launches are the same.
    assert_eq!(launches.len(), 1);
    assert_eq!(launches[0]["allocations"][0]["contents"], name_of_contents("0102070706070707\n"));
}

#[test]
fn graphs_are_updated() {
    let recorded = record("updates");
    let grids: Vec<_> =
        of_kind(&recorded, "launch").iter().map(|line| line["grid"][0].clone()).collect();
    // The third graph is another one: the second is launched again.
    assert_eq!(grids, [1, 2]);
    assert_eq!(of_kind(&recorded, "invalid").len(), 0);
}

#[test]
fn graphs_are_made_node_by_node() {
    let recorded = record("nodes");
    let launches = of_kind(&recorded, "launch");
    // The second launch has another grid. Both find the words 7 and 1.
    let known = name_of_contents("0700000001000000\n");
    assert_eq!(launches.len(), 4);
    let nines = name_of_contents("0900000009000000\n");
    for (launch, grid) in launches.iter().zip(1..) {
        assert_eq!(launch["grid"][0], grid);
        assert_eq!(launch["allocations"][0]["contents"], if grid < 3 { &*known } else { &*nines });
    }
    let calls = of_kind(&recorded, "invalid");
    let reasons: Vec<_> = calls.iter().map(|call| call["reason"].clone()).collect();
    let expected = ["the block is 4096 in x, of at most 1024", "the node is not in the graph"];
    assert_eq!(reasons, expected);
}

/// As `sm_86`, with 84 multiprocessors.
fn smaller(command: &mut Command) {
    command.env("WEFT_RECORD_DEVICE", "sm_86,84");
}

#[test]
fn a_device_that_was_reset_is_used_again() {
    let recorded = with("resets", smaller);
    assert_eq!(of_kind(&recorded, "launch")[0]["shared"], 98 << 10);
}

#[test]
fn each_major_version_has_its_structures() {
    for major in [11, 12, 13] {
        let recorded = run_program(HostProgram::Runtime(major), "versions", |command| {
            smaller(command.arg(major.to_string()));
        });
        recorded.assert_success();
    }
}
