//! What host programs launch, against lines that were written by hand from the documentation of the record.

#![cfg(all(target_os = "linux", target_env = "gnu"))]

mod recorder;

use recorder::{name_of, name_of_contents, record, run};

#[test]
fn launches_are_recorded_once_by_content() {
    // 1.0, 2.0, 3.0, 4.0 and 0.5, 0.0, -1.0, 2.0.
    let one = "0000803f000000400000404000008040\n";
    let two = "0000003f00000000000080bf00000040\n";
    // The second launch finds that the first might have stored into `a` and `b`; the third is the same as the second, and the one
    // after both were overwritten the same as the first. Nothing is known of `c`.
    record("vector_add").assert_lines(
        &[("a", one), ("b", two)],
        &[
            r#"{"record":"launch","kernel":"add","module":"$module","grid":[1,1,1],"block":[128,1,1],"shared":0,"cooperative":false,"args":[{"bytes":"0000000000000000","pointers":[{"at":0,"allocation":0,"offset":0}]},{"bytes":"0000000000000000","pointers":[{"at":0,"allocation":1,"offset":0}]},{"bytes":"0000000000000000","pointers":[{"at":0,"allocation":2,"offset":0}]},{"bytes":"04000000","pointers":[]}],"allocations":[{"size":16,"contents":"$a"},{"size":16,"contents":"$b"},{"size":16}]}"#,
            r#"{"record":"launch","kernel":"add","module":"$module","grid":[1,1,1],"block":[128,1,1],"shared":0,"cooperative":false,"args":[{"bytes":"0000000000000000","pointers":[{"at":0,"allocation":0,"offset":0}]},{"bytes":"0000000000000000","pointers":[{"at":0,"allocation":1,"offset":0}]},{"bytes":"0000000000000000","pointers":[{"at":0,"allocation":2,"offset":0}]},{"bytes":"04000000","pointers":[]}],"allocations":[{"size":16,"contents":"$a","passed":[{"module":"$module","kernel":"add","arg":0}],"launched":1},{"size":16,"contents":"$b","passed":[{"module":"$module","kernel":"add","arg":1}],"launched":1},{"size":16}]}"#,
        ],
    );
}

#[test]
fn threads_that_are_not_that_of_the_process_are_named() {
    // What the first thread launched as well is not written again.
    record("named").assert_lines(
        &[],
        &[
            r#"{"record":"launch","kernel":"none","module":"$module","grid":[1,1,1],"block":[32,1,1],"shared":0,"cooperative":false,"args":[],"allocations":[]}"#,
            r#"{"record":"launch","kernel":"none","module":"$module","grid":[2,1,1],"block":[32,1,1],"shared":0,"cooperative":false,"args":[],"allocations":[],"thread":"tests::\"one\""}"#,
        ],
    );
}

