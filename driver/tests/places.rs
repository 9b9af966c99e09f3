//! Addresses at places where no pointer is looked for, and memory of the host that copies lead to.

#![cfg(all(target_os = "linux", target_env = "gnu"))]

mod recorder;

use recorder::{Recorded, record};
use serde_json::{Value, json};

/// The launches of a scenario, by their grid.
fn launches(recorded: &Recorded) -> Vec<Value> {
    let lines = recorded.lines().into_iter();
    let lines = lines.map(|line| serde_json::from_str::<Value>(&line).expect("a line is JSON"));
    let launches: Vec<Value> = lines.filter(|line| line["record"] == "launch").collect();
    for (grid, launch) in (1..).zip(&launches) {
        assert_eq!(launch["grid"][0], grid);
    }
    launches
}

/// The text of the contents of the first allocation of a launch.
fn contents(recorded: &Recorded, launch: &Value) -> String {
    let name = launch["allocations"][0]["contents"].as_str().expect("contents are kept");
    let path = recorded.folder.join("contents").join(name).with_extension("hex");
    std::fs::read_to_string(path).expect("the file is there").replace('\n', "")
}

#[test]
fn addresses_that_are_no_aligned_words_are_open() {
    let recorded = record("hidden");
    let all = launches(&recorded);
    assert_eq!(all.len(), 6);
    // Both orders of the halves, and one past the end behind four bytes.
    for launch in [&all[0], &all[1], &all[3]] {
        assert_eq!(launch["args"], Value::Null, "{launch}");
        assert_eq!(launch["reason"], "an argument holds an address at no multiple of 8 bytes");
        assert_eq!(launch["allocations"], json!([]));
    }
    assert_eq!(all[2]["args"].as_array().map(Vec::len), Some(2));
    let (known, unknown) = ("07".repeat(4), "..".repeat(8));
    assert_eq!(contents(&recorded, &all[4]), format!("{known}{unknown}{known}"));
    // Kernels whose arguments are not known might have written anywhere.
    let passed = all[4]["allocations"][0]["passed"].as_array().expect("kernels had passed it");
    let kernels: Vec<_> = passed.iter().map(|own| (&own["kernel"], &own["arg"])).collect();
    assert_eq!(kernels, [(&json!("halves"), &Value::Null), (&json!("packed"), &Value::Null)]);
    // 0x3b5d2c000000, the first address.
    assert_eq!(contents(&recorded, &all[5]), format!("{known}0000002c5d3b0000{known}"));
}

#[test]
fn addresses_in_contents_are_those_of_the_launch() {
    let recorded = record("changing_words");
    let pointers = |launch: &Value| -> Vec<(u64, u64)> {
        let pointers = launch["allocations"][0]["pointers"].as_array();
        let number = |own: &Value, key: &str| own[key].as_u64().expect("a number");
        let each = pointers.into_iter().flatten();
        each.map(|own| (number(own, "at"), number(own, "allocation"))).collect()
    };
    let all: Vec<_> = launches(&recorded).iter().map(pointers).collect();
    let expected: [&[(u64, u64)]; 7] =
        [&[(8, 1)], &[], &[(8, 1)], &[], &[(8, 1), (16, 2)], &[], &[(8, 1)]];
    assert_eq!(all, expected);
    let last = &launches(&recorded)[3];
    let ones = |count: usize| "01".repeat(count);
    // 0x3b5d2c000000 but for its first byte; bytes 16 and 17 were set.
    assert_eq!(contents(&recorded, last), format!("{}..00002c5d3b0000{}", ones(8), ones(8)));
}

#[test]
fn memory_that_is_registered_later_is_found_in_contents() {
    let recorded = record("registered_later");
    let all = launches(&recorded);
    assert_eq!(all[0]["allocations"][0]["pointers"], Value::Null);
    let pointer = json!([{"at": 0, "allocation": 1, "offset": 0}]);
    assert_eq!(all[1]["allocations"][0]["pointers"], pointer);
    assert_eq!(all[1]["allocations"][1]["size"], 512);
}

#[test]
fn copies_to_and_from_pinned_memory_keep_what_is_known() {
    let recorded = record("round_trip");
    let all = launches(&recorded);
    let passed = |at: usize| {
        let passed = all[at]["allocations"][0]["passed"].as_array();
        let passed = passed.expect("something had passed it").iter();
        passed.map(|own| own["kernel"].as_str().unwrap_or("")).collect::<Vec<_>>()
    };
    // By each of two arguments.
    assert_eq!(passed(1), ["two", "two"]);
    assert_eq!(passed(2), ["two", "two"]);
    assert_eq!(passed(3), ["cuMemcpy"]);
}

#[test]
fn functions_of_streams_can_wait_for_the_program() {
    let recorded = record("waiting");
    let all = launches(&recorded);
    assert_eq!(all[0]["allocations"][0]["passed"], Value::Null);
    // What the function writes, and when, nobody knows.
    let passed = all[1]["allocations"][0]["passed"].as_array().expect("something had passed it");
    let names: Vec<_> = passed.iter().map(|own| own["kernel"].as_str().unwrap_or("")).collect();
    assert_eq!(names, ["cuLaunchHostFunc", "two", "two"]);
    // What is copied while it goes on is not known; what is copied when it has ended is.
    assert_eq!(contents(&recorded, &all[2]), format!("{}{}", "..".repeat(4), "07".repeat(4)));
    assert_eq!(contents(&recorded, &all[3]), format!("{}{}", "01".repeat(4), "07".repeat(4)));
}

#[test]
fn functions_of_streams_share_the_doubt_of_their_caller() {
    let recorded = record("handed_on");
    let lines = recorded.lines().into_iter();
    let lines = lines.map(|line| serde_json::from_str::<Value>(&line).expect("a line is JSON"));
    let launches = lines.filter(|line| line["record"] == "launch");
    let all: Vec<_> =
        launches.map(|own| (own["grid"][0].as_u64(), own["after_read"] == true)).collect();
    assert_eq!(all, [(Some(1), false), (Some(2), false), (Some(3), true), (Some(2), true)]);
}
