//! What kernels might have stored before, and what launches rest on that.

#![cfg(all(target_os = "linux", target_env = "gnu"))]

mod recorder;

use recorder::{Recorded, record};
use serde_json::{Value, json};

/// The lines of a kind.
fn lines(recorded: &Recorded, kind: &str) -> Vec<Value> {
    let lines = recorded.lines().into_iter();
    let lines = lines.map(|line| serde_json::from_str::<Value>(&line).expect("a line is JSON"));
    lines.filter(|line| line["record"] == kind).collect()
}

#[test]
fn a_variable_that_was_not_asked_for_might_have_been_stored_to() {
    let recorded = record("counted");
    let launches = lines(&recorded, "launch");
    let seen: Vec<_> = launches.iter().map(|own| (&own["grid"][0], &own["after_read"])).collect();
    assert_eq!(
        seen,
        [(&json!(1), &Value::Null), (&json!(2), &Value::Null), (&json!(3), &json!(true))]
    );
    let passed = json!([{"module": launches[0]["module"], "kernel": "counts", "global": "count"}]);
    for launch in &launches[1..] {
        // The copy of the variable, whose initial value is known, and the variable itself.
        assert_eq!(launch["allocations"][0]["passed"][0], passed[0], "{launch}");
        assert_eq!(launch["allocations"][0]["launched"], 1 + u64::from(launch["grid"][0] == 3));
    }
    let refused = lines(&recorded, "invalid");
    assert_eq!(
        (&refused[0]["reason"], &refused[0]["after_read"]),
        (&json!("the grid is 0 in x"), &json!(true))
    );
}

#[test]
fn a_kernel_might_store_where_another_one_has_left_a_pointer() {
    let marks = |scenario: &str| lines(&record(scenario), "invalid")[0]["after_read"].clone();
    assert_eq!((marks("followed"), marks("untouched")), (json!(true), Value::Null));
}

#[test]
fn memory_of_the_host_stays_what_kernels_made_of_it() {
    let launches = lines(&record("registered_again"), "launch");
    let passed = json!([{"module": launches[0]["module"], "kernel": "reads", "arg": 0}]);
    assert_eq!(
        (&launches[0]["allocations"][0]["passed"], &launches[1]["allocations"][0]["passed"]),
        (&Value::Null, &passed)
    );
}

#[test]
fn memory_of_the_host_might_be_known_to_kernels_from_elsewhere() {
    let launches = lines(&record("registered_by_library"), "launch");
    assert_eq!(launches[2]["allocations"][0]["launched"], 1, "{}", launches[2]);
}

#[test]
fn attributes_of_a_kernel_state_its_cluster() {
    let recorded = record("stated_clusters");
    let launches = lines(&recorded, "launch");
    let clusters: Vec<_> = launches.iter().map(|own| &own["cluster"]).collect();
    assert_eq!(clusters, [&json!([2, 1, 1]), &json!([1, 1, 1])]);
    let missing = lines(&recorded, "missing");
    let told = "cuLaunchKernelEx (a launch with clusters of one size, and others where the device prefers it)";
    assert_eq!(missing[0]["function"], told);
    assert_eq!(
        lines(&recorded, "invalid")[0]["reason"],
        "the grid is 5 in x, no multiple of the cluster's 2"
    );
}

#[test]
fn the_default_stream_of_a_thread_can_be_captured() {
    let recorded = record("default_streams");
    assert_eq!(lines(&recorded, "launch")[0]["grid"][0], 7);
    assert_eq!(
        lines(&recorded, "invalid")[0]["reason"],
        "captures the default stream of all threads"
    );
}

#[test]
fn memory_without_access_is_unknown_afterwards() {
    let launches = lines(&record("access_again"), "launch");
    assert_eq!(
        (&launches[0]["after_read"], &launches[0]["allocations"][0]["contents"]),
        (&json!(true), &Value::Null)
    );
}

#[test]
fn addresses_of_the_host_are_no_part_of_a_record() {
    let launches = lines(&record("hosts_addresses"), "launch");
    assert_eq!(
        launches[0]["args"],
        json!([{"bytes": "0000000000000000", "pointers": [], "hosts": [0]}])
    );
    let bytes = format!("{}01{}", "00".repeat(16), "00".repeat(7));
    assert_eq!(launches[1]["args"], json!([{"bytes": bytes, "pointers": [], "hosts": [8]}]));
}