#[test]
fn modules_are_kept_with_the_names_of_their_kernels() {
    let recorded = record("structure");
    let lines = recorded.lines();
    let modules = recorded.files("modules");
    assert_eq!(modules.len(), 1);
    let hash = modules[0].trim_end_matches(".ptx");
    let kernels = r#"["add","whole","none","two","mixed","small"]"#;
    assert_eq!(lines[0], format!(r#"{{"record":"module","hash":"{hash}","kernels":{kernels}}}"#));
    assert_eq!(name_of(b""), "6c62272e07bb014262b821756295c58d");
}

#[test]
fn pointers_in_structures_are_recognised() {
    // Pointer, 7, padding, 1.0.
    record("structure").assert_lines(
        &[],
        &[
            r#"{"record":"launch","kernel":"whole","module":"$module","grid":[1,1,1],"block":[32,1,1],"shared":0,"cooperative":false,"args":[{"bytes":"00000000000000000700000000000000000000000000f03f","pointers":[{"at":0,"allocation":0,"offset":8}]}],"allocations":[{"size":64}]}"#,
        ],
    );
}

#[test]
fn arguments_share_allocations_at_offsets() {
    // The address behind the end is in no allocation: the first allocation lies at 0x3b5d2c000000 and has 4096 bytes, so it is
    // 0x3b5d2c001001.
    record("offsets").assert_lines(
        &[],
        &[
            r#"{"record":"launch","kernel":"two","module":"$module","grid":[1,1,1],"block":[32,1,1],"shared":0,"cooperative":false,"args":[{"bytes":"0000000000000000","pointers":[{"at":0,"allocation":0,"offset":0}]},{"bytes":"0000000000000000","pointers":[{"at":0,"allocation":0,"offset":1024}]}],"allocations":[{"size":4096}]}"#,
            r#"{"record":"launch","kernel":"two","module":"$module","grid":[1,1,1],"block":[32,1,1],"shared":0,"cooperative":false,"args":[{"bytes":"0000000000000000","pointers":[{"at":0,"allocation":0,"offset":4096}]},{"bytes":"0110002c5d3b0000","pointers":[]}],"allocations":[{"size":4096}]}"#,
            r#"{"record":"launch","kernel":"mixed","module":"$module","grid":[1,1,1],"block":[32,1,1],"shared":0,"cooperative":false,"args":[{"bytes":"03","pointers":[]},{"bytes":"0000000000000000","pointers":[{"at":0,"allocation":0,"offset":1024}]},{"bytes":"3412","pointers":[]}],"allocations":[{"size":4096}]}"#,
        ],
    );
}

#[test]
fn freed_pointers_are_refused_and_marked_in_launches() {
    record("freed").assert_lines(
        &[],
        &[
            r#"{"record":"invalid","function":"cuMemFree_v2","error":"CUDA_ERROR_INVALID_VALUE","reason":"frees memory that was freed before"}"#,
            r#"{"record":"invalid","function":"cuMemFree_v2","error":"CUDA_ERROR_INVALID_VALUE","reason":"frees an address within an allocation, 8 bytes behind its start"}"#,
            r#"{"record":"invalid","function":"cuMemcpyHtoD_v2","error":"CUDA_ERROR_INVALID_VALUE","reason":"copies to memory that was freed before"}"#,
            r#"{"record":"invalid","function":"cuMemcpyDtoH_v2","error":"CUDA_ERROR_INVALID_VALUE","reason":"copies from memory that was freed before"}"#,
            r#"{"record":"invalid","function":"cuMemFree_v2","error":"CUDA_ERROR_INVALID_VALUE","reason":"frees an address that is in no allocation"}"#,
            r#"{"record":"launch","kernel":"two","module":"$module","grid":[1,1,1],"block":[32,1,1],"shared":0,"cooperative":false,"args":[{"bytes":"0000000000000000","pointers":[],"freed":[0]},{"bytes":"0000000000000000","pointers":[{"at":0,"allocation":0,"offset":0}]}],"allocations":[{"size":16}]}"#,
        ],
    );
}

#[test]
fn copies_past_the_end_are_refused() {
    let line = |function: &str, reason: &str| {
        format!(
            r#"{{"record":"invalid","function":"{function}","error":"CUDA_ERROR_INVALID_VALUE","reason":"{reason}"}}"#
        )
    };
    let expected = [
        line("cuMemcpyHtoD_v2", "copies to bytes 0..17 of an allocation of 16 bytes"),
        line("cuMemcpyDtoH_v2", "copies from bytes 8..17 of an allocation of 16 bytes"),
        line("cuMemcpyDtoD_v2", "copies to bytes 0..32 of an allocation of 16 bytes"),
        line("cuMemsetD32_v2", "sets bytes 0..20 of an allocation of 16 bytes"),
        line("cuMemsetD32_v2", "sets memory at an address that is not aligned to the value"),
        line("cuMemcpyHtoD_v2", "copies to bytes 16..17 of an allocation of 16 bytes"),
    ];
    record("past_the_end").assert_lines(&[], &expected.each_ref().map(String::as_str));
}

#[test]
fn sizes_that_the_device_cannot_run_are_refused() {
    let recorded = record("sizes");
    let lines = recorded.lines();
    let reasons: Vec<_> = lines
        .iter()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter(|line| line["record"] == "invalid")
        .map(|line| format!("{} {}", line["kernel"], line["reason"]))
        .collect();
    let expected = [
        r#""none" "the grid is 0 in x""#,
        r#""none" "the grid is 65536 in y, of at most 65535""#,
        r#""none" "the block is 65 in z, of at most 64""#,
        r#""none" "the block has 1056 threads, of at most 1024""#,
        r#""small" "the block has 65 threads, and the kernel is compiled for at most 64""#,
        r#""small" "48129 bytes of dynamic shared memory, of at most 48128 with no attribute that raises it""#,
        r#""small" "asks for 231425 bytes of dynamic shared memory, of at most 231424""#,
        r#""small" "the kernel has parameters, and no arguments are given""#,
        r#""small" "the address of argument 0 is null""#,
        r#""absent" "the module has no kernel absent""#,
        r#"null "the parameters of open do not end""#,
        r#"null "the kernel is of no loaded module""#,
    ];
    assert_eq!(reasons, expected);
    assert_eq!(lines.iter().filter(|line| line.contains(r#""record":"launch""#)).count(), 3);
}

#[test]
fn arguments_in_one_buffer_are_the_same_as_those_in_a_list() {
    record("buffer").assert_lines(
        &[],
        &[
            r#"{"record":"launch","kernel":"mixed","module":"$module","grid":[2,1,1],"block":[32,1,1],"shared":0,"cooperative":false,"args":[{"bytes":"03","pointers":[]},{"bytes":"0000000000000000","pointers":[{"at":0,"allocation":0,"offset":24}]},{"bytes":"3412","pointers":[]}],"allocations":[{"size":32}]}"#,
            r#"{"record":"invalid","function":"cuLaunchKernel","error":"CUDA_ERROR_INVALID_VALUE","kernel":"mixed","reason":"the buffer of arguments has 17 bytes, and the parameters 18"}"#,
            r#"{"record":"invalid","function":"cuLaunchKernel","error":"CUDA_ERROR_INVALID_VALUE","kernel":"mixed","reason":"both kernelParams and extra are given"}"#,
            r#"{"record":"launch","kernel":"none","module":"$module","grid":[2,1,1],"block":[32,1,1],"shared":0,"cooperative":false,"args":[],"allocations":[]}"#,
        ],
    );
}

#[test]
fn contents_are_what_the_host_gave_and_know_what_launches_reached() {
    let dots = |count: usize| "..".repeat(count);
    // 2 unknown, abcd abcd (little-endian), unknown up to 30, 30 31 | 32 33, 6 unknown.
    let copy = format!("{}cdabcdab{}1e1f\n2021{}\n", dots(2), dots(24), dots(6));
    let list = format!("0000000000000000{}\n", dots(8));
    let b = "0707070707070707\n";
    let a = format!("0707070707070707{}1e1f\n2021{}\n", dots(22), dots(6));
    // 0 to 31, and 32 to 39.
    let whole =
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n2021222324252627\n";
    record("contents").assert_lines(
        &[("copy", &copy), ("list", &list), ("b", b), ("a", &a), ("whole", whole)],
        &[
            r#"{"record":"launch","kernel":"two","module":"$module","grid":[1,1,1],"block":[32,1,1],"shared":0,"cooperative":false,"args":[{"bytes":"0000000000000000","pointers":[{"at":0,"allocation":0,"offset":0}]},{"bytes":"0000000000000000","pointers":[{"at":0,"allocation":1,"offset":0}]}],"allocations":[{"size":40,"contents":"$copy"},{"size":16,"contents":"$list","pointers":[{"at":0,"allocation":2,"offset":4}]},{"size":8,"contents":"$b"}]}"#,
            // `large` is larger than the bound, so neither its contents nor what it passed are there.
            r#"{"record":"launch","kernel":"two","module":"$module","grid":[2,1,1],"block":[32,1,1],"shared":0,"cooperative":false,"args":[{"bytes":"0000000000000000","pointers":[{"at":0,"allocation":0,"offset":0}]},{"bytes":"0000000000000000","pointers":[{"at":0,"allocation":1,"offset":0}]}],"allocations":[{"size":40,"contents":"$a","passed":[{"module":"$module","kernel":"two","arg":1}],"launched":1},{"size":65537}]}"#,
            r#"{"record":"launch","kernel":"two","module":"$module","grid":[3,1,1],"block":[32,1,1],"shared":0,"cooperative":false,"args":[{"bytes":"0000000000000000","pointers":[{"at":0,"allocation":0,"offset":0}]},{"bytes":"0000000000000000","pointers":[{"at":0,"allocation":0,"offset":0}]}],"allocations":[{"size":40,"contents":"$whole"}]}"#,
        ],
    );
}

#[test]
fn the_bound_of_contents_can_be_set() {
    let recorded = run("contents", |command| {
        command.env("WEFT_RECORD_CONTENTS", "15");
    });
    recorded.assert_success();
    // Of all allocations only `b`, of 8 bytes, is small enough; `list` of 16 still leads to it.
    assert_eq!(recorded.files("contents").len(), 1);
    let launch = &recorded.lines()[1];
    assert!(
        launch.contains(r#""allocations":[{"size":40},{"size":16},{"size":8,"contents":""#),
        "{launch}"
    );
}

#[test]
fn variables_of_the_module_are_recorded_once_the_host_has_their_address() {
    record("globals").assert_lines(
        &[("table", "0102030405060708\n")],
        &[
            r#"{"record":"launch","kernel":"none","module":"$module","grid":[1,1,1],"block":[32,1,1],"shared":0,"cooperative":false,"args":[],"allocations":[]}"#,
            r#"{"record":"invalid","function":"cuModuleGetGlobal_v2","error":"CUDA_ERROR_NOT_FOUND","reason":"the module has no variable chair"}"#,
            r#"{"record":"launch","kernel":"none","module":"$module","grid":[1,1,1],"block":[32,1,1],"shared":0,"cooperative":false,"args":[],"allocations":[{"size":8,"contents":"$table"}],"globals":[{"name":"table","allocation":0}]}"#,
            r#"{"record":"launch","kernel":"none","module":"$module","grid":[1,1,1],"block":[32,1,1],"shared":0,"cooperative":false,"args":[],"allocations":[{"size":8,"contents":"$table","passed":[{"module":"$module","kernel":"none","global":"table"}],"launched":1}],"globals":[{"name":"table","allocation":0}]}"#,
        ],
    );
}

#[test]
fn clusters_and_cooperative_launches_are_recorded() {
    record("clusters").assert_lines(
        &[],
        &[
            r#"{"record":"launch","kernel":"none","module":"$module","grid":[4,1,1],"block":[128,1,1],"cluster":[2,1,1],"shared":256,"cooperative":false,"args":[],"allocations":[]}"#,
            r#"{"record":"invalid","function":"cuLaunchKernelEx","error":"CUDA_ERROR_INVALID_CLUSTER_SIZE","kernel":"none","reason":"the grid is 5 in x, no multiple of the cluster's 2"}"#,
            r#"{"record":"launch","kernel":"none","module":"$module","grid":[5,1,1],"block":[128,1,1],"shared":256,"cooperative":true,"args":[],"allocations":[]}"#,
            r#"{"record":"launch","kernel":"none","module":"$module","grid":[264,1,1],"block":[1024,1,1],"shared":0,"cooperative":true,"args":[],"allocations":[]}"#,
            r#"{"record":"invalid","function":"cuLaunchCooperativeKernel","error":"CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE","kernel":"none","reason":"a cooperative launch of 265 blocks, of at most 264 that run at once"}"#,
        ],
    );
}

#[test]
fn fat_binaries_are_read_and_machine_code_is_noted() {
    record("fat_binary").assert_lines(
        &[],
        &[
            r#"{"record":"launch","kernel":"none","module":"$module","grid":[1,1,1],"block":[32,1,1],"shared":0,"cooperative":false,"args":[],"allocations":[]}"#,
            r#"{"record":"launch","kernel":"none","module":"$module","grid":[2,1,1],"block":[32,1,1],"shared":0,"cooperative":false,"args":[],"allocations":[]}"#,
            r#"{"record":"launch","kernel":"any","module":null,"grid":[3,1,1],"block":[32,1,1],"shared":0,"cooperative":false,"args":null,"reason":"it holds machine code alone; nvcc keeps PTX too with `-arch=sm_80`, or with `code=compute_80` of `-gencode`","allocations":[]}"#,
        ],
    );
}

#[test]
fn graphs_launch_what_was_captured() {
    let recorded = record("graphs");
    let lines = recorded.lines();
    let lines: Vec<serde_json::Value> =
        lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let launches: Vec<_> = lines.iter().filter(|line| line["record"] == "launch").collect();
    // The launch outside of the graph comes first. The graph sets `p` each time, so that its first launch is the same in both; of
    // `q` nothing is known.
    let grids: Vec<_> = launches.iter().map(|launch| launch["grid"][0].as_u64().unwrap()).collect();
    assert_eq!(grids, [3, 1, 2]);
    let known = format!("{}\n", "07000000".repeat(2));
    assert_eq!(launches[1]["allocations"][0]["contents"], name_of_contents(&known));
    assert_eq!(launches[1]["allocations"][0]["passed"], serde_json::Value::Null);
    assert_eq!(launches[2]["allocations"][0]["contents"], serde_json::Value::Null);
}

#[test]
fn memory_of_the_host_is_recorded_as_it_is_at_the_launch() {
    let recorded = record("hosts_memory");
    let own = format!("{}\n", "05".repeat(16));
    let lines = recorded.lines();
    let launches: Vec<_> =
        lines.iter().filter(|line| line.contains(r#""record":"launch""#)).collect();
    let name = name_of_contents;
    let two = format!(
        r#""allocations":[{{"size":4,"contents":"{}","host":true}},{{"size":2,"contents":"{}","host":true}}]"#,
        name("01020304\n"),
        name("eeee\n")
    );
    assert!(launches[0].contains(&two), "{}", launches[0]);
    let registered = format!(
        r#""allocations":[{{"size":16,"behind":24,"contents":"{}","host":true}}]"#,
        name(&own)
    );
    assert!(launches[2].contains(&registered), "{}", launches[2]);
    // The host might have read what a kernel stored: a later mistake of its might come from there.
    let last = lines.last().unwrap();
    assert!(
        last.contains("CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED")
            && last.contains(r#""after_sharing":true"#)
            && !last.contains("after_read"),
        "{last}"
    );
}

/// What is in doubt does not depend on which thread came first: each has its own.
#[test]
fn doubts_are_those_of_the_thread_that_makes_the_call() {
    let recorded = record("doubts");
    let lines = recorded.lines();
    let parsed = lines.iter().map(|line| serde_json::from_str(line).expect("a line is JSON"));
    let parsed: Vec<serde_json::Value> = parsed.collect();
    let marks = |own: &serde_json::Value| (own["after_read"] == true, own["after_sharing"] == true);
    let launches = parsed.iter().filter(|own| own["kernel"] == "two");
    let launches: Vec<_> = launches.map(|own| (own["grid"][0].as_u64(), marks(own))).collect();
    let (none, read, shared) = ((false, false), (true, false), (false, true));
    // The launch of 3 blocks was made with and without a doubt: the second line says that it does not rest on what was read.
    let expected = [(1, none), (2, read), (3, read), (4, none), (3, none)];
    assert_eq!(launches, expected.map(|(grid, marks)| (Some(grid), marks)));
    let behind = |own: &serde_json::Value| {
        own["reason"].as_str().unwrap_or("").split(", ").nth(1).unwrap_or("")[..1].to_owned()
    };
    let invalid = parsed.iter().filter(|own| own["record"] == "invalid");
    let invalid: Vec<_> = invalid.map(|own| (behind(own), marks(own))).collect();
    let expected = [("1", read), ("4", none), ("2", shared), ("3", none)];
    assert_eq!(invalid, expected.map(|(bytes, marks)| (bytes.to_owned(), marks)));
}
