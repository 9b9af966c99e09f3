//! Processes, threads and their ends; what the driver answers besides launches; what happens where nothing can be written.

#![cfg(all(target_os = "linux", target_env = "gnu"))]

mod recorder;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt;

use recorder::{record, run};

/// The grids of the launches among these lines.
fn grids(lines: &[String]) -> Vec<u64> {
    let lines = lines
        .iter()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("a line is JSON"));
    lines
        .filter(|line| line["record"] == "launch")
        .filter_map(|line| line["grid"][0].as_u64())
        .collect()
}

#[test]
fn a_process_that_aborts_loses_nothing() {
    let recorded = run("abortion", |_| {});
    assert_eq!(recorded.output.status.signal(), Some(6));
    assert_eq!(grids(&recorded.lines()), [1]);
}

#[test]
fn a_process_can_use_the_driver_while_it_ends() {
    let recorded = record("ending");
    let lines = recorded.lines();
    assert!(!lines.iter().any(|line| line.contains("invalid")), "{lines:?}");
}

#[test]
fn forked_processes_have_files_of_their_own() {
    let recorded = record("forks");
    let mut processes: Vec<_> = recorded.processes().into_values().collect();
    processes.sort_by_key(|lines| grids(lines));
    assert_eq!(processes.len(), 3, "{processes:?}");
    // The child of a process that has initialised the driver cannot use it.
    assert_eq!(grids(&processes[0]).len(), 0);
    let refused = |line: &&String| {
        line.contains("CUDA_ERROR_NOT_INITIALIZED") && line.contains("forked after cuInit")
    };
    assert_eq!(processes[0].iter().filter(refused).count(), 2, "{:?}", processes[0]);
    assert_eq!(grids(&processes[1]), [1, 3]);
    assert_eq!(grids(&processes[2]), [2]);
}

#[test]
fn files_that_the_program_opens_are_not_written_to() {
    let recorded = record("descriptors");
    let mut processes: Vec<_> = recorded.processes().into_values().collect();
    processes.sort_by_key(|lines| grids(lines));
    let grids: Vec<_> = processes.iter().map(|lines| grids(lines)).collect();
    assert_eq!(grids, [vec![], vec![1, 2]], "{processes:?}");
}

#[test]
fn registered_memory_that_is_unmapped_is_unknown() {
    let recorded = record("unmapped");
    let lines = recorded.lines();
    let launches: Vec<_> =
        lines.iter().filter(|line| line.contains(r#""record":"launch""#)).collect();
    let has_contents = launches.iter().map(|line| line.contains(r#""contents":"#));
    assert_eq!(has_contents.collect::<Vec<_>>(), [true, false], "{launches:?}");
}

#[test]
fn threads_launch_at_once() {
    let recorded = record("threads");
    let lines = recorded.lines();
    let found: BTreeSet<_> = grids(&lines).into_iter().collect();
    // Thread 0 to 7 has the grids 50 * thread + 1 to 50 * thread + 50.
    assert_eq!(found, (1..=400).collect());
    assert_eq!(grids(&lines).len(), 400);
    // Contents are 16 words of one number from 1 to 50.
    assert_eq!(recorded.files("contents").len(), 50);
}

#[test]
fn several_processes_write_into_one_folder() {
    let folder = tempfile::tempdir().unwrap();
    let second = folder.path().join("record");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let recorded = run("vector_add", |command| {
                    command.env("WEFT_RECORD", &second);
                });
                recorded.assert_success();
            });
        }
    });
    let count = |name: &str| fs::read_dir(second.join(name)).unwrap().count();
    // A file a process; two contents and one module, which all have, and no temporary file.
    assert_eq!((count("launches"), count("contents"), count("modules")), (4, 2, 1));
}

#[test]
fn a_folder_that_cannot_be_written_does_not_stop_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let recorded = run("vector_add", |command| {
        command.env("WEFT_RECORD", file.join("record"));
    });
    assert!(recorded.output.status.success());
    let errors = String::from_utf8_lossy(&recorded.output.stderr);
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.starts_with("weft: launches are not recorded from here on: "), "{errors}");
}

#[test]
fn a_file_that_cannot_be_written_does_not_stop_the_program() {
    let folder = tempfile::tempdir().unwrap();
    // Launches could be written, but not the module in front of them.
    fs::write(folder.path().join("modules"), "").unwrap();
    let recorded = run("vector_add", |command| {
        command.env("WEFT_RECORD", folder.path());
    });
    assert!(recorded.output.status.success());
    assert_eq!(String::from_utf8_lossy(&recorded.output.stderr).lines().count(), 1);
}

#[test]
fn a_full_disk_does_not_stop_the_program() {
    let recorded = run("full_disk", |_| {});
    assert!(recorded.output.status.success());
    let errors = String::from_utf8_lossy(&recorded.output.stderr);
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.starts_with("weft: launches are not recorded from here on: "), "{errors}");
}

#[test]
fn what_a_program_without_standard_streams_prints_is_not_recorded() {
    let lines = record("closed").lines();
    let is_launch = |line: &&String| line.starts_with(r#"{"record":"launch","kernel":"none""#);
    assert_eq!(lines.iter().filter(is_launch).count(), 2, "{lines:#?}");
}

#[test]
fn nothing_is_recorded_where_nobody_asks_for_it() {
    let recorded = run("vector_add", |command| {
        command.env_remove("WEFT_RECORD");
    });
    recorded.assert_success();
    assert!(!recorded.folder.exists());
}

#[test]
fn functions_are_found_by_name_and_version() {
    let recorded = record("entries");
    let missing: Vec<_> = recorded
        .lines()
        .into_iter()
        .filter(|line| line.contains(r#""record":"missing""#))
        .collect();
    let expected = [
        r#"{"record":"missing","function":"cuMakeCoffee"}"#,
        r#"{"record":"missing","function":"cuTexRefCreate"}"#,
    ];
    assert_eq!(missing, expected);
}

#[test]
fn the_driver_answers_as_the_manual_says() {
    for scenario in ["order", "streams", "libraries", "rows"] {
        record(scenario);
    }
    let recorded = run("queries", |command| {
        command.env("WEFT_RECORD_DEVICE", "sm_86,84");
    });
    recorded.assert_success();
}

#[test]
fn copies_of_rows_leave_the_rest_unknown() {
    // Rows of 3 bytes from the second one of each 8 on.
    let rows = format!("..010203{}040506{}\n", "..".repeat(5), "..".repeat(4));
    record("rows").assert_lines(
        &[("rows", &rows)],
        &[
            r#"{"record":"launch","kernel":"two","module":"$module","grid":[1,1,1],"block":[32,1,1],"shared":0,"cooperative":false,"args":[{"bytes":"0000000000000000","pointers":[{"at":0,"allocation":0,"offset":0}]},{"bytes":"0000000000000000","pointers":[{"at":0,"allocation":0,"offset":0}]}],"allocations":[{"size":16,"contents":"$rows"}]}"#,
            // Row 0 starts at byte 1, row 2 at byte 17, behind the end.
            r#"{"record":"invalid","function":"cuMemcpy2D_v2","error":"CUDA_ERROR_INVALID_VALUE","reason":"copies to an address that is in no allocation"}"#,
        ],
    );
}
