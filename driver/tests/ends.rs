//! What ends with a context, what copies refuse of the host's memory, and graphs that are updated.

#![cfg(all(target_os = "linux", target_env = "gnu"))]

mod recorder;

use recorder::{Recorded, name_of_contents, record};
use serde_json::{Value, json};

/// The lines of a kind.
fn lines(recorded: &Recorded, kind: &str) -> Vec<Value> {
    let lines = recorded.lines().into_iter();
    let lines = lines.map(|line| serde_json::from_str::<Value>(&line).expect("a line is JSON"));
    lines.filter(|line| line["record"] == kind).collect()
}

/// Whether the two arguments of each launch lead into live memory, by the grid.
fn live(recorded: &Recorded) -> Vec<(u64, [bool; 2])> {
    let is_live = |arg: &Value| {
        let count = |key: &str| arg[key].as_array().map_or(0, Vec::len);
        assert_eq!(count("pointers") + count("freed"), 1, "{arg}");
        count("pointers") == 1
    };
    let launches = lines(recorded, "launch").into_iter();
    let of = |line: Value| {
        (line["grid"][0].as_u64().unwrap_or(0), [0, 1].map(|at| is_live(&line["args"][at])))
    };
    launches.map(of).collect()
}

#[test]
fn memory_and_modules_end_with_their_context() {
    let recorded = record("ended");
    let expected = [
        (1, [true, true]),
        (2, [false, true]),
        // A pool is the device's.
        (3, [true, true]),
        (4, [false, true]),
        (5, [false, false]),
    ];
    assert_eq!(live(&recorded), expected);
    let refused = lines(&recorded, "invalid");
    let refused: Vec<_> = refused.iter().map(|line| &line["reason"]).collect();
    assert_eq!(
        refused,
        ["the kernel is of no loaded module", "frees memory that was freed before"]
    );
}

#[test]
fn copies_past_the_end_of_the_hosts_memory_are_refused() {
    let recorded = record("parts");
    let refused = lines(&recorded, "invalid");
    let refused: Vec<_> = refused.iter().map(|line| &line["reason"]).collect();
    assert_eq!(
        refused,
        [
            "copies from bytes 0..17 of an allocation of 16 bytes",
            "copies from memory that was freed before",
            "copies to bytes 0..17 of an allocation of 16 bytes",
            "copies to memory of the host of which only a part is registered",
            "copies from bytes 63..65 of an allocation of 64 bytes",
        ]
    );
}

#[test]
fn graphs_that_are_updated_keep_their_nodes() {
    let recorded = record("updated");
    let grids: Vec<_> =
        lines(&recorded, "launch").iter().map(|line| line["grid"][0].clone()).collect();
    assert_eq!(grids, [json!(1), json!(2), json!(3)]);
    assert_eq!(lines(&recorded, "invalid"), Vec::<Value>::new());
}

#[test]
fn nodes_of_all_kinds_are_made_by_one_function() {
    let recorded = record("general_nodes");
    let launches = lines(&recorded, "launch");
    let grids: Vec<_> = launches.iter().map(|line| line["grid"][0].clone()).collect();
    assert_eq!(grids, [json!(2), json!(3)]);
    // Words of 7, in which the copy has put two bytes at the end.
    let contents = name_of_contents("0700000007000302\n");
    for launch in &launches {
        assert_eq!(launch["allocations"][0]["contents"], contents);
    }
    let missing = lines(&recorded, "missing");
    let missing: Vec<_> = missing.iter().map(|line| &line["function"]).collect();
    assert_eq!(missing, ["cuGraphAddNode (a node of the kind 12)"]);
    let refused = lines(&recorded, "invalid");
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0]["reason"], "the node is of no graph");
}

#[test]
fn memory_of_a_graph_is_new_at_each_launch() {
    let recorded = record("allocated_in_graph");
    let launches = lines(&recorded, "launch");
    let known: Vec<_> = launches
        .iter()
        .map(|line| (line["grid"][0].as_u64(), line["allocations"][0]["contents"].is_string()))
        .collect();
    // The second launch of the graph finds what the first one has found, so that it adds no lines.
    assert_eq!(known, [(Some(1), false), (Some(2), true)]);
}

#[test]
fn rows_that_no_memory_has_are_refused_at_once() {
    let recorded = record("many_rows");
    let refused = lines(&recorded, "invalid");
    let refused: Vec<_> = refused.iter().filter_map(|line| line["reason"].as_str()).collect();
    assert_eq!(
        refused,
        [
            "copies to an address that is in no allocation",
            "copies to bytes 64..80 of an allocation of 64 bytes",
            "sets an address that is in no allocation",
            "sets bytes 64..80 of an allocation of 64 bytes",
        ]
    );
    let launches = lines(&recorded, "launch");
    let row = format!("0707{}", "..".repeat(14));
    let contents = name_of_contents(&format!("{row}{row}\n{row}{row}\n"));
    assert_eq!(launches[0]["allocations"][0]["contents"], contents);
}
